from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.configure_request import ConfigureRequest
from ...models.configure_response import ConfigureResponse
from ...models.error import Error
from ...types import Response


def _get_kwargs(
    *,
    body: ConfigureRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/configure",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ConfigureResponse | Error | None:
    if response.status_code == 200:
        response_200 = ConfigureResponse.from_dict(response.json())

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
) -> Response[ConfigureResponse | Error]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: ConfigureRequest,
) -> Response[ConfigureResponse | Error]:
    """Create a queue or edit its options

     An edit keeps what the body does not mention and sets back to its default what is null. With mode
    replace, what is not mentioned is set back as well. Options may also stand at the top level when
    there is no options object. Unknown options are ignored; a value of the wrong type or out of bounds
    is refused, with the option in invalid, and nothing is changed.

    Args:
        body (ConfigureRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConfigureResponse | Error]
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
    body: ConfigureRequest,
) -> ConfigureResponse | Error | None:
    """Create a queue or edit its options

     An edit keeps what the body does not mention and sets back to its default what is null. With mode
    replace, what is not mentioned is set back as well. Options may also stand at the top level when
    there is no options object. Unknown options are ignored; a value of the wrong type or out of bounds
    is refused, with the option in invalid, and nothing is changed.

    Args:
        body (ConfigureRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConfigureResponse | Error
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: ConfigureRequest,
) -> Response[ConfigureResponse | Error]:
    """Create a queue or edit its options

     An edit keeps what the body does not mention and sets back to its default what is null. With mode
    replace, what is not mentioned is set back as well. Options may also stand at the top level when
    there is no options object. Unknown options are ignored; a value of the wrong type or out of bounds
    is refused, with the option in invalid, and nothing is changed.

    Args:
        body (ConfigureRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConfigureResponse | Error]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: ConfigureRequest,
) -> ConfigureResponse | Error | None:
    """Create a queue or edit its options

     An edit keeps what the body does not mention and sets back to its default what is null. With mode
    replace, what is not mentioned is set back as well. Options may also stand at the top level when
    there is no options object. Unknown options are ignored; a value of the wrong type or out of bounds
    is refused, with the option in invalid, and nothing is changed.

    Args:
        body (ConfigureRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConfigureResponse | Error
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
