from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PushSwitchResult")


@_attrs_define
class PushSwitchResult:
    """
    Attributes:
        buffer_healthy (bool):
        buffered_messages (int):
        maintenance_mode (bool):
        message (str):
    """

    buffer_healthy: bool
    buffered_messages: int
    maintenance_mode: bool
    message: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        buffer_healthy = self.buffer_healthy

        buffered_messages = self.buffered_messages

        maintenance_mode = self.maintenance_mode

        message = self.message

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bufferHealthy": buffer_healthy,
                "bufferedMessages": buffered_messages,
                "maintenanceMode": maintenance_mode,
                "message": message,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        buffer_healthy = d.pop("bufferHealthy")

        buffered_messages = d.pop("bufferedMessages")

        maintenance_mode = d.pop("maintenanceMode")

        message = d.pop("message")

        push_switch_result = cls(
            buffer_healthy=buffer_healthy,
            buffered_messages=buffered_messages,
            maintenance_mode=maintenance_mode,
            message=message,
        )

        push_switch_result.additional_properties = d
        return push_switch_result

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
