from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WorkerStatus")


@_attrs_define
class WorkerStatus:
    """
    Attributes:
        avg_event_loop_lag_ms (float):
        backoff_size (int | None): Always null.
        db_connections (int):
        free_slots (int):
        hostname (str):
        job_queue_size (int | None): Always null.
        last_seen (datetime.datetime):
        max_event_loop_lag_ms (int):
        messages_processed (int): Stored, delivered and acknowledged.
        worker_id (int):
    """

    avg_event_loop_lag_ms: float
    backoff_size: int | None
    db_connections: int
    free_slots: int
    hostname: str
    job_queue_size: int | None
    last_seen: datetime.datetime
    max_event_loop_lag_ms: int
    messages_processed: int
    worker_id: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        avg_event_loop_lag_ms = self.avg_event_loop_lag_ms

        backoff_size: int | None
        backoff_size = self.backoff_size

        db_connections = self.db_connections

        free_slots = self.free_slots

        hostname = self.hostname

        job_queue_size: int | None
        job_queue_size = self.job_queue_size

        last_seen = self.last_seen.isoformat()

        max_event_loop_lag_ms = self.max_event_loop_lag_ms

        messages_processed = self.messages_processed

        worker_id = self.worker_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "avgEventLoopLagMs": avg_event_loop_lag_ms,
                "backoffSize": backoff_size,
                "dbConnections": db_connections,
                "freeSlots": free_slots,
                "hostname": hostname,
                "jobQueueSize": job_queue_size,
                "lastSeen": last_seen,
                "maxEventLoopLagMs": max_event_loop_lag_ms,
                "messagesProcessed": messages_processed,
                "workerId": worker_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        avg_event_loop_lag_ms = d.pop("avgEventLoopLagMs")

        def _parse_backoff_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        backoff_size = _parse_backoff_size(d.pop("backoffSize"))

        db_connections = d.pop("dbConnections")

        free_slots = d.pop("freeSlots")

        hostname = d.pop("hostname")

        def _parse_job_queue_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        job_queue_size = _parse_job_queue_size(d.pop("jobQueueSize"))

        last_seen = datetime.datetime.fromisoformat(d.pop("lastSeen"))

        max_event_loop_lag_ms = d.pop("maxEventLoopLagMs")

        messages_processed = d.pop("messagesProcessed")

        worker_id = d.pop("workerId")

        worker_status = cls(
            avg_event_loop_lag_ms=avg_event_loop_lag_ms,
            backoff_size=backoff_size,
            db_connections=db_connections,
            free_slots=free_slots,
            hostname=hostname,
            job_queue_size=job_queue_size,
            last_seen=last_seen,
            max_event_loop_lag_ms=max_event_loop_lag_ms,
            messages_processed=messages_processed,
            worker_id=worker_id,
        )

        worker_status.additional_properties = d
        return worker_status

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
