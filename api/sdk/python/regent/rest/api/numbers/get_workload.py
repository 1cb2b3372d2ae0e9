from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error import Error
from ...models.workload import Workload
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    group_by: str | Unset = "namespace",
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    queue: str | Unset = UNSET,
) -> dict[str, Any]:
    params: dict[str, Any] = {}

    params["from"] = from_

    params["to"] = to

    params["groupBy"] = group_by

    params["namespace"] = namespace

    params["task"] = task

    params["queue"] = queue

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/workload",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | Workload | None:
    if response.status_code == 200:
        response_200 = Workload.from_dict(response.json())

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
) -> Response[Error | Workload]:
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
    group_by: str | Unset = "namespace",
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    queue: str | Unset = UNSET,
) -> Response[Error | Workload]:
    """What was done and what is owed, by namespace, task or queue

     A bucket is a minute wide up to an hour, then 5 minutes (6 hours), 15 (a day), 60 (a week) and 360.
    What servers did is known up to their last flush (METRICS_FLUSH_MS). At most the 1,000 rows with the
    most messages pushed are shown; tenant covers all queues.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        group_by (str | Unset): namespace, task or queue. Anything else is refused. Default:
            'namespace'.
        namespace (str | Unset): Only queues with this label, in rows.
        task (str | Unset): Only queues with this label, in rows.
        queue (str | Unset): Only this queue, in rows.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Workload]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        group_by=group_by,
        namespace=namespace,
        task=task,
        queue=queue,
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
    group_by: str | Unset = "namespace",
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    queue: str | Unset = UNSET,
) -> Error | Workload | None:
    """What was done and what is owed, by namespace, task or queue

     A bucket is a minute wide up to an hour, then 5 minutes (6 hours), 15 (a day), 60 (a week) and 360.
    What servers did is known up to their last flush (METRICS_FLUSH_MS). At most the 1,000 rows with the
    most messages pushed are shown; tenant covers all queues.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        group_by (str | Unset): namespace, task or queue. Anything else is refused. Default:
            'namespace'.
        namespace (str | Unset): Only queues with this label, in rows.
        task (str | Unset): Only queues with this label, in rows.
        queue (str | Unset): Only this queue, in rows.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Workload
    """

    return sync_detailed(
        client=client,
        from_=from_,
        to=to,
        group_by=group_by,
        namespace=namespace,
        task=task,
        queue=queue,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    group_by: str | Unset = "namespace",
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    queue: str | Unset = UNSET,
) -> Response[Error | Workload]:
    """What was done and what is owed, by namespace, task or queue

     A bucket is a minute wide up to an hour, then 5 minutes (6 hours), 15 (a day), 60 (a week) and 360.
    What servers did is known up to their last flush (METRICS_FLUSH_MS). At most the 1,000 rows with the
    most messages pushed are shown; tenant covers all queues.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        group_by (str | Unset): namespace, task or queue. Anything else is refused. Default:
            'namespace'.
        namespace (str | Unset): Only queues with this label, in rows.
        task (str | Unset): Only queues with this label, in rows.
        queue (str | Unset): Only this queue, in rows.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Workload]
    """

    kwargs = _get_kwargs(
        from_=from_,
        to=to,
        group_by=group_by,
        namespace=namespace,
        task=task,
        queue=queue,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    group_by: str | Unset = "namespace",
    namespace: str | Unset = UNSET,
    task: str | Unset = UNSET,
    queue: str | Unset = UNSET,
) -> Error | Workload | None:
    """What was done and what is owed, by namespace, task or queue

     A bucket is a minute wide up to an hour, then 5 minutes (6 hours), 15 (a day), 60 (a week) and 360.
    What servers did is known up to their last flush (METRICS_FLUSH_MS). At most the 1,000 rows with the
    most messages pushed are shown; tenant covers all queues.

    Args:
        from_ (str | Unset): Begin of the range; an hour ago by default.
        to (str | Unset): End of the range; now by default.
        group_by (str | Unset): namespace, task or queue. Anything else is refused. Default:
            'namespace'.
        namespace (str | Unset): Only queues with this label, in rows.
        task (str | Unset): Only queues with this label, in rows.
        queue (str | Unset): Only this queue, in rows.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Workload
    """

    return (
        await asyncio_detailed(
            client=client,
            from_=from_,
            to=to,
            group_by=group_by,
            namespace=namespace,
            task=task,
            queue=queue,
        )
    ).parsed
