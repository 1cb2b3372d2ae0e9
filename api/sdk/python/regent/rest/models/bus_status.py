from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="BusStatus")


@_attrs_define
class BusStatus:
    """
    Attributes:
        consumed_by (int):
        total_groups (int):
    """

    consumed_by: int
    total_groups: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumed_by = self.consumed_by

        total_groups = self.total_groups

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumedBy": consumed_by,
                "totalGroups": total_groups,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumed_by = d.pop("consumedBy")

        total_groups = d.pop("totalGroups")

        bus_status = cls(
            consumed_by=consumed_by,
            total_groups=total_groups,
        )

        bus_status.additional_properties = d
        return bus_status

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
