from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.seek_request import SeekRequest
from ...models.seek_response import SeekResponse
from ...types import Response


def _get_kwargs(
    group: str,
    queue: str,
    *,
    body: SeekRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/consumer-groups/{group}/queues/{queue}/seek".format(
            group=quote(str(group), safe=""),
            queue=quote(str(queue), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | SeekResponse | None:
    if response.status_code == 200:
        response_200 = SeekResponse.from_dict(response.json())

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

    if response.status_code == 408:
        response_408 = Error.from_dict(response.json())

        return response_408

    if response.status_code == 413:
        response_413 = Error.from_dict(response.json())

        return response_413

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
) -> Response[Error | SeekResponse]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    group: str,
    queue: str,
    *,
    client: AuthenticatedClient,
    body: SeekRequest,
) -> Response[Error | SeekResponse]:
    """Move a group on all partitions of a queue, to the end or to a time

     The one thing that moves cursors back. Leases end: what was in flight may be delivered again, and
    its acknowledgment is refused.

    Args:
        group (str): Name of the consumer group, percent-encoded.
        queue (str): Name of the queue, percent-encoded.
        body (SeekRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | SeekResponse]
    """

    kwargs = _get_kwargs(
        group=group,
        queue=queue,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    group: str,
    queue: str,
    *,
    client: AuthenticatedClient,
    body: SeekRequest,
) -> Error | SeekResponse | None:
    """Move a group on all partitions of a queue, to the end or to a time

     The one thing that moves cursors back. Leases end: what was in flight may be delivered again, and
    its acknowledgment is refused.

    Args:
        group (str): Name of the consumer group, percent-encoded.
        queue (str): Name of the queue, percent-encoded.
        body (SeekRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | SeekResponse
    """

    return sync_detailed(
        group=group,
        queue=queue,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    group: str,
    queue: str,
    *,
    client: AuthenticatedClient,
    body: SeekRequest,
) -> Response[Error | SeekResponse]:
    """Move a group on all partitions of a queue, to the end or to a time

     The one thing that moves cursors back. Leases end: what was in flight may be delivered again, and
    its acknowledgment is refused.

    Args:
        group (str): Name of the consumer group, percent-encoded.
        queue (str): Name of the queue, percent-encoded.
        body (SeekRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | SeekResponse]
    """

    kwargs = _get_kwargs(
        group=group,
        queue=queue,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    group: str,
    queue: str,
    *,
    client: AuthenticatedClient,
    body: SeekRequest,
) -> Error | SeekResponse | None:
    """Move a group on all partitions of a queue, to the end or to a time

     The one thing that moves cursors back. Leases end: what was in flight may be delivered again, and
    its acknowledgment is refused.

    Args:
        group (str): Name of the consumer group, percent-encoded.
        queue (str): Name of the queue, percent-encoded.
        body (SeekRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | SeekResponse
    """

    return (
        await asyncio_detailed(
            group=group,
            queue=queue,
            client=client,
            body=body,
        )
    ).parsed
