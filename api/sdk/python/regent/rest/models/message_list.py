from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.browsed_message import BrowsedMessage
    from ..models.message_mode import MessageMode


T = TypeVar("T", bound="MessageList")


@_attrs_define
class MessageList:
    """
    Attributes:
        messages (list[BrowsedMessage]):
        mode (MessageMode):
        total (int): Length of this page.
    """

    messages: list[BrowsedMessage]
    mode: MessageMode
    total: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        messages = []
        for messages_item_data in self.messages:
            messages_item = messages_item_data.to_dict()
            messages.append(messages_item)

        mode = self.mode.to_dict()

        total = self.total

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "messages": messages,
                "mode": mode,
                "total": total,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.browsed_message import BrowsedMessage  # noqa: PLC0415
        from ..models.message_mode import MessageMode  # noqa: PLC0415

        d = dict(src_dict)
        messages = []
        _messages = d.pop("messages")
        for messages_item_data in _messages:
            messages_item = BrowsedMessage.from_dict(messages_item_data)

            messages.append(messages_item)

        mode = MessageMode.from_dict(d.pop("mode"))

        total = d.pop("total")

        message_list = cls(
            messages=messages,
            mode=mode,
            total=total,
        )

        message_list.additional_properties = d
        return message_list

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
