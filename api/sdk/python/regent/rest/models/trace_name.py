from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TraceName")


@_attrs_define
class TraceName:
    """
    Attributes:
        last_seen (datetime.datetime):
        message_count (int):
        trace_count (int):
        trace_name (str):
    """

    last_seen: datetime.datetime
    message_count: int
    trace_count: int
    trace_name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        last_seen = self.last_seen.isoformat()

        message_count = self.message_count

        trace_count = self.trace_count

        trace_name = self.trace_name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "last_seen": last_seen,
                "message_count": message_count,
                "trace_count": trace_count,
                "trace_name": trace_name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        last_seen = datetime.datetime.fromisoformat(d.pop("last_seen"))

        message_count = d.pop("message_count")

        trace_count = d.pop("trace_count")

        trace_name = d.pop("trace_name")

        trace_name = cls(
            last_seen=last_seen,
            message_count=message_count,
            trace_count=trace_count,
            trace_name=trace_name,
        )

        trace_name.additional_properties = d
        return trace_name

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
