from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.queue_depth import QueueDepth
from ...types import UNSET, Response, Unset


def _get_kwargs(
    queue: str,
    *,
    group: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["group"] = group

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/resources/queues/{queue}/depth".format(
            queue=quote(str(queue), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | QueueDepth | None:
    if response.status_code == 200:
        response_200 = QueueDepth.from_dict(response.json())

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
) -> Response[Error | QueueDepth]:
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
    group: str | Unset = UNSET,
) -> Response[Error | QueueDepth]:
    """How much work waits in a queue

     Always live. pending is all that is owed, processing the part under a live lease, ready the rest.

    Args:
        queue (str): Name of the queue, percent-encoded.
        group (str | Unset): Consumer group whose backlog is asked for. Absent or empty: the
            slowest group of each partition.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | QueueDepth]
    """

    kwargs = _get_kwargs(
        queue=queue,
        group=group,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    queue: str,
    *,
    client: AuthenticatedClient,
    group: str | Unset = UNSET,
) -> Error | QueueDepth | None:
    """How much work waits in a queue

     Always live. pending is all that is owed, processing the part under a live lease, ready the rest.

    Args:
        queue (str): Name of the queue, percent-encoded.
        group (str | Unset): Consumer group whose backlog is asked for. Absent or empty: the
            slowest group of each partition.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | QueueDepth
    """

    return sync_detailed(
        queue=queue,
        client=client,
        group=group,
    ).parsed


async def asyncio_detailed(
    queue: str,
    *,
    client: AuthenticatedClient,
    group: str | Unset = UNSET,
) -> Response[Error | QueueDepth]:
    """How much work waits in a queue

     Always live. pending is all that is owed, processing the part under a live lease, ready the rest.

    Args:
        queue (str): Name of the queue, percent-encoded.
        group (str | Unset): Consumer group whose backlog is asked for. Absent or empty: the
            slowest group of each partition.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | QueueDepth]
    """

    kwargs = _get_kwargs(
        queue=queue,
        group=group,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    queue: str,
    *,
    client: AuthenticatedClient,
    group: str | Unset = UNSET,
) -> Error | QueueDepth | None:
    """How much work waits in a queue

     Always live. pending is all that is owed, processing the part under a live lease, ready the rest.

    Args:
        queue (str): Name of the queue, percent-encoded.
        group (str | Unset): Consumer group whose backlog is asked for. Absent or empty: the
            slowest group of each partition.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | QueueDepth
    """

    return (
        await asyncio_detailed(
            queue=queue,
            client=client,
            group=group,
        )
    ).parsed
