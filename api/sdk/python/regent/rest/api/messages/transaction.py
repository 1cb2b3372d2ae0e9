from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.transaction_request import TransactionRequest
from ...models.transaction_response import TransactionResponse
from ...types import Response


def _get_kwargs(
    *,
    body: TransactionRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/transaction",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | TransactionResponse | None:
    if response.status_code == 200:
        response_200 = TransactionResponse.from_dict(response.json())

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
) -> Response[Error | TransactionResponse]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: TransactionRequest,
) -> Response[Error | TransactionResponse]:
    """Store and acknowledge messages, all or nothing

     One database transaction over any queues, partitions and groups. A call that was rolled back is a
    200 with success false. An error status means that nothing happened; only when the database was lost
    during the commit is that not known. With a transactionId on every message the call may be repeated
    safely: if it had happened, the answer is duplicate.

    Args:
        body (TransactionRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | TransactionResponse]
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
    body: TransactionRequest,
) -> Error | TransactionResponse | None:
    """Store and acknowledge messages, all or nothing

     One database transaction over any queues, partitions and groups. A call that was rolled back is a
    200 with success false. An error status means that nothing happened; only when the database was lost
    during the commit is that not known. With a transactionId on every message the call may be repeated
    safely: if it had happened, the answer is duplicate.

    Args:
        body (TransactionRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | TransactionResponse
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: TransactionRequest,
) -> Response[Error | TransactionResponse]:
    """Store and acknowledge messages, all or nothing

     One database transaction over any queues, partitions and groups. A call that was rolled back is a
    200 with success false. An error status means that nothing happened; only when the database was lost
    during the commit is that not known. With a transactionId on every message the call may be repeated
    safely: if it had happened, the answer is duplicate.

    Args:
        body (TransactionRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | TransactionResponse]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: TransactionRequest,
) -> Error | TransactionResponse | None:
    """Store and acknowledge messages, all or nothing

     One database transaction over any queues, partitions and groups. A call that was rolled back is a
    200 with success false. An error status means that nothing happened; only when the database was lost
    during the commit is that not known. With a transactionId on every message the call may be repeated
    safely: if it had happened, the answer is duplicate.

    Args:
        body (TransactionRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | TransactionResponse
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
