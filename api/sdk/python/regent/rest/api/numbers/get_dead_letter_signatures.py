from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.dead_letter_signatures import DeadLetterSignatures
from ...models.error import Error
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    queue: str | Unset = UNSET,
    limit: int | Unset = 200,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["queue"] = queue

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/dlq-signatures",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeadLetterSignatures | Error | None:
    if response.status_code == 200:
        response_200 = DeadLetterSignatures.from_dict(response.json())

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
) -> Response[DeadLetterSignatures | Error]:
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
    limit: int | Unset = 200,
) -> Response[DeadLetterSignatures | Error]:
    """What the dead letters of a queue have in common

     Looks at the newest dead letters and gathers those whose errors differ only in ids and numbers.

    Args:
        queue (str | Unset): The queue; required.
        limit (int | Unset): How many of the newest dead letters to look at, at most 1000.
            Default: 200.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeadLetterSignatures | Error]
    """

    kwargs = _get_kwargs(
        queue=queue,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    limit: int | Unset = 200,
) -> DeadLetterSignatures | Error | None:
    """What the dead letters of a queue have in common

     Looks at the newest dead letters and gathers those whose errors differ only in ids and numbers.

    Args:
        queue (str | Unset): The queue; required.
        limit (int | Unset): How many of the newest dead letters to look at, at most 1000.
            Default: 200.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeadLetterSignatures | Error
    """

    return sync_detailed(
        client=client,
        queue=queue,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    limit: int | Unset = 200,
) -> Response[DeadLetterSignatures | Error]:
    """What the dead letters of a queue have in common

     Looks at the newest dead letters and gathers those whose errors differ only in ids and numbers.

    Args:
        queue (str | Unset): The queue; required.
        limit (int | Unset): How many of the newest dead letters to look at, at most 1000.
            Default: 200.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeadLetterSignatures | Error]
    """

    kwargs = _get_kwargs(
        queue=queue,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    limit: int | Unset = 200,
) -> DeadLetterSignatures | Error | None:
    """What the dead letters of a queue have in common

     Looks at the newest dead letters and gathers those whose errors differ only in ids and numbers.

    Args:
        queue (str | Unset): The queue; required.
        limit (int | Unset): How many of the newest dead letters to look at, at most 1000.
            Default: 200.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeadLetterSignatures | Error
    """

    return (
        await asyncio_detailed(
            client=client,
            queue=queue,
            limit=limit,
        )
    ).parsed
