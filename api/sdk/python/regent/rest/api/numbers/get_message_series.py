from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.message_series import MessageSeries
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    interval: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["from"] = from_

    params["to"] = to

    params["interval"] = interval

    params["queue"] = queue

    params["namespace"] = namespace

    params["task"] = task

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/status/analytics",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | MessageSeries | None:
    if response.status_code == 200:
        response_200 = MessageSeries.from_dict(response.json())

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
) -> Response[Error | MessageSeries]:
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
    interval: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Response[Error | MessageSeries]:
    """How many of the messages kept were stored when

     Counts what is still there: retention and compaction lower it.

    Args:
        from_ (str | Unset): Begin of the range; 24 hours ago by default.
        to (str | Unset): End of the range; now by default.
        interval (str | Unset): minute, hour or day; anything else is hour. At most 100000 points.
        queue (str | Unset): Only of this queue.
        namespace (str | Unset): Only of queues with this label.
        task (str | Unset): Only of queues with this label.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | MessageSeries]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        interval=interval,
        queue=queue,
        namespace=namespace,
        task=task,
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
    interval: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Error | MessageSeries | None:
    """How many of the messages kept were stored when

     Counts what is still there: retention and compaction lower it.

    Args:
        from_ (str | Unset): Begin of the range; 24 hours ago by default.
        to (str | Unset): End of the range; now by default.
        interval (str | Unset): minute, hour or day; anything else is hour. At most 100000 points.
        queue (str | Unset): Only of this queue.
        namespace (str | Unset): Only of queues with this label.
        task (str | Unset): Only of queues with this label.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | MessageSeries
    """

    return sync_detailed(
        client=client,
        from_=from_,
        to=to,
        interval=interval,
        queue=queue,
        namespace=namespace,
        task=task,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    interval: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Response[Error | MessageSeries]:
    """How many of the messages kept were stored when

     Counts what is still there: retention and compaction lower it.

    Args:
        from_ (str | Unset): Begin of the range; 24 hours ago by default.
        to (str | Unset): End of the range; now by default.
        interval (str | Unset): minute, hour or day; anything else is hour. At most 100000 points.
        queue (str | Unset): Only of this queue.
        namespace (str | Unset): Only of queues with this label.
        task (str | Unset): Only of queues with this label.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | MessageSeries]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        interval=interval,
        queue=queue,
        namespace=namespace,
        task=task,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    interval: str | Unset = UNSET,
    queue: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
) -> Error | MessageSeries | None:
    """How many of the messages kept were stored when

     Counts what is still there: retention and compaction lower it.

    Args:
        from_ (str | Unset): Begin of the range; 24 hours ago by default.
        to (str | Unset): End of the range; now by default.
        interval (str | Unset): minute, hour or day; anything else is hour. At most 100000 points.
        queue (str | Unset): Only of this queue.
        namespace (str | Unset): Only of queues with this label.
        task (str | Unset): Only of queues with this label.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | MessageSeries
    """

    return (
        await asyncio_detailed(
            client=client,
            from_=from_,
            to=to,
            interval=interval,
            queue=queue,
            namespace=namespace,
            task=task,
        )
    ).parsed
