from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LaggingPartition")


@_attrs_define
class LaggingPartition:
    """
    Attributes:
        consumer_group (str):
        lag_hours (float):
        last_consumed_at (datetime.datetime | None): Always null: it is not kept.
        offset_lag (int): Messages not finished.
        oldest_unconsumed_at (datetime.datetime | None):
        partition_id (UUID):
        partition_name (str):
        queue_name (str):
        time_lag_seconds (int):
        worker_id (None | str): The lease on it, live or not.
    """

    consumer_group: str
    lag_hours: float
    last_consumed_at: datetime.datetime | None
    offset_lag: int
    oldest_unconsumed_at: datetime.datetime | None
    partition_id: UUID
    partition_name: str
    queue_name: str
    time_lag_seconds: int
    worker_id: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        lag_hours = self.lag_hours

        last_consumed_at: None | str
        if isinstance(self.last_consumed_at, datetime.datetime):
            last_consumed_at = self.last_consumed_at.isoformat()
        else:
            last_consumed_at = self.last_consumed_at

        offset_lag = self.offset_lag

        oldest_unconsumed_at: None | str
        if isinstance(self.oldest_unconsumed_at, datetime.datetime):
            oldest_unconsumed_at = self.oldest_unconsumed_at.isoformat()
        else:
            oldest_unconsumed_at = self.oldest_unconsumed_at

        partition_id = str(self.partition_id)

        partition_name = self.partition_name

        queue_name = self.queue_name

        time_lag_seconds = self.time_lag_seconds

        worker_id: None | str
        worker_id = self.worker_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumer_group": consumer_group,
                "lag_hours": lag_hours,
                "last_consumed_at": last_consumed_at,
                "offset_lag": offset_lag,
                "oldest_unconsumed_at": oldest_unconsumed_at,
                "partition_id": partition_id,
                "partition_name": partition_name,
                "queue_name": queue_name,
                "time_lag_seconds": time_lag_seconds,
                "worker_id": worker_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer_group = d.pop("consumer_group")

        lag_hours = d.pop("lag_hours")

        def _parse_last_consumed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_consumed_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_consumed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_consumed_at = _parse_last_consumed_at(d.pop("last_consumed_at"))

        offset_lag = d.pop("offset_lag")

        def _parse_oldest_unconsumed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                oldest_unconsumed_at_type_0 = datetime.datetime.fromisoformat(data)

                return oldest_unconsumed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        oldest_unconsumed_at = _parse_oldest_unconsumed_at(
            d.pop("oldest_unconsumed_at")
        )

        partition_id = UUID(d.pop("partition_id"))

        partition_name = d.pop("partition_name")

        queue_name = d.pop("queue_name")

        time_lag_seconds = d.pop("time_lag_seconds")

        def _parse_worker_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        worker_id = _parse_worker_id(d.pop("worker_id"))

        lagging_partition = cls(
            consumer_group=consumer_group,
            lag_hours=lag_hours,
            last_consumed_at=last_consumed_at,
            offset_lag=offset_lag,
            oldest_unconsumed_at=oldest_unconsumed_at,
            partition_id=partition_id,
            partition_name=partition_name,
            queue_name=queue_name,
            time_lag_seconds=time_lag_seconds,
            worker_id=worker_id,
        )

        lagging_partition.additional_properties = d
        return lagging_partition

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
