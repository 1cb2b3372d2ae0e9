from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RetentionRuleDone")


@_attrs_define
class RetentionRuleDone:
    """
    Attributes:
        bytes_ (int): As sent.
        messages (int):
        rows (int): Segments.
        unread (int): Of them, those that some group had not consumed.
    """

    bytes_: int
    messages: int
    rows: int
    unread: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bytes_ = self.bytes_

        messages = self.messages

        rows = self.rows

        unread = self.unread

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bytes": bytes_,
                "messages": messages,
                "rows": rows,
                "unread": unread,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        bytes_ = d.pop("bytes")

        messages = d.pop("messages")

        rows = d.pop("rows")

        unread = d.pop("unread")

        retention_rule_done = cls(
            bytes_=bytes_,
            messages=messages,
            rows=rows,
            unread=unread,
        )

        retention_rule_done.additional_properties = d
        return retention_rule_done

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
