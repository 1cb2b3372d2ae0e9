from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.fetch_entry import FetchEntry


T = TypeVar("T", bound="FetchRequest")


@_attrs_define
class FetchRequest:
    """
    Attributes:
        entries (list[FetchEntry]): What to read, answered in this order.
        max_wait_ms (int | Unset): Longest wait for minBytes, in milliseconds; kept within 0 and 30000.
        min_bytes (int | Unset): Payload bytes, of all entries, that end the wait. 0: never wait. Default: 1.
    """

    entries: list[FetchEntry]
    max_wait_ms: int | Unset = UNSET
    min_bytes: int | Unset = 1
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entries = []
        for entries_item_data in self.entries:
            entries_item = entries_item_data.to_dict()
            entries.append(entries_item)

        max_wait_ms = self.max_wait_ms

        min_bytes = self.min_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "entries": entries,
            }
        )
        if max_wait_ms is not UNSET:
            field_dict["maxWaitMs"] = max_wait_ms
        if min_bytes is not UNSET:
            field_dict["minBytes"] = min_bytes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fetch_entry import FetchEntry  # noqa: PLC0415

        d = dict(src_dict)
        entries = []
        _entries = d.pop("entries")
        for entries_item_data in _entries:
            entries_item = FetchEntry.from_dict(entries_item_data)

            entries.append(entries_item)

        max_wait_ms = d.pop("maxWaitMs", UNSET)

        min_bytes = d.pop("minBytes", UNSET)

        fetch_request = cls(
            entries=entries,
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
        )

        fetch_request.additional_properties = d
        return fetch_request

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
