from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.status import Status
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["from"] = from_

    params["to"] = to

    params["queue"] = queue

    params["namespace"] = namespace

    params["task"] = task

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/status",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | Status | None:
    if response.status_code == 200:
        response_200 = Status.from_dict(response.json())

        return response_200

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
) -> Response[Error | Status]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Response[Error | Status]:
    """What all servers did, and how queues, leases and dead letters stand

     Over all tenants. A point a minute up to an hour, then 5 (6 hours), 15 (a day), 60 (a week) and 360
    minutes. What servers did is known up to their last flush (METRICS_FLUSH_MS); with a filter,
    throughput is that of the queues that match.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        queue (str | Unset): Only this queue, in throughput and queues.
        namespace (str | Unset): Only queues with this label, in throughput and queues.
        task (str | Unset): Only queues with this label, in throughput and queues.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Status]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        queue=queue,
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
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Error | Status | None:
    """What all servers did, and how queues, leases and dead letters stand

     Over all tenants. A point a minute up to an hour, then 5 (6 hours), 15 (a day), 60 (a week) and 360
    minutes. What servers did is known up to their last flush (METRICS_FLUSH_MS); with a filter,
    throughput is that of the queues that match.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        queue (str | Unset): Only this queue, in throughput and queues.
        namespace (str | Unset): Only queues with this label, in throughput and queues.
        task (str | Unset): Only queues with this label, in throughput and queues.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Status
    """

    return sync_detailed(
        client=client,
        from_=from_,
        to=to,
        queue=queue,
        namespace=namespace,
        task=task,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Response[Error | Status]:
    """What all servers did, and how queues, leases and dead letters stand

     Over all tenants. A point a minute up to an hour, then 5 (6 hours), 15 (a day), 60 (a week) and 360
    minutes. What servers did is known up to their last flush (METRICS_FLUSH_MS); with a filter,
    throughput is that of the queues that match.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        queue (str | Unset): Only this queue, in throughput and queues.
        namespace (str | Unset): Only queues with this label, in throughput and queues.
        task (str | Unset): Only queues with this label, in throughput and queues.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Status]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        queue=queue,
        namespace=namespace,
        task=task,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Error | Status | None:
    """What all servers did, and how queues, leases and dead letters stand

     Over all tenants. A point a minute up to an hour, then 5 (6 hours), 15 (a day), 60 (a week) and 360
    minutes. What servers did is known up to their last flush (METRICS_FLUSH_MS); with a filter,
    throughput is that of the queues that match.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        queue (str | Unset): Only this queue, in throughput and queues.
        namespace (str | Unset): Only queues with this label, in throughput and queues.
        task (str | Unset): Only queues with this label, in throughput and queues.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Status
    """

    return (
        await asyncio_detailed(
            client=client,
            from_=from_,
            to=to,
            queue=queue,
            namespace=namespace,
            task=task,
        )
    ).parsed
