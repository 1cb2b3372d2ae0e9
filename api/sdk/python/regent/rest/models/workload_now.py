from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WorkloadNow")


@_attrs_define
class WorkloadNow:
    """
    Attributes:
        dead_letter (int):
        groups (int): Groups that read or have subscribed, counted for each queue; reading without a group is one too.
        partitions (int):
        pending (int):
        pending_without_group (int): Pending messages of these.
        processing (int):
        queues_active (int): Queues of which messages were stored or delivered in the range.
        queues_touched (int): Queues with any request in the range, empty pops included.
        queues_without_group (int): Queues that nobody reads.
        retained_bytes (int):
    """

    dead_letter: int
    groups: int
    partitions: int
    pending: int
    pending_without_group: int
    processing: int
    queues_active: int
    queues_touched: int
    queues_without_group: int
    retained_bytes: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        dead_letter = self.dead_letter

        groups = self.groups

        partitions = self.partitions

        pending = self.pending

        pending_without_group = self.pending_without_group

        processing = self.processing

        queues_active = self.queues_active

        queues_touched = self.queues_touched

        queues_without_group = self.queues_without_group

        retained_bytes = self.retained_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "deadLetter": dead_letter,
                "groups": groups,
                "partitions": partitions,
                "pending": pending,
                "pendingWithoutGroup": pending_without_group,
                "processing": processing,
                "queuesActive": queues_active,
                "queuesTouched": queues_touched,
                "queuesWithoutGroup": queues_without_group,
                "retainedBytes": retained_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        dead_letter = d.pop("deadLetter")

        groups = d.pop("groups")

        partitions = d.pop("partitions")

        pending = d.pop("pending")

        pending_without_group = d.pop("pendingWithoutGroup")

        processing = d.pop("processing")

        queues_active = d.pop("queuesActive")

        queues_touched = d.pop("queuesTouched")

        queues_without_group = d.pop("queuesWithoutGroup")

        retained_bytes = d.pop("retainedBytes")

        workload_now = cls(
            dead_letter=dead_letter,
            groups=groups,
            partitions=partitions,
            pending=pending,
            pending_without_group=pending_without_group,
            processing=processing,
            queues_active=queues_active,
            queues_touched=queues_touched,
            queues_without_group=queues_without_group,
            retained_bytes=retained_bytes,
        )

        workload_now.additional_properties = d
        return workload_now

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
