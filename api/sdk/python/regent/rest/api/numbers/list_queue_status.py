from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.queue_status_list import QueueStatusList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["queue"] = queue

    params["namespace"] = namespace

    params["task"] = task

    params["from"] = from_

    params["to"] = to

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/status/queues",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | QueueStatusList | None:
    if response.status_code == 200:
        response_200 = QueueStatusList.from_dict(response.json())

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
) -> Response[Error | QueueStatusList]:
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
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Response[Error | QueueStatusList]:
    """Queues with their stored counts, newest first

     All numbers as last counted (STATS_INTERVAL_MS).

    Args:
        queue (str | Unset): Only this queue.
        namespace (str | Unset): Only queues with this label.
        task (str | Unset): Only queues with this label.
        from_ (str | Unset): Without effect: the numbers are those of the last count.
        to (str | Unset): Without effect.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | QueueStatusList]
    """

    kwargs = _get_kwargs(
        queue=queue,
        namespace=namespace,
        task=task,
        from_=from_,
        to=to,
        limit=limit,
        offset=offset,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Error | QueueStatusList | None:
    """Queues with their stored counts, newest first

     All numbers as last counted (STATS_INTERVAL_MS).

    Args:
        queue (str | Unset): Only this queue.
        namespace (str | Unset): Only queues with this label.
        task (str | Unset): Only queues with this label.
        from_ (str | Unset): Without effect: the numbers are those of the last count.
        to (str | Unset): Without effect.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | QueueStatusList
    """

    return sync_detailed(
        client=client,
        queue=queue,
        namespace=namespace,
        task=task,
        from_=from_,
        to=to,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Response[Error | QueueStatusList]:
    """Queues with their stored counts, newest first

     All numbers as last counted (STATS_INTERVAL_MS).

    Args:
        queue (str | Unset): Only this queue.
        namespace (str | Unset): Only queues with this label.
        task (str | Unset): Only queues with this label.
        from_ (str | Unset): Without effect: the numbers are those of the last count.
        to (str | Unset): Without effect.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | QueueStatusList]
    """

    kwargs = _get_kwargs(
        queue=queue,
        namespace=namespace,
        task=task,
        from_=from_,
        to=to,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Error | QueueStatusList | None:
    """Queues with their stored counts, newest first

     All numbers as last counted (STATS_INTERVAL_MS).

    Args:
        queue (str | Unset): Only this queue.
        namespace (str | Unset): Only queues with this label.
        task (str | Unset): Only queues with this label.
        from_ (str | Unset): Without effect: the numbers are those of the last count.
        to (str | Unset): Without effect.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | QueueStatusList
    """

    return (
        await asyncio_detailed(
            client=client,
            queue=queue,
            namespace=namespace,
            task=task,
            from_=from_,
            to=to,
            limit=limit,
            offset=offset,
        )
    ).parsed
