from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.delete_dead_letters_response import DeleteDeadLettersResponse
from ...models.error import Error
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    queue: str | Unset = UNSET,
    consumer_group: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["queue"] = queue

    params["consumerGroup"] = consumer_group

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/api/v1/dlq",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeleteDeadLettersResponse | Error | None:
    if response.status_code == 200:
        response_200 = DeleteDeadLettersResponse.from_dict(response.json())

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
) -> Response[DeleteDeadLettersResponse | Error]:
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
    consumer_group: str | Unset = UNSET,
) -> Response[DeleteDeadLettersResponse | Error]:
    """Delete the dead letters of a queue

     Also 200 when there are none. In steps: when the call fails half way, call it again.

    Args:
        queue (str | Unset): Queue whose dead letters go. Required.
        consumer_group (str | Unset): Only those of this group.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeleteDeadLettersResponse | Error]
    """

    kwargs = _get_kwargs(
        queue=queue,
        consumer_group=consumer_group,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    consumer_group: str | Unset = UNSET,
) -> DeleteDeadLettersResponse | Error | None:
    """Delete the dead letters of a queue

     Also 200 when there are none. In steps: when the call fails half way, call it again.

    Args:
        queue (str | Unset): Queue whose dead letters go. Required.
        consumer_group (str | Unset): Only those of this group.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeleteDeadLettersResponse | Error
    """

    return sync_detailed(
        client=client,
        queue=queue,
        consumer_group=consumer_group,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    consumer_group: str | Unset = UNSET,
) -> Response[DeleteDeadLettersResponse | Error]:
    """Delete the dead letters of a queue

     Also 200 when there are none. In steps: when the call fails half way, call it again.

    Args:
        queue (str | Unset): Queue whose dead letters go. Required.
        consumer_group (str | Unset): Only those of this group.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeleteDeadLettersResponse | Error]
    """

    kwargs = _get_kwargs(
        queue=queue,
        consumer_group=consumer_group,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    consumer_group: str | Unset = UNSET,
) -> DeleteDeadLettersResponse | Error | None:
    """Delete the dead letters of a queue

     Also 200 when there are none. In steps: when the call fails half way, call it again.

    Args:
        queue (str | Unset): Queue whose dead letters go. Required.
        consumer_group (str | Unset): Only those of this group.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeleteDeadLettersResponse | Error
    """

    return (
        await asyncio_detailed(
            client=client,
            queue=queue,
            consumer_group=consumer_group,
        )
    ).parsed
