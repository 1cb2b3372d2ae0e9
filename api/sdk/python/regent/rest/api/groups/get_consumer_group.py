from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.get_consumer_group_response_200 import GetConsumerGroupResponse200
from ...types import Response


def _get_kwargs(
    group: str,
) -> dict[str, Any]:
    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/consumer-groups/{group}".format(
            group=quote(str(group), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | GetConsumerGroupResponse200 | None:
    if response.status_code == 200:
        response_200 = GetConsumerGroupResponse200.from_dict(response.json())

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
) -> Response[Error | GetConsumerGroupResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    group: str,
    *,
    client: AuthenticatedClient,
) -> Response[Error | GetConsumerGroupResponse200]:
    """One consumer group in detail, by queue and partition

     Where the group stands on each partition that it has a cursor on, and who holds the lease. A group
    that nobody knows is an empty object, no 404.

    Args:
        group (str): Name of the consumer group, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | GetConsumerGroupResponse200]
    """

    kwargs = _get_kwargs(
        group=group,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    group: str,
    *,
    client: AuthenticatedClient,
) -> Error | GetConsumerGroupResponse200 | None:
    """One consumer group in detail, by queue and partition

     Where the group stands on each partition that it has a cursor on, and who holds the lease. A group
    that nobody knows is an empty object, no 404.

    Args:
        group (str): Name of the consumer group, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | GetConsumerGroupResponse200
    """

    return sync_detailed(
        group=group,
        client=client,
    ).parsed


async def asyncio_detailed(
    group: str,
    *,
    client: AuthenticatedClient,
) -> Response[Error | GetConsumerGroupResponse200]:
    """One consumer group in detail, by queue and partition

     Where the group stands on each partition that it has a cursor on, and who holds the lease. A group
    that nobody knows is an empty object, no 404.

    Args:
        group (str): Name of the consumer group, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | GetConsumerGroupResponse200]
    """

    kwargs = _get_kwargs(
        group=group,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    group: str,
    *,
    client: AuthenticatedClient,
) -> Error | GetConsumerGroupResponse200 | None:
    """One consumer group in detail, by queue and partition

     Where the group stands on each partition that it has a cursor on, and who holds the lease. A group
    that nobody knows is an empty object, no 404.

    Args:
        group (str): Name of the consumer group, percent-encoded.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | GetConsumerGroupResponse200
    """

    return (
        await asyncio_detailed(
            group=group,
            client=client,
        )
    ).parsed
