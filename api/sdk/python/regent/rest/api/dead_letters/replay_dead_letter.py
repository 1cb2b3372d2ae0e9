from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.missing_dead_letter import MissingDeadLetter
from ...models.replay_failure import ReplayFailure
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
) -> Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse | None:
    if response.status_code == 200:
        response_200 = ReplayResponse.from_dict(response.json())

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
        response_404 = MissingDeadLetter.from_dict(response.json())

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

        def _parse_response_500(data: object) -> Error | ReplayFailure:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_500_type_0 = ReplayFailure.from_dict(data)

                return response_500_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            response_500_type_1 = Error.from_dict(data)

            return response_500_type_1

        response_500 = _parse_response_500(response.json())

        return response_500

    if response.status_code == 503:

        def _parse_response_503(data: object) -> Error | ReplayFailure:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_503_type_0 = ReplayFailure.from_dict(data)

                return response_503_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            response_503_type_1 = Error.from_dict(data)

            return response_503_type_1

        response_503 = _parse_response_503(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: ReplayRequest | Unset = UNSET,
) -> Response[Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse]:
    """Move a dead letter back to its queue

     Stores the message anew, with the transactionId dlq:<id>, at the end of its partition or of another
    one, and deletes the dead letter; both or neither. Every group sees the new message. When the
    partition has that transactionId already, nothing is stored and the dead letter stays. A plain
    payload is sealed on its way to an encrypted queue; a sealed one stays sealed wherever it goes.

    Args:
        id (str): Id of the dead letter.
        body (ReplayRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse]
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
    client: AuthenticatedClient,
    body: ReplayRequest | Unset = UNSET,
) -> Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse | None:
    """Move a dead letter back to its queue

     Stores the message anew, with the transactionId dlq:<id>, at the end of its partition or of another
    one, and deletes the dead letter; both or neither. Every group sees the new message. When the
    partition has that transactionId already, nothing is stored and the dead letter stays. A plain
    payload is sealed on its way to an encrypted queue; a sealed one stays sealed wherever it goes.

    Args:
        id (str): Id of the dead letter.
        body (ReplayRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: ReplayRequest | Unset = UNSET,
) -> Response[Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse]:
    """Move a dead letter back to its queue

     Stores the message anew, with the transactionId dlq:<id>, at the end of its partition or of another
    one, and deletes the dead letter; both or neither. Every group sees the new message. When the
    partition has that transactionId already, nothing is stored and the dead letter stays. A plain
    payload is sealed on its way to an encrypted queue; a sealed one stays sealed wherever it goes.

    Args:
        id (str): Id of the dead letter.
        body (ReplayRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse]
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
    client: AuthenticatedClient,
    body: ReplayRequest | Unset = UNSET,
) -> Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse | None:
    """Move a dead letter back to its queue

     Stores the message anew, with the transactionId dlq:<id>, at the end of its partition or of another
    one, and deletes the dead letter; both or neither. Every group sees the new message. When the
    partition has that transactionId already, nothing is stored and the dead letter stays. A plain
    payload is sealed on its way to an encrypted queue; a sealed one stays sealed wherever it goes.

    Args:
        id (str): Id of the dead letter.
        body (ReplayRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Error | ReplayFailure | MissingDeadLetter | ReplayResponse
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
        )
    ).parsed
