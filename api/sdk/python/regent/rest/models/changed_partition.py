from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ChangedPartition")


@_attrs_define
class ChangedPartition:
    """
    Attributes:
        last_offset (int): The last offset that was given, -1 before the first.
        last_write_at (datetime.datetime): Up to a second before the newest message.
        log_start (int): The oldest offset that is still there.
        name (str):
    """

    last_offset: int
    last_write_at: datetime.datetime
    log_start: int
    name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        last_offset = self.last_offset

        last_write_at = self.last_write_at.isoformat()

        log_start = self.log_start

        name = self.name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lastOffset": last_offset,
                "lastWriteAt": last_write_at,
                "logStart": log_start,
                "name": name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        last_offset = d.pop("lastOffset")

        last_write_at = datetime.datetime.fromisoformat(d.pop("lastWriteAt"))

        log_start = d.pop("logStart")

        name = d.pop("name")

        changed_partition = cls(
            last_offset=last_offset,
            last_write_at=last_write_at,
            log_start=log_start,
            name=name,
        )

        changed_partition.additional_properties = d
        return changed_partition

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
