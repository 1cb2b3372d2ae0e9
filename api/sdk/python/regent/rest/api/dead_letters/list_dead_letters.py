from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.dead_letter_list import DeadLetterList
from ...models.error import Error
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    queue: str | Unset = UNSET,
    consumer_group: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["queue"] = queue

    params["consumerGroup"] = consumer_group

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/dlq",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeadLetterList | Error | None:
    if response.status_code == 200:
        response_200 = DeadLetterList.from_dict(response.json())

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
) -> Response[DeadLetterList | Error]:
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
    consumer_group: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Response[DeadLetterList | Error]:
    """List dead letters, newest first

     Messages that a group gave up, with the reason and the payload as it was pushed. They stay until
    they are replayed or deleted, or deadLetterRetentionSeconds of the queue ends.

    Args:
        queue (str | Unset): Only those of this queue.
        consumer_group (str | Unset): Only those of this group.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeadLetterList | Error]
    """

    kwargs = _get_kwargs(
        queue=queue,
        consumer_group=consumer_group,
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
    consumer_group: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> DeadLetterList | Error | None:
    """List dead letters, newest first

     Messages that a group gave up, with the reason and the payload as it was pushed. They stay until
    they are replayed or deleted, or deadLetterRetentionSeconds of the queue ends.

    Args:
        queue (str | Unset): Only those of this queue.
        consumer_group (str | Unset): Only those of this group.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeadLetterList | Error
    """

    return sync_detailed(
        client=client,
        queue=queue,
        consumer_group=consumer_group,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    consumer_group: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Response[DeadLetterList | Error]:
    """List dead letters, newest first

     Messages that a group gave up, with the reason and the payload as it was pushed. They stay until
    they are replayed or deleted, or deadLetterRetentionSeconds of the queue ends.

    Args:
        queue (str | Unset): Only those of this queue.
        consumer_group (str | Unset): Only those of this group.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeadLetterList | Error]
    """

    kwargs = _get_kwargs(
        queue=queue,
        consumer_group=consumer_group,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    consumer_group: str | Unset = UNSET,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> DeadLetterList | Error | None:
    """List dead letters, newest first

     Messages that a group gave up, with the reason and the payload as it was pushed. They stay until
    they are replayed or deleted, or deadLetterRetentionSeconds of the queue ends.

    Args:
        queue (str | Unset): Only those of this queue.
        consumer_group (str | Unset): Only those of this group.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeadLetterList | Error
    """

    return (
        await asyncio_detailed(
            client=client,
            queue=queue,
            consumer_group=consumer_group,
            limit=limit,
            offset=offset,
        )
    ).parsed
