from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.system_replica import SystemReplica
    from ..models.time_range import TimeRange


T = TypeVar("T", bound="SystemMetrics")


@_attrs_define
class SystemMetrics:
    """
    Attributes:
        bucket_minutes (int):
        point_count (int):
        replica_count (int):
        replicas (list[SystemReplica]):
        time_range (TimeRange):
    """

    bucket_minutes: int
    point_count: int
    replica_count: int
    replicas: list[SystemReplica]
    time_range: TimeRange
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bucket_minutes = self.bucket_minutes

        point_count = self.point_count

        replica_count = self.replica_count

        replicas = []
        for replicas_item_data in self.replicas:
            replicas_item = replicas_item_data.to_dict()
            replicas.append(replicas_item)

        time_range = self.time_range.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bucketMinutes": bucket_minutes,
                "pointCount": point_count,
                "replicaCount": replica_count,
                "replicas": replicas,
                "timeRange": time_range,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.system_replica import SystemReplica  # noqa: PLC0415
        from ..models.time_range import TimeRange  # noqa: PLC0415

        d = dict(src_dict)
        bucket_minutes = d.pop("bucketMinutes")

        point_count = d.pop("pointCount")

        replica_count = d.pop("replicaCount")

        replicas = []
        _replicas = d.pop("replicas")
        for replicas_item_data in _replicas:
            replicas_item = SystemReplica.from_dict(replicas_item_data)

            replicas.append(replicas_item)

        time_range = TimeRange.from_dict(d.pop("timeRange"))

        system_metrics = cls(
            bucket_minutes=bucket_minutes,
            point_count=point_count,
            replica_count=replica_count,
            replicas=replicas,
            time_range=time_range,
        )

        system_metrics.additional_properties = d
        return system_metrics

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
