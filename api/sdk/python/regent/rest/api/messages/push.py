from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.push_request import PushRequest
from ...models.push_result import PushResult
from ...types import Response


def _get_kwargs(
    *,
    body: PushRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/push",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | Error | list[PushResult] | list[PushResult] | None:
    if response.status_code == 201:
        response_201 = []
        _response_201 = response.json()
        for response_201_item_data in _response_201:
            response_201_item = PushResult.from_dict(response_201_item_data)

            response_201.append(response_201_item)

        return response_201

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

    if response.status_code == 409:
        response_409 = Error.from_dict(response.json())

        return response_409

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

        def _parse_response_503(data: object) -> Error | list[PushResult]:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_503_type_0 = Error.from_dict(data)

                return response_503_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, list):
                raise TypeError()
            response_503_type_1 = []
            _response_503_type_1 = data
            for response_503_type_1_item_data in _response_503_type_1:
                response_503_type_1_item = PushResult.from_dict(
                    response_503_type_1_item_data
                )

                response_503_type_1.append(response_503_type_1_item)

            return response_503_type_1

        response_503 = _parse_response_503(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Error | Error | list[PushResult] | list[PushResult]]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: PushRequest,
) -> Response[Error | Error | list[PushResult] | list[PushResult]]:
    """Store messages

     Each item is stored or refused on its own; the answer has one element an item, in request order. An
    error status means that nothing was stored; only when the database was lost during the commit and
    stays away is that not known. With a transactionId the call may be repeated safely. A server with a
    spool answers buffered while the database is away or pushes are paused.

    Args:
        body (PushRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Error | list[PushResult] | list[PushResult]]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: PushRequest,
) -> Error | Error | list[PushResult] | list[PushResult] | None:
    """Store messages

     Each item is stored or refused on its own; the answer has one element an item, in request order. An
    error status means that nothing was stored; only when the database was lost during the commit and
    stays away is that not known. With a transactionId the call may be repeated safely. A server with a
    spool answers buffered while the database is away or pushes are paused.

    Args:
        body (PushRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Error | list[PushResult] | list[PushResult]
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: PushRequest,
) -> Response[Error | Error | list[PushResult] | list[PushResult]]:
    """Store messages

     Each item is stored or refused on its own; the answer has one element an item, in request order. An
    error status means that nothing was stored; only when the database was lost during the commit and
    stays away is that not known. With a transactionId the call may be repeated safely. A server with a
    spool answers buffered while the database is away or pushes are paused.

    Args:
        body (PushRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Error | list[PushResult] | list[PushResult]]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: PushRequest,
) -> Error | Error | list[PushResult] | list[PushResult] | None:
    """Store messages

     Each item is stored or refused on its own; the answer has one element an item, in request order. An
    error status means that nothing was stored; only when the database was lost during the commit and
    stays away is that not known. With a transactionId the call may be repeated safely. A server with a
    spool answers buffered while the database is away or pushes are paused.

    Args:
        body (PushRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Error | list[PushResult] | list[PushResult]
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
