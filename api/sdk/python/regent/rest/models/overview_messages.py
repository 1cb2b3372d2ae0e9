from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="OverviewMessages")


@_attrs_define
class OverviewMessages:
    """
    Attributes:
        completed (int): Acknowledged since the beginning; for another tenant, total without pending and dead letters.
        dead_letter (int): Dead-lettered since the beginning; for another tenant, dead letters now.
        failed (int): Acks that said failed since the beginning; for another tenant 0.
        pending (int): Owed to the slowest group of each partition, those being processed included.
        processing (int): Under a live lease.
        total (int): Pushed since the beginning; for another tenant than the default one, kept.
    """

    completed: int
    dead_letter: int
    failed: int
    pending: int
    processing: int
    total: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        completed = self.completed

        dead_letter = self.dead_letter

        failed = self.failed

        pending = self.pending

        processing = self.processing

        total = self.total

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "completed": completed,
                "deadLetter": dead_letter,
                "failed": failed,
                "pending": pending,
                "processing": processing,
                "total": total,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        completed = d.pop("completed")

        dead_letter = d.pop("deadLetter")

        failed = d.pop("failed")

        pending = d.pop("pending")

        processing = d.pop("processing")

        total = d.pop("total")

        overview_messages = cls(
            completed=completed,
            dead_letter=dead_letter,
            failed=failed,
            pending=pending,
            processing=processing,
            total=total,
        )

        overview_messages.additional_properties = d
        return overview_messages

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
