from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ConsumedCursor")


@_attrs_define
class ConsumedCursor:
    """
    Attributes:
        batches_consumed (int): Always 0: batches are not counted.
        total_consumed (int): Messages that all groups together have consumed.
    """

    batches_consumed: int
    total_consumed: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        batches_consumed = self.batches_consumed

        total_consumed = self.total_consumed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "batchesConsumed": batches_consumed,
                "totalConsumed": total_consumed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        batches_consumed = d.pop("batchesConsumed")

        total_consumed = d.pop("totalConsumed")

        consumed_cursor = cls(
            batches_consumed=batches_consumed,
            total_consumed=total_consumed,
        )

        consumed_cursor.additional_properties = d
        return consumed_cursor

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
