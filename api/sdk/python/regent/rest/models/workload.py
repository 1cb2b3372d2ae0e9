from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.time_range import TimeRange
    from ..models.workload_row import WorkloadRow
    from ..models.workload_sums import WorkloadSums


T = TypeVar("T", bound="Workload")


@_attrs_define
class Workload:
    """
    Attributes:
        bucket_minutes (int):
        buckets (list[datetime.datetime]): Begin of each bucket in which something was counted on a queue of the tenant,
            oldest first.
        group_by (str):
        rows (list[WorkloadRow]): Most messages pushed first, then by key.
        tenant (WorkloadSums):
        time_range (TimeRange):
    """

    bucket_minutes: int
    buckets: list[datetime.datetime]
    group_by: str
    rows: list[WorkloadRow]
    tenant: WorkloadSums
    time_range: TimeRange
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bucket_minutes = self.bucket_minutes

        buckets = []
        for buckets_item_data in self.buckets:
            buckets_item = buckets_item_data.isoformat()
            buckets.append(buckets_item)

        group_by = self.group_by

        rows = []
        for rows_item_data in self.rows:
            rows_item = rows_item_data.to_dict()
            rows.append(rows_item)

        tenant = self.tenant.to_dict()

        time_range = self.time_range.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bucketMinutes": bucket_minutes,
                "buckets": buckets,
                "groupBy": group_by,
                "rows": rows,
                "tenant": tenant,
                "timeRange": time_range,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.time_range import TimeRange  # noqa: PLC0415
        from ..models.workload_row import WorkloadRow  # noqa: PLC0415
        from ..models.workload_sums import WorkloadSums  # noqa: PLC0415

        d = dict(src_dict)
        bucket_minutes = d.pop("bucketMinutes")

        buckets = []
        _buckets = d.pop("buckets")
        for buckets_item_data in _buckets:
            buckets_item = datetime.datetime.fromisoformat(buckets_item_data)

            buckets.append(buckets_item)

        group_by = d.pop("groupBy")

        rows = []
        _rows = d.pop("rows")
        for rows_item_data in _rows:
            rows_item = WorkloadRow.from_dict(rows_item_data)

            rows.append(rows_item)

        tenant = WorkloadSums.from_dict(d.pop("tenant"))

        time_range = TimeRange.from_dict(d.pop("timeRange"))

        workload = cls(
            bucket_minutes=bucket_minutes,
            buckets=buckets,
            group_by=group_by,
            rows=rows,
            tenant=tenant,
            time_range=time_range,
        )

        workload.additional_properties = d
        return workload

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
