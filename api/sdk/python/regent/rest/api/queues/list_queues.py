from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.queue_list import QueueList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    stats: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["stats"] = stats

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/resources/queues",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | QueueList | None:
    if response.status_code == 200:
        response_200 = QueueList.from_dict(response.json())

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
) -> Response[Error | QueueList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    stats: str | Unset = UNSET,
) -> Response[Error | QueueList]:
    """List all queues with their counts, newest first

     Three clocks: partitions and messages.total are of this moment; pending and processing as last
    counted (STATS_INTERVAL_MS); retainedBytes and segments as last measured
    (RETAINED_BYTES_INTERVAL_MS), 0 for a queue that is newer.

    Args:
        stats (str | Unset): cached: all numbers as they were last stored. Otherwise partitions
            and messages.total are of this moment.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | QueueList]
    """

    kwargs = _get_kwargs(
        stats=stats,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    stats: str | Unset = UNSET,
) -> Error | QueueList | None:
    """List all queues with their counts, newest first

     Three clocks: partitions and messages.total are of this moment; pending and processing as last
    counted (STATS_INTERVAL_MS); retainedBytes and segments as last measured
    (RETAINED_BYTES_INTERVAL_MS), 0 for a queue that is newer.

    Args:
        stats (str | Unset): cached: all numbers as they were last stored. Otherwise partitions
            and messages.total are of this moment.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | QueueList
    """

    return sync_detailed(
        client=client,
        stats=stats,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    stats: str | Unset = UNSET,
) -> Response[Error | QueueList]:
    """List all queues with their counts, newest first

     Three clocks: partitions and messages.total are of this moment; pending and processing as last
    counted (STATS_INTERVAL_MS); retainedBytes and segments as last measured
    (RETAINED_BYTES_INTERVAL_MS), 0 for a queue that is newer.

    Args:
        stats (str | Unset): cached: all numbers as they were last stored. Otherwise partitions
            and messages.total are of this moment.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | QueueList]
    """

    kwargs = _get_kwargs(
        stats=stats,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    stats: str | Unset = UNSET,
) -> Error | QueueList | None:
    """List all queues with their counts, newest first

     Three clocks: partitions and messages.total are of this moment; pending and processing as last
    counted (STATS_INTERVAL_MS); retainedBytes and segments as last measured
    (RETAINED_BYTES_INTERVAL_MS), 0 for a queue that is newer.

    Args:
        stats (str | Unset): cached: all numbers as they were last stored. Otherwise partitions
            and messages.total are of this moment.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | QueueList
    """

    return (
        await asyncio_detailed(
            client=client,
            stats=stats,
        )
    ).parsed
