from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FailedFiles")


@_attrs_define
class FailedFiles:
    """
    Attributes:
        count (int):
        failover_count (int):
        qos_0_count (int):
        total_bytes (int):
        total_mb (float):
    """

    count: int
    failover_count: int
    qos_0_count: int
    total_bytes: int
    total_mb: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        failover_count = self.failover_count

        qos_0_count = self.qos_0_count

        total_bytes = self.total_bytes

        total_mb = self.total_mb

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "count": count,
                "failoverCount": failover_count,
                "qos0Count": qos_0_count,
                "totalBytes": total_bytes,
                "totalMB": total_mb,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        count = d.pop("count")

        failover_count = d.pop("failoverCount")

        qos_0_count = d.pop("qos0Count")

        total_bytes = d.pop("totalBytes")

        total_mb = d.pop("totalMB")

        failed_files = cls(
            count=count,
            failover_count=failover_count,
            qos_0_count=qos_0_count,
            total_bytes=total_bytes,
            total_mb=total_mb,
        )

        failed_files.additional_properties = d
        return failed_files

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
