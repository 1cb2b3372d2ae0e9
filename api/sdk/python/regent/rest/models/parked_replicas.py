from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.parked_point import ParkedPoint
    from ..models.replica import Replica
    from ..models.time_range import TimeRange


T = TypeVar("T", bound="ParkedReplicas")


@_attrs_define
class ParkedReplicas:
    """
    Attributes:
        bucket_minutes (int):
        replicas (list[Replica]):
        series (list[ParkedPoint]): Oldest first.
        time_range (TimeRange):
    """

    bucket_minutes: int
    replicas: list[Replica]
    series: list[ParkedPoint]
    time_range: TimeRange
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bucket_minutes = self.bucket_minutes

        replicas = []
        for replicas_item_data in self.replicas:
            replicas_item = replicas_item_data.to_dict()
            replicas.append(replicas_item)

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
                "replicas": replicas,
                "series": series,
                "timeRange": time_range,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.parked_point import ParkedPoint  # noqa: PLC0415
        from ..models.replica import Replica  # noqa: PLC0415
        from ..models.time_range import TimeRange  # noqa: PLC0415

        d = dict(src_dict)
        bucket_minutes = d.pop("bucketMinutes")

        replicas = []
        _replicas = d.pop("replicas")
        for replicas_item_data in _replicas:
            replicas_item = Replica.from_dict(replicas_item_data)

            replicas.append(replicas_item)

        series = []
        _series = d.pop("series")
        for series_item_data in _series:
            series_item = ParkedPoint.from_dict(series_item_data)

            series.append(series_item)

        time_range = TimeRange.from_dict(d.pop("timeRange"))

        parked_replicas = cls(
            bucket_minutes=bucket_minutes,
            replicas=replicas,
            series=series,
            time_range=time_range,
        )

        parked_replicas.additional_properties = d
        return parked_replicas

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
