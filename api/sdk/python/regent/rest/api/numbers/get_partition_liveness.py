from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.partition_liveness import PartitionLiveness
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    queue: str | Unset = UNSET,
    task: str | Unset = UNSET,
    limit: int | Unset = 20,
    namespace: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["queue"] = queue

    params["task"] = task

    params["limit"] = limit

    params["namespace"] = namespace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/partition-liveness",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | PartitionLiveness | None:
    if response.status_code == 200:
        response_200 = PartitionLiveness.from_dict(response.json())

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
) -> Response[Error | PartitionLiveness]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    task: str | Unset = UNSET,
    limit: int | Unset = 20,
    namespace: str | Unset = UNSET,
) -> Response[Error | PartitionLiveness]:
    """How many partitions are alive

     Partitions of each queue by how long ago the last message was stored in them.

    Args:
        queue (str | Unset): Only this queue.
        task (str | Unset): Only queues with this label.
        limit (int | Unset): How many queues, at most 200. Default: 20.
        namespace (str | Unset): Only queues with this label; given and empty: queues without one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | PartitionLiveness]
    """

    kwargs = _get_kwargs(
        queue=queue,
        task=task,
        limit=limit,
        namespace=namespace,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    task: str | Unset = UNSET,
    limit: int | Unset = 20,
    namespace: str | Unset = UNSET,
) -> Error | PartitionLiveness | None:
    """How many partitions are alive

     Partitions of each queue by how long ago the last message was stored in them.

    Args:
        queue (str | Unset): Only this queue.
        task (str | Unset): Only queues with this label.
        limit (int | Unset): How many queues, at most 200. Default: 20.
        namespace (str | Unset): Only queues with this label; given and empty: queues without one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | PartitionLiveness
    """

    return sync_detailed(
        client=client,
        queue=queue,
        task=task,
        limit=limit,
        namespace=namespace,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    task: str | Unset = UNSET,
    limit: int | Unset = 20,
    namespace: str | Unset = UNSET,
) -> Response[Error | PartitionLiveness]:
    """How many partitions are alive

     Partitions of each queue by how long ago the last message was stored in them.

    Args:
        queue (str | Unset): Only this queue.
        task (str | Unset): Only queues with this label.
        limit (int | Unset): How many queues, at most 200. Default: 20.
        namespace (str | Unset): Only queues with this label; given and empty: queues without one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | PartitionLiveness]
    """

    kwargs = _get_kwargs(
        queue=queue,
        task=task,
        limit=limit,
        namespace=namespace,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    task: str | Unset = UNSET,
    limit: int | Unset = 20,
    namespace: str | Unset = UNSET,
) -> Error | PartitionLiveness | None:
    """How many partitions are alive

     Partitions of each queue by how long ago the last message was stored in them.

    Args:
        queue (str | Unset): Only this queue.
        task (str | Unset): Only queues with this label.
        limit (int | Unset): How many queues, at most 200. Default: 20.
        namespace (str | Unset): Only queues with this label; given and empty: queues without one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | PartitionLiveness
    """

    return (
        await asyncio_detailed(
            client=client,
            queue=queue,
            task=task,
            limit=limit,
            namespace=namespace,
        )
    ).parsed
