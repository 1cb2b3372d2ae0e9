from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.message_mode_type import MessageModeType

T = TypeVar("T", bound="MessageMode")


@_attrs_define
class MessageMode:
    """
    Attributes:
        bus_groups_count (int): Named groups.
        has_queue_mode (bool): Whether consumers without a group took from it.
        type_ (MessageModeType):
    """

    bus_groups_count: int
    has_queue_mode: bool
    type_: MessageModeType
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bus_groups_count = self.bus_groups_count

        has_queue_mode = self.has_queue_mode

        type_ = self.type_.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "busGroupsCount": bus_groups_count,
                "hasQueueMode": has_queue_mode,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        bus_groups_count = d.pop("busGroupsCount")

        has_queue_mode = d.pop("hasQueueMode")

        type_ = MessageModeType(d.pop("type"))

        message_mode = cls(
            bus_groups_count=bus_groups_count,
            has_queue_mode=has_queue_mode,
            type_=type_,
        )

        message_mode.additional_properties = d
        return message_mode

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
