from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.queue_ops_point import QueueOpsPoint
    from ..models.time_range import TimeRange


T = TypeVar("T", bound="QueueOps")


@_attrs_define
class QueueOps:
    """
    Attributes:
        bucket_minutes (int):
        queues (list[str]):
        series (list[QueueOpsPoint]): Oldest first.
        time_range (TimeRange):
    """

    bucket_minutes: int
    queues: list[str]
    series: list[QueueOpsPoint]
    time_range: TimeRange
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bucket_minutes = self.bucket_minutes

        queues = self.queues

        series = []
        for series_item_data in self.series:
            series_item = series_item_data.to_dict()
            series.append(series_item)

        time_range = self.time_range.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bucketMinutes": bucket_minutes,
                "queues": queues,
                "series": series,
                "timeRange": time_range,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.queue_ops_point import QueueOpsPoint  # noqa: PLC0415
        from ..models.time_range import TimeRange  # noqa: PLC0415

        d = dict(src_dict)
        bucket_minutes = d.pop("bucketMinutes")

        queues = cast(list[str], d.pop("queues"))

        series = []
        _series = d.pop("series")
        for series_item_data in _series:
            series_item = QueueOpsPoint.from_dict(series_item_data)

            series.append(series_item)

        time_range = TimeRange.from_dict(d.pop("timeRange"))

        queue_ops = cls(
            bucket_minutes=bucket_minutes,
            queues=queues,
            series=series,
            time_range=time_range,
        )

        queue_ops.additional_properties = d
        return queue_ops

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
