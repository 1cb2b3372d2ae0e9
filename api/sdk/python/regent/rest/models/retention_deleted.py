from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.retention_deleted_rules import RetentionDeletedRules


T = TypeVar("T", bound="RetentionDeleted")


@_attrs_define
class RetentionDeleted:
    """
    Attributes:
        completed_retention_msgs (int): By completedRetentionSeconds.
        event_count (int): Steps that deleted.
        eviction_msgs (int): By maxWaitTimeSeconds.
        retention_msgs (int): By retentionSeconds.
        rules (RetentionDeletedRules): The same for each rule that deleted something: retention, completed_retention,
            max_wait_time_eviction, retention_bytes, retention_messages, compaction.
        total_msgs (int): By all rules, limits of size and compaction included.
    """

    completed_retention_msgs: int
    event_count: int
    eviction_msgs: int
    retention_msgs: int
    rules: RetentionDeletedRules
    total_msgs: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        completed_retention_msgs = self.completed_retention_msgs

        event_count = self.event_count

        eviction_msgs = self.eviction_msgs

        retention_msgs = self.retention_msgs

        rules = self.rules.to_dict()

        total_msgs = self.total_msgs

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "completedRetentionMsgs": completed_retention_msgs,
                "eventCount": event_count,
                "evictionMsgs": eviction_msgs,
                "retentionMsgs": retention_msgs,
                "rules": rules,
                "totalMsgs": total_msgs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.retention_deleted_rules import (
            RetentionDeletedRules,  # noqa: PLC0415
        )

        d = dict(src_dict)
        completed_retention_msgs = d.pop("completedRetentionMsgs")

        event_count = d.pop("eventCount")

        eviction_msgs = d.pop("evictionMsgs")

        retention_msgs = d.pop("retentionMsgs")

        rules = RetentionDeletedRules.from_dict(d.pop("rules"))

        total_msgs = d.pop("totalMsgs")

        retention_deleted = cls(
            completed_retention_msgs=completed_retention_msgs,
            event_count=event_count,
            eviction_msgs=eviction_msgs,
            retention_msgs=retention_msgs,
            rules=rules,
            total_msgs=total_msgs,
        )

        retention_deleted.additional_properties = d
        return retention_deleted

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
