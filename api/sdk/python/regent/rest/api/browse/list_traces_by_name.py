from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.named_trace_list import NamedTraceList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    trace_name: str,
    *,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/traces/by-name/{trace_name}".format(
            trace_name=quote(str(trace_name), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | NamedTraceList | None:
    if response.status_code == 200:
        response_200 = NamedTraceList.from_dict(response.json())

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
) -> Response[Error | NamedTraceList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    trace_name: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Response[Error | NamedTraceList]:
    """Traces of any message under one name, oldest first

     Follows one piece of work over queues: every trace that was recorded with the name in traceNames.

    Args:
        trace_name (str): Percent-encoded.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | NamedTraceList]
    """

    kwargs = _get_kwargs(
        trace_name=trace_name,
        limit=limit,
        offset=offset,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    trace_name: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Error | NamedTraceList | None:
    """Traces of any message under one name, oldest first

     Follows one piece of work over queues: every trace that was recorded with the name in traceNames.

    Args:
        trace_name (str): Percent-encoded.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | NamedTraceList
    """

    return sync_detailed(
        trace_name=trace_name,
        client=client,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    trace_name: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Response[Error | NamedTraceList]:
    """Traces of any message under one name, oldest first

     Follows one piece of work over queues: every trace that was recorded with the name in traceNames.

    Args:
        trace_name (str): Percent-encoded.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | NamedTraceList]
    """

    kwargs = _get_kwargs(
        trace_name=trace_name,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    trace_name: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 100,
    offset: int | Unset = 0,
) -> Error | NamedTraceList | None:
    """Traces of any message under one name, oldest first

     Follows one piece of work over queues: every trace that was recorded with the name in traceNames.

    Args:
        trace_name (str): Percent-encoded.
        limit (int | Unset): Length of the page, at most 1000. Default: 100.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | NamedTraceList
    """

    return (
        await asyncio_detailed(
            trace_name=trace_name,
            client=client,
            limit=limit,
            offset=offset,
        )
    ).parsed
