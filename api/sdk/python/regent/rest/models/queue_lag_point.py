from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="QueueLagPoint")


@_attrs_define
class QueueLagPoint:
    """
    Attributes:
        avg_lag_ms (float | None): Average age at delivery; null when nothing was delivered.
        bucket_minutes (int):
        bucket_time (datetime.datetime):
        max_lag_ms (int | None):
        pop_count (int): Messages delivered.
        queue_name (str):
    """

    avg_lag_ms: float | None
    bucket_minutes: int
    bucket_time: datetime.datetime
    max_lag_ms: int | None
    pop_count: int
    queue_name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        avg_lag_ms: float | None
        avg_lag_ms = self.avg_lag_ms

        bucket_minutes = self.bucket_minutes

        bucket_time = self.bucket_time.isoformat()

        max_lag_ms: int | None
        max_lag_ms = self.max_lag_ms

        pop_count = self.pop_count

        queue_name = self.queue_name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "avgLagMs": avg_lag_ms,
                "bucketMinutes": bucket_minutes,
                "bucketTime": bucket_time,
                "maxLagMs": max_lag_ms,
                "popCount": pop_count,
                "queueName": queue_name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_avg_lag_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        avg_lag_ms = _parse_avg_lag_ms(d.pop("avgLagMs"))

        bucket_minutes = d.pop("bucketMinutes")

        bucket_time = datetime.datetime.fromisoformat(d.pop("bucketTime"))

        def _parse_max_lag_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_lag_ms = _parse_max_lag_ms(d.pop("maxLagMs"))

        pop_count = d.pop("popCount")

        queue_name = d.pop("queueName")

        queue_lag_point = cls(
            avg_lag_ms=avg_lag_ms,
            bucket_minutes=bucket_minutes,
            bucket_time=bucket_time,
            max_lag_ms=max_lag_ms,
            pop_count=pop_count,
            queue_name=queue_name,
        )

        queue_lag_point.additional_properties = d
        return queue_lag_point

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
