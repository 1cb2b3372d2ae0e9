from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.queue_detail import QueueDetail
from ...types import Response


def _get_kwargs(
    queue: str,
) -> dict[str, Any]:
    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/resources/queues/{queue}".format(
            queue=quote(str(queue), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | QueueDetail | None:
    if response.status_code == 200:
        response_200 = QueueDetail.from_dict(response.json())

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
) -> Response[Error | QueueDetail]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    queue: str,
    *,
    client: AuthenticatedClient,
) -> Response[Error | QueueDetail]:
    """One queue in detail: options, partitions, totals

     All numbers are of this moment, counted over every partition: for a queue with many ask get-queue-
    depth or get-queue-status.

    Args:
        queue (str): Name of the queue, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | QueueDetail]
    """

    kwargs = _get_kwargs(
        queue=queue,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    queue: str,
    *,
    client: AuthenticatedClient,
) -> Error | QueueDetail | None:
    """One queue in detail: options, partitions, totals

     All numbers are of this moment, counted over every partition: for a queue with many ask get-queue-
    depth or get-queue-status.

    Args:
        queue (str): Name of the queue, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | QueueDetail
    """

    return sync_detailed(
        queue=queue,
        client=client,
    ).parsed


async def asyncio_detailed(
    queue: str,
    *,
    client: AuthenticatedClient,
) -> Response[Error | QueueDetail]:
    """One queue in detail: options, partitions, totals

     All numbers are of this moment, counted over every partition: for a queue with many ask get-queue-
    depth or get-queue-status.

    Args:
        queue (str): Name of the queue, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | QueueDetail]
    """

    kwargs = _get_kwargs(
        queue=queue,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    queue: str,
    *,
    client: AuthenticatedClient,
) -> Error | QueueDetail | None:
    """One queue in detail: options, partitions, totals

     All numbers are of this moment, counted over every partition: for a queue with many ask get-queue-
    depth or get-queue-status.

    Args:
        queue (str): Name of the queue, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | QueueDetail
    """

    return (
        await asyncio_detailed(
            queue=queue,
            client=client,
        )
    ).parsed
