from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.delete_message_response import DeleteMessageResponse
from ...models.error import Error
from ...models.missing_message import MissingMessage
from ...types import Response


def _get_kwargs(
    partition_id: str,
    transaction_id: str,
) -> dict[str, Any]:
    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/api/v1/messages/{partition_id}/{transaction_id}".format(
            partition_id=quote(str(partition_id), safe=""),
            transaction_id=quote(str(transaction_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeleteMessageResponse | Error | MissingMessage | None:
    if response.status_code == 200:
        response_200 = DeleteMessageResponse.from_dict(response.json())

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
        response_404 = MissingMessage.from_dict(response.json())

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
) -> Response[DeleteMessageResponse | Error | MissingMessage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    partition_id: str,
    transaction_id: str,
    *,
    client: AuthenticatedClient,
) -> Response[DeleteMessageResponse | Error | MissingMessage]:
    """Delete the dead letters of a message

     Of every group. The log itself is never changed: a message that is no dead letter is a 404.

    Args:
        partition_id (str): As delivered.
        transaction_id (str): As delivered, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeleteMessageResponse | Error | MissingMessage]
    """

    kwargs = _get_kwargs(
        partition_id=partition_id,
        transaction_id=transaction_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    partition_id: str,
    transaction_id: str,
    *,
    client: AuthenticatedClient,
) -> DeleteMessageResponse | Error | MissingMessage | None:
    """Delete the dead letters of a message

     Of every group. The log itself is never changed: a message that is no dead letter is a 404.

    Args:
        partition_id (str): As delivered.
        transaction_id (str): As delivered, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeleteMessageResponse | Error | MissingMessage
    """

    return sync_detailed(
        partition_id=partition_id,
        transaction_id=transaction_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    partition_id: str,
    transaction_id: str,
    *,
    client: AuthenticatedClient,
) -> Response[DeleteMessageResponse | Error | MissingMessage]:
    """Delete the dead letters of a message

     Of every group. The log itself is never changed: a message that is no dead letter is a 404.

    Args:
        partition_id (str): As delivered.
        transaction_id (str): As delivered, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeleteMessageResponse | Error | MissingMessage]
    """

    kwargs = _get_kwargs(
        partition_id=partition_id,
        transaction_id=transaction_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    partition_id: str,
    transaction_id: str,
    *,
    client: AuthenticatedClient,
) -> DeleteMessageResponse | Error | MissingMessage | None:
    """Delete the dead letters of a message

     Of every group. The log itself is never changed: a message that is no dead letter is a 404.

    Args:
        partition_id (str): As delivered.
        transaction_id (str): As delivered, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeleteMessageResponse | Error | MissingMessage
    """

    return (
        await asyncio_detailed(
            partition_id=partition_id,
            transaction_id=transaction_id,
            client=client,
        )
    ).parsed
