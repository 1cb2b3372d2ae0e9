from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.retention_series import RetentionSeries
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    group_by: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["from"] = from_

    params["to"] = to

    params["queue"] = queue

    params["groupBy"] = group_by

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/retention",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | RetentionSeries | None:
    if response.status_code == 200:
        response_200 = RetentionSeries.from_dict(response.json())

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
) -> Response[Error | RetentionSeries]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    group_by: str | Unset = UNSET,
) -> Response[Error | RetentionSeries]:
    """Messages that retention deleted, by rule, over time

     Counts are messages, not segments. Goes back METRICS_RETENTION_DAYS.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        queue (str | Unset): Only this queue.
        group_by (str | Unset): namespace, task or queue: adds rows. Anything else is refused.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | RetentionSeries]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        queue=queue,
        group_by=group_by,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    group_by: str | Unset = UNSET,
) -> Error | RetentionSeries | None:
    """Messages that retention deleted, by rule, over time

     Counts are messages, not segments. Goes back METRICS_RETENTION_DAYS.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        queue (str | Unset): Only this queue.
        group_by (str | Unset): namespace, task or queue: adds rows. Anything else is refused.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | RetentionSeries
    """

    return sync_detailed(
        client=client,
        from_=from_,
        to=to,
        queue=queue,
        group_by=group_by,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    group_by: str | Unset = UNSET,
) -> Response[Error | RetentionSeries]:
    """Messages that retention deleted, by rule, over time

     Counts are messages, not segments. Goes back METRICS_RETENTION_DAYS.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        queue (str | Unset): Only this queue.
        group_by (str | Unset): namespace, task or queue: adds rows. Anything else is refused.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | RetentionSeries]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        queue=queue,
        group_by=group_by,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    group_by: str | Unset = UNSET,
) -> Error | RetentionSeries | None:
    """Messages that retention deleted, by rule, over time

     Counts are messages, not segments. Goes back METRICS_RETENTION_DAYS.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        queue (str | Unset): Only this queue.
        group_by (str | Unset): namespace, task or queue: adds rows. Anything else is refused.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | RetentionSeries
    """

    return (
        await asyncio_detailed(
            client=client,
            from_=from_,
            to=to,
            queue=queue,
            group_by=group_by,
        )
    ).parsed
