from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RetentionCut")


@_attrs_define
class RetentionCut:
    """
    Attributes:
        bytes_ (int):
        first_offset (int):
        last_offset (int):
        messages (int):
        partition (str):
        partition_id (UUID):
        rule (str):
        segments (int):
        unread (int):
    """

    bytes_: int
    first_offset: int
    last_offset: int
    messages: int
    partition: str
    partition_id: UUID
    rule: str
    segments: int
    unread: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bytes_ = self.bytes_

        first_offset = self.first_offset

        last_offset = self.last_offset

        messages = self.messages

        partition = self.partition

        partition_id = str(self.partition_id)

        rule = self.rule

        segments = self.segments

        unread = self.unread

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bytes": bytes_,
                "firstOffset": first_offset,
                "lastOffset": last_offset,
                "messages": messages,
                "partition": partition,
                "partitionId": partition_id,
                "rule": rule,
                "segments": segments,
                "unread": unread,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        bytes_ = d.pop("bytes")

        first_offset = d.pop("firstOffset")

        last_offset = d.pop("lastOffset")

        messages = d.pop("messages")

        partition = d.pop("partition")

        partition_id = UUID(d.pop("partitionId"))

        rule = d.pop("rule")

        segments = d.pop("segments")

        unread = d.pop("unread")

        retention_cut = cls(
            bytes_=bytes_,
            first_offset=first_offset,
            last_offset=last_offset,
            messages=messages,
            partition=partition,
            partition_id=partition_id,
            rule=rule,
            segments=segments,
            unread=unread,
        )

        retention_cut.additional_properties = d
        return retention_cut

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
