from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.queue_liveness import QueueLiveness


T = TypeVar("T", bound="PartitionLiveness")


@_attrs_define
class PartitionLiveness:
    """
    Attributes:
        captured_at (datetime.datetime):
        rows (list[QueueLiveness]): Most partitions first.
    """

    captured_at: datetime.datetime
    rows: list[QueueLiveness]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        captured_at = self.captured_at.isoformat()

        rows = []
        for rows_item_data in self.rows:
            rows_item = rows_item_data.to_dict()
            rows.append(rows_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "capturedAt": captured_at,
                "rows": rows,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.queue_liveness import QueueLiveness  # noqa: PLC0415

        d = dict(src_dict)
        captured_at = datetime.datetime.fromisoformat(d.pop("capturedAt"))

        rows = []
        _rows = d.pop("rows")
        for rows_item_data in _rows:
            rows_item = QueueLiveness.from_dict(rows_item_data)

            rows.append(rows_item)

        partition_liveness = cls(
            captured_at=captured_at,
            rows=rows,
        )

        partition_liveness.additional_properties = d
        return partition_liveness

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
