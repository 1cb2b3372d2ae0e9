from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.missing_dead_letter import MissingDeadLetter
from ...models.replay_request import ReplayRequest
from ...models.replay_response import ReplayResponse
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: ReplayRequest | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/dlq/{id}/replay".format(
            id=quote(str(id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | MissingDeadLetter | ReplayResponse | None:
    if response.status_code == 200:
        response_200 = ReplayResponse.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Error.from_dict(response.json())

        return response_400

    if response.status_code == 404:
        response_404 = MissingDeadLetter.from_dict(response.json())

        return response_404

    if response.status_code == 408:
        response_408 = Error.from_dict(response.json())

        return response_408

    if response.status_code == 413:
        response_413 = Error.from_dict(response.json())

        return response_413

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
) -> Response[Error | MissingDeadLetter | ReplayResponse]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: ReplayRequest | Unset = UNSET,
) -> Response[Error | MissingDeadLetter | ReplayResponse]:
    """Move a dead letter back to its queue

     Stores the message anew, with the transactionId dlq:<id>, at the end of its partition or of another
    one, and deletes the dead letter; both or neither. Every group sees the new message. When the
    partition has that transactionId already, nothing is stored and the dead letter stays.

    Args:
        id (str): Id of the dead letter.
        body (ReplayRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | MissingDeadLetter | ReplayResponse]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: ReplayRequest | Unset = UNSET,
) -> Error | MissingDeadLetter | ReplayResponse | None:
    """Move a dead letter back to its queue

     Stores the message anew, with the transactionId dlq:<id>, at the end of its partition or of another
    one, and deletes the dead letter; both or neither. Every group sees the new message. When the
    partition has that transactionId already, nothing is stored and the dead letter stays.

    Args:
        id (str): Id of the dead letter.
        body (ReplayRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | MissingDeadLetter | ReplayResponse
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: ReplayRequest | Unset = UNSET,
) -> Response[Error | MissingDeadLetter | ReplayResponse]:
    """Move a dead letter back to its queue

     Stores the message anew, with the transactionId dlq:<id>, at the end of its partition or of another
    one, and deletes the dead letter; both or neither. Every group sees the new message. When the
    partition has that transactionId already, nothing is stored and the dead letter stays.

    Args:
        id (str): Id of the dead letter.
        body (ReplayRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | MissingDeadLetter | ReplayResponse]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: ReplayRequest | Unset = UNSET,
) -> Error | MissingDeadLetter | ReplayResponse | None:
    """Move a dead letter back to its queue

     Stores the message anew, with the transactionId dlq:<id>, at the end of its partition or of another
    one, and deletes the dead letter; both or neither. Every group sees the new message. When the
    partition has that transactionId already, nothing is stored and the dead letter stays.

    Args:
        id (str): Id of the dead letter.
        body (ReplayRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | MissingDeadLetter | ReplayResponse
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
        )
    ).parsed
