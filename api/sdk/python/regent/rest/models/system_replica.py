from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.system_point import SystemPoint


T = TypeVar("T", bound="SystemReplica")


@_attrs_define
class SystemReplica:
    """
    Attributes:
        hostname (str):
        port (int):
        time_series (list[SystemPoint]): Oldest first.
        worker_id (int):
    """

    hostname: str
    port: int
    time_series: list[SystemPoint]
    worker_id: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        hostname = self.hostname

        port = self.port

        time_series = []
        for time_series_item_data in self.time_series:
            time_series_item = time_series_item_data.to_dict()
            time_series.append(time_series_item)

        worker_id = self.worker_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "hostname": hostname,
                "port": port,
                "timeSeries": time_series,
                "workerId": worker_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.system_point import SystemPoint  # noqa: PLC0415

        d = dict(src_dict)
        hostname = d.pop("hostname")

        port = d.pop("port")

        time_series = []
        _time_series = d.pop("timeSeries")
        for time_series_item_data in _time_series:
            time_series_item = SystemPoint.from_dict(time_series_item_data)

            time_series.append(time_series_item)

        worker_id = d.pop("workerId")

        system_replica = cls(
            hostname=hostname,
            port=port,
            time_series=time_series,
            worker_id=worker_id,
        )

        system_replica.additional_properties = d
        return system_replica

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
