from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.message_list import MessageList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    queue: str | Unset = UNSET,
    partition: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    ns: str | Unset = UNSET,
    task: str | Unset = UNSET,
    status: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 200,
    offset: int | Unset = 0,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["queue"] = queue

    params["partition"] = partition

    params["namespace"] = namespace

    params["ns"] = ns

    params["task"] = task

    params["status"] = status

    params["from"] = from_

    params["to"] = to

    params["limit"] = limit

    params["offset"] = offset

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/messages",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | MessageList | None:
    if response.status_code == 200:
        response_200 = MessageList.from_dict(response.json())

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
) -> Response[Error | MessageList]:
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
    partition: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    ns: str | Unset = UNSET,
    task: str | Unset = UNSET,
    status: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 200,
    offset: int | Unset = 0,
) -> Response[Error | MessageList]:
    """Browse messages, newest first

     Those of the last hour, unless from says otherwise. A status is that of the consumers without a
    group; a message that any group gave up on is dead_letter. Looks at the 10000 partitions written
    last.

    Args:
        queue (str | Unset): Only of this queue.
        partition (str | Unset): Only of partitions with this name.
        namespace (str | Unset): Only of queues with this label.
        ns (str | Unset): The same as namespace.
        task (str | Unset): Only of queues with this label.
        status (str | Unset): Only with this status: pending, processing, completed or
            dead_letter.
        from_ (str | Unset): Stored at or after this time; an hour ago by default.
        to (str | Unset): Stored before the end of the minute of this time; now by default.
        limit (int | Unset): Length of the page, at most 1000. Default: 200.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | MessageList]
    """

    kwargs = _get_kwargs(
        queue=queue,
        partition=partition,
        namespace=namespace,
        ns=ns,
        task=task,
        status=status,
        from_=from_,
        to=to,
        limit=limit,
        offset=offset,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    partition: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    ns: str | Unset = UNSET,
    task: str | Unset = UNSET,
    status: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 200,
    offset: int | Unset = 0,
) -> Error | MessageList | None:
    """Browse messages, newest first

     Those of the last hour, unless from says otherwise. A status is that of the consumers without a
    group; a message that any group gave up on is dead_letter. Looks at the 10000 partitions written
    last.

    Args:
        queue (str | Unset): Only of this queue.
        partition (str | Unset): Only of partitions with this name.
        namespace (str | Unset): Only of queues with this label.
        ns (str | Unset): The same as namespace.
        task (str | Unset): Only of queues with this label.
        status (str | Unset): Only with this status: pending, processing, completed or
            dead_letter.
        from_ (str | Unset): Stored at or after this time; an hour ago by default.
        to (str | Unset): Stored before the end of the minute of this time; now by default.
        limit (int | Unset): Length of the page, at most 1000. Default: 200.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | MessageList
    """

    return sync_detailed(
        client=client,
        queue=queue,
        partition=partition,
        namespace=namespace,
        ns=ns,
        task=task,
        status=status,
        from_=from_,
        to=to,
        limit=limit,
        offset=offset,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    partition: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    ns: str | Unset = UNSET,
    task: str | Unset = UNSET,
    status: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 200,
    offset: int | Unset = 0,
) -> Response[Error | MessageList]:
    """Browse messages, newest first

     Those of the last hour, unless from says otherwise. A status is that of the consumers without a
    group; a message that any group gave up on is dead_letter. Looks at the 10000 partitions written
    last.

    Args:
        queue (str | Unset): Only of this queue.
        partition (str | Unset): Only of partitions with this name.
        namespace (str | Unset): Only of queues with this label.
        ns (str | Unset): The same as namespace.
        task (str | Unset): Only of queues with this label.
        status (str | Unset): Only with this status: pending, processing, completed or
            dead_letter.
        from_ (str | Unset): Stored at or after this time; an hour ago by default.
        to (str | Unset): Stored before the end of the minute of this time; now by default.
        limit (int | Unset): Length of the page, at most 1000. Default: 200.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | MessageList]
    """

    kwargs = _get_kwargs(
        queue=queue,
        partition=partition,
        namespace=namespace,
        ns=ns,
        task=task,
        status=status,
        from_=from_,
        to=to,
        limit=limit,
        offset=offset,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    queue: str | Unset = UNSET,
    partition: str | Unset = UNSET,
    namespace: str | Unset = UNSET,
    ns: str | Unset = UNSET,
    task: str | Unset = UNSET,
    status: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    limit: int | Unset = 200,
    offset: int | Unset = 0,
) -> Error | MessageList | None:
    """Browse messages, newest first

     Those of the last hour, unless from says otherwise. A status is that of the consumers without a
    group; a message that any group gave up on is dead_letter. Looks at the 10000 partitions written
    last.

    Args:
        queue (str | Unset): Only of this queue.
        partition (str | Unset): Only of partitions with this name.
        namespace (str | Unset): Only of queues with this label.
        ns (str | Unset): The same as namespace.
        task (str | Unset): Only of queues with this label.
        status (str | Unset): Only with this status: pending, processing, completed or
            dead_letter.
        from_ (str | Unset): Stored at or after this time; an hour ago by default.
        to (str | Unset): Stored before the end of the minute of this time; now by default.
        limit (int | Unset): Length of the page, at most 1000. Default: 200.
        offset (int | Unset): How many to pass over. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | MessageList
    """

    return (
        await asyncio_detailed(
            client=client,
            queue=queue,
            partition=partition,
            namespace=namespace,
            ns=ns,
            task=task,
            status=status,
            from_=from_,
            to=to,
            limit=limit,
            offset=offset,
        )
    ).parsed
