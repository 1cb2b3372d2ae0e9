from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SharedState")


@_attrs_define
class SharedState:
    """
    Attributes:
        enabled (bool): Always false: servers share nothing but the database.
        maintenance_mode (bool):
        pop_maintenance_mode (bool):
        reason (str):
    """

    enabled: bool
    maintenance_mode: bool
    pop_maintenance_mode: bool
    reason: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        enabled = self.enabled

        maintenance_mode = self.maintenance_mode

        pop_maintenance_mode = self.pop_maintenance_mode

        reason = self.reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "enabled": enabled,
                "maintenance_mode": maintenance_mode,
                "pop_maintenance_mode": pop_maintenance_mode,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        enabled = d.pop("enabled")

        maintenance_mode = d.pop("maintenance_mode")

        pop_maintenance_mode = d.pop("pop_maintenance_mode")

        reason = d.pop("reason")

        shared_state = cls(
            enabled=enabled,
            maintenance_mode=maintenance_mode,
            pop_maintenance_mode=pop_maintenance_mode,
            reason=reason,
        )

        shared_state.additional_properties = d
        return shared_state

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
