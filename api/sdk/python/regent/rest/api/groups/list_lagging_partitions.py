from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.lagging_partition import LaggingPartition
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    min_lag_seconds: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["minLagSeconds"] = min_lag_seconds

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/consumer-groups/lagging",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | list[LaggingPartition] | None:
    if response.status_code == 200:
        response_200 = []
        _response_200 = response.json()
        for response_200_item_data in _response_200:
            response_200_item = LaggingPartition.from_dict(response_200_item_data)

            response_200.append(response_200_item)

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
) -> Response[Error | list[LaggingPartition]]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    min_lag_seconds: str | Unset = UNSET,
) -> Response[Error | list[LaggingPartition]]:
    """List the partitions on which a group is far behind

     Of all groups: partitions whose oldest unfinished message is older than minLagSeconds.

    Args:
        min_lag_seconds (str | Unset): Seconds behind at least, 0 or more; 3600 when absent.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | list[LaggingPartition]]
    """

    kwargs = _get_kwargs(
        min_lag_seconds=min_lag_seconds,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    min_lag_seconds: str | Unset = UNSET,
) -> Error | list[LaggingPartition] | None:
    """List the partitions on which a group is far behind

     Of all groups: partitions whose oldest unfinished message is older than minLagSeconds.

    Args:
        min_lag_seconds (str | Unset): Seconds behind at least, 0 or more; 3600 when absent.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | list[LaggingPartition]
    """

    return sync_detailed(
        client=client,
        min_lag_seconds=min_lag_seconds,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    min_lag_seconds: str | Unset = UNSET,
) -> Response[Error | list[LaggingPartition]]:
    """List the partitions on which a group is far behind

     Of all groups: partitions whose oldest unfinished message is older than minLagSeconds.

    Args:
        min_lag_seconds (str | Unset): Seconds behind at least, 0 or more; 3600 when absent.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | list[LaggingPartition]]
    """

    kwargs = _get_kwargs(
        min_lag_seconds=min_lag_seconds,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    min_lag_seconds: str | Unset = UNSET,
) -> Error | list[LaggingPartition] | None:
    """List the partitions on which a group is far behind

     Of all groups: partitions whose oldest unfinished message is older than minLagSeconds.

    Args:
        min_lag_seconds (str | Unset): Seconds behind at least, 0 or more; 3600 when absent.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | list[LaggingPartition]
    """

    return (
        await asyncio_detailed(
            client=client,
            min_lag_seconds=min_lag_seconds,
        )
    ).parsed
