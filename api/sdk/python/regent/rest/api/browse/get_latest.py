from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.latest_message import LatestMessage
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    queue: str,
    partition: str | Unset = "Default",
    key: str,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["queue"] = queue

    params["partition"] = partition

    params["key"] = key

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/messages/latest",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | LatestMessage | None:
    if response.status_code == 200:
        response_200 = LatestMessage.from_dict(response.json())

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

    if response.status_code == 404:
        response_404 = Error.from_dict(response.json())

        return response_404

    if response.status_code == 409:
        response_409 = Error.from_dict(response.json())

        return response_409

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
) -> Response[Error | LatestMessage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    queue: str,
    partition: str | Unset = "Default",
    key: str,
) -> Response[Error | LatestMessage]:
    """The newest message of a key

     Of one partition of a queue whose cleanupPolicy is compact or compact,delete; of another queue it is
    a 409. What is pushed is found at once, whether or not compaction has come by. A key that was never
    pushed, or whose newest message is a null (which deletes it), is a 404.

    Args:
        queue (str): Name of the queue.
        partition (str | Unset): Name of the partition. Default: 'Default'.
        key (str): Key of the message, as pushed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | LatestMessage]
    """

    kwargs = _get_kwargs(
        queue=queue,
        partition=partition,
        key=key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    queue: str,
    partition: str | Unset = "Default",
    key: str,
) -> Error | LatestMessage | None:
    """The newest message of a key

     Of one partition of a queue whose cleanupPolicy is compact or compact,delete; of another queue it is
    a 409. What is pushed is found at once, whether or not compaction has come by. A key that was never
    pushed, or whose newest message is a null (which deletes it), is a 404.

    Args:
        queue (str): Name of the queue.
        partition (str | Unset): Name of the partition. Default: 'Default'.
        key (str): Key of the message, as pushed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | LatestMessage
    """

    return sync_detailed(
        client=client,
        queue=queue,
        partition=partition,
        key=key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    queue: str,
    partition: str | Unset = "Default",
    key: str,
) -> Response[Error | LatestMessage]:
    """The newest message of a key

     Of one partition of a queue whose cleanupPolicy is compact or compact,delete; of another queue it is
    a 409. What is pushed is found at once, whether or not compaction has come by. A key that was never
    pushed, or whose newest message is a null (which deletes it), is a 404.

    Args:
        queue (str): Name of the queue.
        partition (str | Unset): Name of the partition. Default: 'Default'.
        key (str): Key of the message, as pushed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | LatestMessage]
    """

    kwargs = _get_kwargs(
        queue=queue,
        partition=partition,
        key=key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    queue: str,
    partition: str | Unset = "Default",
    key: str,
) -> Error | LatestMessage | None:
    """The newest message of a key

     Of one partition of a queue whose cleanupPolicy is compact or compact,delete; of another queue it is
    a 409. What is pushed is found at once, whether or not compaction has come by. A key that was never
    pushed, or whose newest message is a null (which deletes it), is a 404.

    Args:
        queue (str): Name of the queue.
        partition (str | Unset): Name of the partition. Default: 'Default'.
        key (str): Key of the message, as pushed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | LatestMessage
    """

    return (
        await asyncio_detailed(
            client=client,
            queue=queue,
            partition=partition,
            key=key,
        )
    ).parsed
