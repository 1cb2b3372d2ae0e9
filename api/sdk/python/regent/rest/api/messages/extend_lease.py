from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.extend_request import ExtendRequest
from ...models.extend_response import ExtendResponse
from ...types import UNSET, Response, Unset


def _get_kwargs(
    lease_id: str,
    *,
    body: ExtendRequest | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/lease/{lease_id}/extend".format(
            lease_id=quote(str(lease_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | ExtendResponse | None:
    if response.status_code == 200:
        response_200 = ExtendResponse.from_dict(response.json())

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
) -> Response[Error | ExtendResponse]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    lease_id: str,
    *,
    client: AuthenticatedClient,
    body: ExtendRequest | Unset = UNSET,
) -> Response[Error | ExtendResponse]:
    """Keep a lease

     Extends every live lease under the id. It may be repeated safely.

    Args:
        lease_id (str): As delivered.
        body (ExtendRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | ExtendResponse]
    """

    kwargs = _get_kwargs(
        lease_id=lease_id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    lease_id: str,
    *,
    client: AuthenticatedClient,
    body: ExtendRequest | Unset = UNSET,
) -> Error | ExtendResponse | None:
    """Keep a lease

     Extends every live lease under the id. It may be repeated safely.

    Args:
        lease_id (str): As delivered.
        body (ExtendRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | ExtendResponse
    """

    return sync_detailed(
        lease_id=lease_id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    lease_id: str,
    *,
    client: AuthenticatedClient,
    body: ExtendRequest | Unset = UNSET,
) -> Response[Error | ExtendResponse]:
    """Keep a lease

     Extends every live lease under the id. It may be repeated safely.

    Args:
        lease_id (str): As delivered.
        body (ExtendRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | ExtendResponse]
    """

    kwargs = _get_kwargs(
        lease_id=lease_id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    lease_id: str,
    *,
    client: AuthenticatedClient,
    body: ExtendRequest | Unset = UNSET,
) -> Error | ExtendResponse | None:
    """Keep a lease

     Extends every live lease under the id. It may be repeated safely.

    Args:
        lease_id (str): As delivered.
        body (ExtendRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | ExtendResponse
    """

    return (
        await asyncio_detailed(
            lease_id=lease_id,
            client=client,
            body=body,
        )
    ).parsed
