from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ThroughputPoint")


@_attrs_define
class ThroughputPoint:
    """
    Attributes:
        ack_failed (int):
        avg_event_loop_lag_ms (float):
        avg_lag_ms (float | None): Age of messages when they were delivered; null without deliveries.
        db_errors (int):
        db_pool_active (float):
        db_pool_idle (float):
        db_pool_size (float):
        dlq_count (int):
        ingested (int): Messages pushed.
        ingested_per_second (float):
        max_event_loop_lag_ms (float):
        max_lag_ms (float | None):
        min_free_slots (float):
        pop_messages (int): Messages delivered.
        pop_per_second (float):
        processed (int): Messages acknowledged.
        processed_per_second (float):
        queen_cpu_sys_pct (float):
        queen_cpu_user_pct (float):
        queen_rss_mb (float):
        timestamp (datetime.datetime): Begin of the bucket.
    """

    ack_failed: int
    avg_event_loop_lag_ms: float
    avg_lag_ms: float | None
    db_errors: int
    db_pool_active: float
    db_pool_idle: float
    db_pool_size: float
    dlq_count: int
    ingested: int
    ingested_per_second: float
    max_event_loop_lag_ms: float
    max_lag_ms: float | None
    min_free_slots: float
    pop_messages: int
    pop_per_second: float
    processed: int
    processed_per_second: float
    queen_cpu_sys_pct: float
    queen_cpu_user_pct: float
    queen_rss_mb: float
    timestamp: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ack_failed = self.ack_failed

        avg_event_loop_lag_ms = self.avg_event_loop_lag_ms

        avg_lag_ms: float | None
        avg_lag_ms = self.avg_lag_ms

        db_errors = self.db_errors

        db_pool_active = self.db_pool_active

        db_pool_idle = self.db_pool_idle

        db_pool_size = self.db_pool_size

        dlq_count = self.dlq_count

        ingested = self.ingested

        ingested_per_second = self.ingested_per_second

        max_event_loop_lag_ms = self.max_event_loop_lag_ms

        max_lag_ms: float | None
        max_lag_ms = self.max_lag_ms

        min_free_slots = self.min_free_slots

        pop_messages = self.pop_messages

        pop_per_second = self.pop_per_second

        processed = self.processed

        processed_per_second = self.processed_per_second

        queen_cpu_sys_pct = self.queen_cpu_sys_pct

        queen_cpu_user_pct = self.queen_cpu_user_pct

        queen_rss_mb = self.queen_rss_mb

        timestamp = self.timestamp.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ackFailed": ack_failed,
                "avgEventLoopLagMs": avg_event_loop_lag_ms,
                "avgLagMs": avg_lag_ms,
                "dbErrors": db_errors,
                "dbPoolActive": db_pool_active,
                "dbPoolIdle": db_pool_idle,
                "dbPoolSize": db_pool_size,
                "dlqCount": dlq_count,
                "ingested": ingested,
                "ingestedPerSecond": ingested_per_second,
                "maxEventLoopLagMs": max_event_loop_lag_ms,
                "maxLagMs": max_lag_ms,
                "minFreeSlots": min_free_slots,
                "popMessages": pop_messages,
                "popPerSecond": pop_per_second,
                "processed": processed,
                "processedPerSecond": processed_per_second,
                "queenCpuSysPct": queen_cpu_sys_pct,
                "queenCpuUserPct": queen_cpu_user_pct,
                "queenRssMb": queen_rss_mb,
                "timestamp": timestamp,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ack_failed = d.pop("ackFailed")

        avg_event_loop_lag_ms = d.pop("avgEventLoopLagMs")

        def _parse_avg_lag_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        avg_lag_ms = _parse_avg_lag_ms(d.pop("avgLagMs"))

        db_errors = d.pop("dbErrors")

        db_pool_active = d.pop("dbPoolActive")

        db_pool_idle = d.pop("dbPoolIdle")

        db_pool_size = d.pop("dbPoolSize")

        dlq_count = d.pop("dlqCount")

        ingested = d.pop("ingested")

        ingested_per_second = d.pop("ingestedPerSecond")

        max_event_loop_lag_ms = d.pop("maxEventLoopLagMs")

        def _parse_max_lag_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        max_lag_ms = _parse_max_lag_ms(d.pop("maxLagMs"))

        min_free_slots = d.pop("minFreeSlots")

        pop_messages = d.pop("popMessages")

        pop_per_second = d.pop("popPerSecond")

        processed = d.pop("processed")

        processed_per_second = d.pop("processedPerSecond")

        queen_cpu_sys_pct = d.pop("queenCpuSysPct")

        queen_cpu_user_pct = d.pop("queenCpuUserPct")

        queen_rss_mb = d.pop("queenRssMb")

        timestamp = datetime.datetime.fromisoformat(d.pop("timestamp"))

        throughput_point = cls(
            ack_failed=ack_failed,
            avg_event_loop_lag_ms=avg_event_loop_lag_ms,
            avg_lag_ms=avg_lag_ms,
            db_errors=db_errors,
            db_pool_active=db_pool_active,
            db_pool_idle=db_pool_idle,
            db_pool_size=db_pool_size,
            dlq_count=dlq_count,
            ingested=ingested,
            ingested_per_second=ingested_per_second,
            max_event_loop_lag_ms=max_event_loop_lag_ms,
            max_lag_ms=max_lag_ms,
            min_free_slots=min_free_slots,
            pop_messages=pop_messages,
            pop_per_second=pop_per_second,
            processed=processed,
            processed_per_second=processed_per_second,
            queen_cpu_sys_pct=queen_cpu_sys_pct,
            queen_cpu_user_pct=queen_cpu_user_pct,
            queen_rss_mb=queen_rss_mb,
            timestamp=timestamp,
        )

        throughput_point.additional_properties = d
        return throughput_point

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
