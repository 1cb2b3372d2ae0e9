"""The Python client of Regent.

Everything in regent.rest is generated from the OpenAPI document and has every
route. This module adds what one writes around it: a consume loop that renews its
leases, batching, retries, and a stop that gives back what was not worked on.
"""

import http
import json
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from .rest.api.messages import ack_batch, extend_lease, pop_queue, push
from .rest.client import AuthenticatedClient, Client
from .rest.models.ack_batch_request import AckBatchRequest
from .rest.models.ack_item import AckItem
from .rest.models.extend_request import ExtendRequest
from .rest.models.popped_message import PoppedMessage
from .rest.models.push_item import PushItem
from .rest.models.push_request import PushRequest
from .rest.models.push_result import PushResult
from .rest.types import UNSET, Response

__all__ = ["Batcher", "DeadLetter", "Item", "Message", "Regent", "RegentError", "check"]


class RegentError(Exception):
    """An answer of the server that is not a success.

    status is the HTTP status, code a stable word such as QN404, retryable says
    that the same call may work later and nothing was done, after how many seconds
    the server asks to wait.
    """

    def __init__(self, text: str, status: int, code: str = "", retryable: bool = False, after: float = 0):
        super().__init__(f"{text} ({status} {code})".strip())
        self.text, self.status, self.code, self.retryable, self.after = text, status, code, retryable, after


class DeadLetter(Exception):
    """Raised by a handler: move the message to the dead letters at once."""


@dataclass
class Item:
    """One message to be pushed. Without an id one is drawn, so that a repeated push stores nothing twice."""

    value: Any
    partition: str | None = None
    id: str | None = None
    key: str | None = None


@dataclass
class Message:
    """A delivered message: its decoded payload, and everything that came with it."""

    value: Any
    info: PoppedMessage


class Regent:
    """Calls one Regent server; safe for use by many threads.

    tries bounds how often a call that fails for a reason that may pass is made.
    """

    def __init__(self, url: str, token: str | None = None, tries: int = 8, timeout: float = 90):
        limits = httpx.Timeout(timeout)
        if token:
            self.rest: Client | AuthenticatedClient = AuthenticatedClient(base_url=url, token=token, timeout=limits)
        else:
            self.rest = Client(base_url=url, timeout=limits)
        self.rest.get_httpx_client().event_hooks = {"response": [_refuse_pages]}
        self._tries = max(tries, 1)

    def push(self, queue: str, *items: Item) -> list[PushResult]:
        """Store messages of one queue in order; returns when they are durable, or
        buffered durably by the server while its database is away."""
        body = PushRequest(
            items=[
                PushItem(
                    queue=queue,
                    payload=i.value,
                    partition=UNSET if i.partition is None else i.partition,
                    transaction_id=i.id or _uuid7(),
                    key=UNSET if i.key is None else i.key,
                )
                for i in items
            ]
        )

        def call() -> list[PushResult]:
            results = check(push.sync_detailed(client=self.rest, body=body))
            for r in results:
                if r.status == "failed":
                    raise RegentError(str(r.error or "a message failed"), 201, retryable=True)
            return results

        return self._retry(call)

    def consume(
        self,
        queue: str,
        handle: Callable[[Message], None],
        *,
        group: str | None = None,
        batch: int = 100,
        wait: float = 20,
        lease: float = 60,
        start: str = "all",
        stop: threading.Event | None = None,
    ) -> None:
        """Hand the messages of a queue to handle, one after the other and in order
        inside each partition, until stop is set.

        A message is acknowledged when handle returns. An exception is a failed try,
        and the message comes again until the queue's retryLimit makes a dead letter
        of it. Delivery is at least once. A lease (seconds) is renewed while handle
        works. After stop the running handle gets to its end and the rest is given
        back without a charge.
        """
        stop = stop or threading.Event()
        seconds = max(int(lease), 1)
        while not stop.is_set():
            got = self._retry(
                lambda: check(
                    pop_queue.sync_detailed(
                        queue,
                        client=self.rest,
                        batch=batch,
                        wait=True,
                        timeout=int(wait * 1000),
                        lease_seconds=seconds,
                        consumer_group=UNSET if group is None else group,
                        subscription_mode=start,
                    )
                ),
                stop,
            )
            if got is not None and got.messages:
                self._work(got.lease_id, got.messages, seconds, group, handle, stop)

    def _work(
        self,
        lease: str,
        messages: list[PoppedMessage],
        seconds: int,
        group: str | None,
        handle: Callable[[Message], None],
        stop: threading.Event,
    ) -> None:
        done = threading.Event()

        def renew() -> None:
            while not done.wait(seconds / 3):
                try:
                    extend_lease.sync_detailed(lease, client=self.rest, body=ExtendRequest(seconds=seconds))
                except httpx.HTTPError:
                    pass  # tried again at the next turn; the lease still runs

        renewing = threading.Thread(target=renew, daemon=True)
        renewing.start()
        acks: list[AckItem] = []
        try:
            for m in messages:
                if stop.is_set():
                    acks.append(_ack(m, "retry"))
                    continue
                try:
                    handle(Message(m.data, m))
                    acks.append(_ack(m, "completed"))
                except Exception as error:  # whatever a handler raises is its verdict
                    acks.append(_ack(m, "dlq" if isinstance(error, DeadLetter) else "failed", str(error)))
                    break  # the server gives back what stands behind it
            body = AckBatchRequest(acknowledgments=acks, consumer_group=UNSET if group is None else group)
            self._retry(lambda: check(ack_batch.sync_detailed(client=self.rest, body=body)))
        finally:
            done.set()
            renewing.join()

    def _retry(self, call: Callable[[], Any], stop: threading.Event | None = None) -> Any:
        attempt = 1
        while True:
            try:
                return call()
            except (RegentError, httpx.TransportError) as error:
                passing = not isinstance(error, RegentError) or error.retryable
                if not passing or attempt >= self._tries or (stop is not None and stop.is_set()):
                    raise
                pause = min(0.1 * 2 ** (attempt - 1), 10)
                pause = max(pause / 2 + random.random() * pause / 2, getattr(error, "after", 0))
                time.sleep(pause) if stop is None else stop.wait(pause)
                attempt += 1


class Batcher:
    """Gathers messages of many threads into few pushes: when size came together, or
    linger seconds after the first. Close it to send what is left."""

    def __init__(self, regent: Regent, queue: str, size: int = 500, linger: float = 0.005):
        self._regent, self._queue, self._size, self._linger = regent, queue, size, linger
        self._changed = threading.Condition()
        self._waiting: list[tuple[Item, list[Any]]] = []
        self._closed = False
        self._sender = threading.Thread(target=self._run, daemon=True)
        self._sender.start()

    def push(self, item: Item) -> None:
        """Add a message; returns when it is durable."""
        outcome: list[Any] = []
        with self._changed:
            if self._closed:
                raise ValueError("the batcher is closed")
            self._waiting.append((item, outcome))
            self._changed.notify_all()
            while not outcome:
                self._changed.wait()
        if outcome[0] is not None:
            raise outcome[0]

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return
                deadline = time.monotonic() + self._linger
                while len(self._waiting) < self._size and not self._closed:
                    left = deadline - time.monotonic()
                    if left <= 0 or not self._changed.wait(left):
                        break
                taken, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
            error: BaseException | None = None
            try:
                self._regent.push(self._queue, *[item for item, _ in taken])
            except Exception as e:  # handed to every caller of the batch
                error = e
            with self._changed:
                for _, outcome in taken:
                    outcome.append(error)
                self._changed.notify_all()

    def close(self) -> None:
        """Send what is left and wait for it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._sender.join()


def _ack(m: PoppedMessage, status: str, error: str | None = None) -> AckItem:
    return AckItem(
        transaction_id=m.transaction_id,
        partition_id=str(m.partition_id),
        lease_id=m.lease_id,
        status=status,
        error=UNSET if error is None else error,
    )


def check(response: Response[Any]) -> Any:
    """The body of a success; raises RegentError for every other answer.

    For the generated functions: check(get_queue.sync_detailed("orders", client=regent.rest)).
    """
    if 200 <= response.status_code < 300:
        return response.parsed
    raise _error(response.status_code, response.headers, response.content)


def _error(status: int, headers: Mapping[str, str], content: bytes) -> RegentError:
    try:
        said = json.loads(content)
    except ValueError:
        said = None
    if not isinstance(said, dict):  # a proxy's page, or the items of a push that failed as a whole
        said = {}
    after = headers.get("Retry-After", "0")
    return RegentError(
        said.get("error") or http.HTTPStatus(status).phrase,
        int(status),
        said.get("code", ""),
        bool(said.get("retryable", status in (429, 503))),
        float(after) if after.isdigit() else 0,
    )


def _refuse_pages(response: httpx.Response) -> None:
    """An error that is no JSON comes from something on the way; the generated code cannot read it."""
    if response.status_code >= 400 and not response.headers.get("Content-Type", "").startswith("application/json"):
        raise _error(response.status_code, response.headers, response.read())


def _uuid7() -> str:
    """A time-ordered id, which the server deduplicates cheaply."""
    raw = bytearray(int(time.time() * 1000).to_bytes(6, "big") + os.urandom(10))
    raw[6] = (raw[6] & 0x0F) | 0x70
    raw[8] = (raw[8] & 0x3F) | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
