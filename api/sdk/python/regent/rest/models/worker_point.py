from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WorkerPoint")


@_attrs_define
class WorkerPoint:
    """
    Attributes:
        ack_failed (int):
        ack_messages (int):
        ack_per_second (float):
        ack_requests (int):
        ack_success (int):
        avg_event_loop_lag_ms (float): How late a timer of the process came.
        avg_free_slots (float): Free connections of a pool.
        avg_job_queue_size (float | None): Always null.
        avg_lag_ms (float):
        backoff_size (int | None): Always null.
        db_connections (int):
        db_errors (int):
        dlq_count (int):
        jobs_done (int): Database calls that went well.
        lag_count (int):
        max_event_loop_lag_ms (int):
        max_job_queue_size (int | None): Always null.
        max_lag_ms (int):
        min_free_slots (int):
        pop_messages (int):
        pop_per_second (float):
        pop_requests (int):
        push_messages (int):
        push_per_second (float):
        push_requests (int):
        timestamp (datetime.datetime):
    """

    ack_failed: int
    ack_messages: int
    ack_per_second: float
    ack_requests: int
    ack_success: int
    avg_event_loop_lag_ms: float
    avg_free_slots: float
    avg_job_queue_size: float | None
    avg_lag_ms: float
    backoff_size: int | None
    db_connections: int
    db_errors: int
    dlq_count: int
    jobs_done: int
    lag_count: int
    max_event_loop_lag_ms: int
    max_job_queue_size: int | None
    max_lag_ms: int
    min_free_slots: int
    pop_messages: int
    pop_per_second: float
    pop_requests: int
    push_messages: int
    push_per_second: float
    push_requests: int
    timestamp: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ack_failed = self.ack_failed

        ack_messages = self.ack_messages

        ack_per_second = self.ack_per_second

        ack_requests = self.ack_requests

        ack_success = self.ack_success

        avg_event_loop_lag_ms = self.avg_event_loop_lag_ms

        avg_free_slots = self.avg_free_slots

        avg_job_queue_size: float | None
        avg_job_queue_size = self.avg_job_queue_size

        avg_lag_ms = self.avg_lag_ms

        backoff_size: int | None
        backoff_size = self.backoff_size

        db_connections = self.db_connections

        db_errors = self.db_errors

        dlq_count = self.dlq_count

        jobs_done = self.jobs_done

        lag_count = self.lag_count

        max_event_loop_lag_ms = self.max_event_loop_lag_ms

        max_job_queue_size: int | None
        max_job_queue_size = self.max_job_queue_size

        max_lag_ms = self.max_lag_ms

        min_free_slots = self.min_free_slots

        pop_messages = self.pop_messages

        pop_per_second = self.pop_per_second

        pop_requests = self.pop_requests

        push_messages = self.push_messages

        push_per_second = self.push_per_second

        push_requests = self.push_requests

        timestamp = self.timestamp.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ackFailed": ack_failed,
                "ackMessages": ack_messages,
                "ackPerSecond": ack_per_second,
                "ackRequests": ack_requests,
                "ackSuccess": ack_success,
                "avgEventLoopLagMs": avg_event_loop_lag_ms,
                "avgFreeSlots": avg_free_slots,
                "avgJobQueueSize": avg_job_queue_size,
                "avgLagMs": avg_lag_ms,
                "backoffSize": backoff_size,
                "dbConnections": db_connections,
                "dbErrors": db_errors,
                "dlqCount": dlq_count,
                "jobsDone": jobs_done,
                "lagCount": lag_count,
                "maxEventLoopLagMs": max_event_loop_lag_ms,
                "maxJobQueueSize": max_job_queue_size,
                "maxLagMs": max_lag_ms,
                "minFreeSlots": min_free_slots,
                "popMessages": pop_messages,
                "popPerSecond": pop_per_second,
                "popRequests": pop_requests,
                "pushMessages": push_messages,
                "pushPerSecond": push_per_second,
                "pushRequests": push_requests,
                "timestamp": timestamp,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ack_failed = d.pop("ackFailed")

        ack_messages = d.pop("ackMessages")

        ack_per_second = d.pop("ackPerSecond")

        ack_requests = d.pop("ackRequests")

        ack_success = d.pop("ackSuccess")

        avg_event_loop_lag_ms = d.pop("avgEventLoopLagMs")

        avg_free_slots = d.pop("avgFreeSlots")

        def _parse_avg_job_queue_size(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        avg_job_queue_size = _parse_avg_job_queue_size(d.pop("avgJobQueueSize"))

        avg_lag_ms = d.pop("avgLagMs")

        def _parse_backoff_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        backoff_size = _parse_backoff_size(d.pop("backoffSize"))

        db_connections = d.pop("dbConnections")

        db_errors = d.pop("dbErrors")

        dlq_count = d.pop("dlqCount")

        jobs_done = d.pop("jobsDone")

        lag_count = d.pop("lagCount")

        max_event_loop_lag_ms = d.pop("maxEventLoopLagMs")

        def _parse_max_job_queue_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_job_queue_size = _parse_max_job_queue_size(d.pop("maxJobQueueSize"))

        max_lag_ms = d.pop("maxLagMs")

        min_free_slots = d.pop("minFreeSlots")

        pop_messages = d.pop("popMessages")

        pop_per_second = d.pop("popPerSecond")

        pop_requests = d.pop("popRequests")

        push_messages = d.pop("pushMessages")

        push_per_second = d.pop("pushPerSecond")

        push_requests = d.pop("pushRequests")

        timestamp = datetime.datetime.fromisoformat(d.pop("timestamp"))

        worker_point = cls(
            ack_failed=ack_failed,
            ack_messages=ack_messages,
            ack_per_second=ack_per_second,
            ack_requests=ack_requests,
            ack_success=ack_success,
            avg_event_loop_lag_ms=avg_event_loop_lag_ms,
            avg_free_slots=avg_free_slots,
            avg_job_queue_size=avg_job_queue_size,
            avg_lag_ms=avg_lag_ms,
            backoff_size=backoff_size,
            db_connections=db_connections,
            db_errors=db_errors,
            dlq_count=dlq_count,
            jobs_done=jobs_done,
            lag_count=lag_count,
            max_event_loop_lag_ms=max_event_loop_lag_ms,
            max_job_queue_size=max_job_queue_size,
            max_lag_ms=max_lag_ms,
            min_free_slots=min_free_slots,
            pop_messages=pop_messages,
            pop_per_second=pop_per_second,
            pop_requests=pop_requests,
            push_messages=push_messages,
            push_per_second=push_per_second,
            push_requests=push_requests,
            timestamp=timestamp,
        )

        worker_point.additional_properties = d
        return worker_point

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
