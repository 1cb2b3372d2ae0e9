from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ConsumerGroupPartition")


@_attrs_define
class ConsumerGroupPartition:
    """
    Attributes:
        last_consumed_at (datetime.datetime | None): Always null: it is not kept.
        lease_active (bool):
        offset_lag (int): Messages not finished.
        partition (str):
        time_lag_seconds (int):
        total_consumed (int):
        worker_id (None | str): The lease on it, live or not.
    """

    last_consumed_at: datetime.datetime | None
    lease_active: bool
    offset_lag: int
    partition: str
    time_lag_seconds: int
    total_consumed: int
    worker_id: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        last_consumed_at: None | str
        if isinstance(self.last_consumed_at, datetime.datetime):
            last_consumed_at = self.last_consumed_at.isoformat()
        else:
            last_consumed_at = self.last_consumed_at

        lease_active = self.lease_active

        offset_lag = self.offset_lag

        partition = self.partition

        time_lag_seconds = self.time_lag_seconds

        total_consumed = self.total_consumed

        worker_id: None | str
        worker_id = self.worker_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lastConsumedAt": last_consumed_at,
                "leaseActive": lease_active,
                "offsetLag": offset_lag,
                "partition": partition,
                "timeLagSeconds": time_lag_seconds,
                "totalConsumed": total_consumed,
                "workerId": worker_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

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

        last_consumed_at = _parse_last_consumed_at(d.pop("lastConsumedAt"))

        lease_active = d.pop("leaseActive")

        offset_lag = d.pop("offsetLag")

        partition = d.pop("partition")

        time_lag_seconds = d.pop("timeLagSeconds")

        total_consumed = d.pop("totalConsumed")

        def _parse_worker_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        worker_id = _parse_worker_id(d.pop("workerId"))

        consumer_group_partition = cls(
            last_consumed_at=last_consumed_at,
            lease_active=lease_active,
            offset_lag=offset_lag,
            partition=partition,
            time_lag_seconds=time_lag_seconds,
            total_consumed=total_consumed,
            worker_id=worker_id,
        )

        consumer_group_partition.additional_properties = d
        return consumer_group_partition

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
