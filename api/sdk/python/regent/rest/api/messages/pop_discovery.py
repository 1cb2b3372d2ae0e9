from http import HTTPStatus
from typing import Any, cast

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.pop_response import PopResponse
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    batch: int | Unset = 200,
    partitions: int | Unset = 1,
    auto_ack: bool | Unset = False,
    wait: bool | Unset = False,
    timeout: int | Unset = UNSET,
    lease_seconds: int | Unset = UNSET,
    consumer_group: str | Unset = "__QUEUE_MODE__",
    subscription_mode: str | Unset = UNSET,
    subscription_from: str | Unset = UNSET,
    conflation: bool | Unset = False,
    autopilot: bool | Unset = False,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["batch"] = batch

    params["partitions"] = partitions

    params["autoAck"] = auto_ack

    params["wait"] = wait

    params["timeout"] = timeout

    params["leaseSeconds"] = lease_seconds

    params["consumerGroup"] = consumer_group

    params["subscriptionMode"] = subscription_mode

    params["subscriptionFrom"] = subscription_from

    params["conflation"] = conflation

    params["autopilot"] = autopilot

    params["namespace"] = namespace

    params["task"] = task

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/pop",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Error | PopResponse | None:
    if response.status_code == 200:
        response_200 = PopResponse.from_dict(response.json())

        return response_200

    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

    if response.status_code == 400:
        response_400 = Error.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Error.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Error.from_dict(response.json())

        return response_403

    if response.status_code == 429:
        response_429 = Error.from_dict(response.json())

        return response_429

    if response.status_code == 500:
        response_500 = Error.from_dict(response.json())

        return response_500

    if response.status_code == 503:
        response_503 = Error.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | Error | PopResponse]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    batch: int | Unset = 200,
    partitions: int | Unset = 1,
    auto_ack: bool | Unset = False,
    wait: bool | Unset = False,
    timeout: int | Unset = UNSET,
    lease_seconds: int | Unset = UNSET,
    consumer_group: str | Unset = "__QUEUE_MODE__",
    subscription_mode: str | Unset = UNSET,
    subscription_from: str | Unset = UNSET,
    conflation: bool | Unset = False,
    autopilot: bool | Unset = False,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Response[Any | Error | PopResponse]:
    """Take messages of every queue with a namespace, a task or both

     Claims messages for a consumer group under a lease: acknowledge them, or they come again when the
    lease ends. Nothing to deliver is a bare 204; with wait=true that comes after the timeout.

    Args:
        batch (int | Unset):  Default: 200.
        partitions (int | Unset):  Default: 1.
        auto_ack (bool | Unset):  Default: False.
        wait (bool | Unset):  Default: False.
        timeout (int | Unset):
        lease_seconds (int | Unset):
        consumer_group (str | Unset):  Default: '__QUEUE_MODE__'.
        subscription_mode (str | Unset):
        subscription_from (str | Unset):
        conflation (bool | Unset):  Default: False.
        autopilot (bool | Unset):  Default: False.
        namespace (str | Unset):
        task (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error | PopResponse]
    """

    kwargs = _get_kwargs(
        batch=batch,
        partitions=partitions,
        auto_ack=auto_ack,
        wait=wait,
        timeout=timeout,
        lease_seconds=lease_seconds,
        consumer_group=consumer_group,
        subscription_mode=subscription_mode,
        subscription_from=subscription_from,
        conflation=conflation,
        autopilot=autopilot,
        namespace=namespace,
        task=task,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    batch: int | Unset = 200,
    partitions: int | Unset = 1,
    auto_ack: bool | Unset = False,
    wait: bool | Unset = False,
    timeout: int | Unset = UNSET,
    lease_seconds: int | Unset = UNSET,
    consumer_group: str | Unset = "__QUEUE_MODE__",
    subscription_mode: str | Unset = UNSET,
    subscription_from: str | Unset = UNSET,
    conflation: bool | Unset = False,
    autopilot: bool | Unset = False,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Any | Error | PopResponse | None:
    """Take messages of every queue with a namespace, a task or both

     Claims messages for a consumer group under a lease: acknowledge them, or they come again when the
    lease ends. Nothing to deliver is a bare 204; with wait=true that comes after the timeout.

    Args:
        batch (int | Unset):  Default: 200.
        partitions (int | Unset):  Default: 1.
        auto_ack (bool | Unset):  Default: False.
        wait (bool | Unset):  Default: False.
        timeout (int | Unset):
        lease_seconds (int | Unset):
        consumer_group (str | Unset):  Default: '__QUEUE_MODE__'.
        subscription_mode (str | Unset):
        subscription_from (str | Unset):
        conflation (bool | Unset):  Default: False.
        autopilot (bool | Unset):  Default: False.
        namespace (str | Unset):
        task (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error | PopResponse
    """

    return sync_detailed(
        client=client,
        batch=batch,
        partitions=partitions,
        auto_ack=auto_ack,
        wait=wait,
        timeout=timeout,
        lease_seconds=lease_seconds,
        consumer_group=consumer_group,
        subscription_mode=subscription_mode,
        subscription_from=subscription_from,
        conflation=conflation,
        autopilot=autopilot,
        namespace=namespace,
        task=task,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    batch: int | Unset = 200,
    partitions: int | Unset = 1,
    auto_ack: bool | Unset = False,
    wait: bool | Unset = False,
    timeout: int | Unset = UNSET,
    lease_seconds: int | Unset = UNSET,
    consumer_group: str | Unset = "__QUEUE_MODE__",
    subscription_mode: str | Unset = UNSET,
    subscription_from: str | Unset = UNSET,
    conflation: bool | Unset = False,
    autopilot: bool | Unset = False,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Response[Any | Error | PopResponse]:
    """Take messages of every queue with a namespace, a task or both

     Claims messages for a consumer group under a lease: acknowledge them, or they come again when the
    lease ends. Nothing to deliver is a bare 204; with wait=true that comes after the timeout.

    Args:
        batch (int | Unset):  Default: 200.
        partitions (int | Unset):  Default: 1.
        auto_ack (bool | Unset):  Default: False.
        wait (bool | Unset):  Default: False.
        timeout (int | Unset):
        lease_seconds (int | Unset):
        consumer_group (str | Unset):  Default: '__QUEUE_MODE__'.
        subscription_mode (str | Unset):
        subscription_from (str | Unset):
        conflation (bool | Unset):  Default: False.
        autopilot (bool | Unset):  Default: False.
        namespace (str | Unset):
        task (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error | PopResponse]
    """

    kwargs = _get_kwargs(
        batch=batch,
        partitions=partitions,
        auto_ack=auto_ack,
        wait=wait,
        timeout=timeout,
        lease_seconds=lease_seconds,
        consumer_group=consumer_group,
        subscription_mode=subscription_mode,
        subscription_from=subscription_from,
        conflation=conflation,
        autopilot=autopilot,
        namespace=namespace,
        task=task,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    batch: int | Unset = 200,
    partitions: int | Unset = 1,
    auto_ack: bool | Unset = False,
    wait: bool | Unset = False,
    timeout: int | Unset = UNSET,
    lease_seconds: int | Unset = UNSET,
    consumer_group: str | Unset = "__QUEUE_MODE__",
    subscription_mode: str | Unset = UNSET,
    subscription_from: str | Unset = UNSET,
    conflation: bool | Unset = False,
    autopilot: bool | Unset = False,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Any | Error | PopResponse | None:
    """Take messages of every queue with a namespace, a task or both

     Claims messages for a consumer group under a lease: acknowledge them, or they come again when the
    lease ends. Nothing to deliver is a bare 204; with wait=true that comes after the timeout.

    Args:
        batch (int | Unset):  Default: 200.
        partitions (int | Unset):  Default: 1.
        auto_ack (bool | Unset):  Default: False.
        wait (bool | Unset):  Default: False.
        timeout (int | Unset):
        lease_seconds (int | Unset):
        consumer_group (str | Unset):  Default: '__QUEUE_MODE__'.
        subscription_mode (str | Unset):
        subscription_from (str | Unset):
        conflation (bool | Unset):  Default: False.
        autopilot (bool | Unset):  Default: False.
        namespace (str | Unset):
        task (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error | PopResponse
    """

    return (
        await asyncio_detailed(
            client=client,
            batch=batch,
            partitions=partitions,
            auto_ack=auto_ack,
            wait=wait,
            timeout=timeout,
            lease_seconds=lease_seconds,
            consumer_group=consumer_group,
            subscription_mode=subscription_mode,
            subscription_from=subscription_from,
            conflation=conflation,
            autopilot=autopilot,
            namespace=namespace,
            task=task,
        )
    ).parsed
