from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.delete_group_response import DeleteGroupResponse
from ...models.error import Error
from ...types import UNSET, Response, Unset


def _get_kwargs(
    group: str,
    queue: str,
    *,
    delete_metadata: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["deleteMetadata"] = delete_metadata

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/api/v1/consumer-groups/{group}/queues/{queue}".format(
            group=quote(str(group), safe=""),
            queue=quote(str(queue), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeleteGroupResponse | Error | None:
    if response.status_code == 200:
        response_200 = DeleteGroupResponse.from_dict(response.json())

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
) -> Response[DeleteGroupResponse | Error]:
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
    delete_metadata: str | Unset = UNSET,
) -> Response[DeleteGroupResponse | Error]:
    """Forget a consumer group on one queue

     Also 200 when there is no such group or queue.

    Args:
        group (str): Name of the consumer group, percent-encoded.
        queue (str): Name of the queue, percent-encoded.
        delete_metadata (str | Unset): Whether the subscription goes, too: true, false, 1, 0, yes
            or no. True when absent.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeleteGroupResponse | Error]
    """

    kwargs = _get_kwargs(
        group=group,
        queue=queue,
        delete_metadata=delete_metadata,
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
    delete_metadata: str | Unset = UNSET,
) -> DeleteGroupResponse | Error | None:
    """Forget a consumer group on one queue

     Also 200 when there is no such group or queue.

    Args:
        group (str): Name of the consumer group, percent-encoded.
        queue (str): Name of the queue, percent-encoded.
        delete_metadata (str | Unset): Whether the subscription goes, too: true, false, 1, 0, yes
            or no. True when absent.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeleteGroupResponse | Error
    """

    return sync_detailed(
        group=group,
        queue=queue,
        client=client,
        delete_metadata=delete_metadata,
    ).parsed


async def asyncio_detailed(
    group: str,
    queue: str,
    *,
    client: AuthenticatedClient,
    delete_metadata: str | Unset = UNSET,
) -> Response[DeleteGroupResponse | Error]:
    """Forget a consumer group on one queue

     Also 200 when there is no such group or queue.

    Args:
        group (str): Name of the consumer group, percent-encoded.
        queue (str): Name of the queue, percent-encoded.
        delete_metadata (str | Unset): Whether the subscription goes, too: true, false, 1, 0, yes
            or no. True when absent.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeleteGroupResponse | Error]
    """

    kwargs = _get_kwargs(
        group=group,
        queue=queue,
        delete_metadata=delete_metadata,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    group: str,
    queue: str,
    *,
    client: AuthenticatedClient,
    delete_metadata: str | Unset = UNSET,
) -> DeleteGroupResponse | Error | None:
    """Forget a consumer group on one queue

     Also 200 when there is no such group or queue.

    Args:
        group (str): Name of the consumer group, percent-encoded.
        queue (str): Name of the queue, percent-encoded.
        delete_metadata (str | Unset): Whether the subscription goes, too: true, false, 1, 0, yes
            or no. True when absent.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeleteGroupResponse | Error
    """

    return (
        await asyncio_detailed(
            group=group,
            queue=queue,
            client=client,
            delete_metadata=delete_metadata,
        )
    ).parsed
