from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="StoredCounts")


@_attrs_define
class StoredCounts:
    """
    Attributes:
        completed (int): Total without pending and dead letters.
        dead_letter (int):
        pending (int): Messages owed to the slowest group, those being processed included.
        processing (int): Messages under a live lease.
        total (int): Messages kept, consumed or not.
    """

    completed: int
    dead_letter: int
    pending: int
    processing: int
    total: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        completed = self.completed

        dead_letter = self.dead_letter

        pending = self.pending

        processing = self.processing

        total = self.total

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "completed": completed,
                "deadLetter": dead_letter,
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

        pending = d.pop("pending")

        processing = d.pop("processing")

        total = d.pop("total")

        stored_counts = cls(
            completed=completed,
            dead_letter=dead_letter,
            pending=pending,
            processing=processing,
            total=total,
        )

        stored_counts.additional_properties = d
        return stored_counts

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
