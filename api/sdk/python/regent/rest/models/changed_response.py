from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.changed_entry import ChangedEntry


T = TypeVar("T", bound="ChangedResponse")


@_attrs_define
class ChangedResponse:
    """
    Attributes:
        entries (list[ChangedEntry]):
        safe_time (datetime.datetime): No message with an earlier time can become visible any more. Once next is null,
            take it as the next since.
        safe_time_degraded (bool): Some transactions cannot be seen (masked by privileges, or prepared), so safeTime is
            a floor that the server noted before any of them.
        safe_time_held_by (str | Unset): What holds safeTime back, when it is more than five seconds old.
    """

    entries: list[ChangedEntry]
    safe_time: datetime.datetime
    safe_time_degraded: bool
    safe_time_held_by: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entries = []
        for entries_item_data in self.entries:
            entries_item = entries_item_data.to_dict()
            entries.append(entries_item)

        safe_time = self.safe_time.isoformat()

        safe_time_degraded = self.safe_time_degraded

        safe_time_held_by = self.safe_time_held_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "entries": entries,
                "safeTime": safe_time,
                "safeTimeDegraded": safe_time_degraded,
            }
        )
        if safe_time_held_by is not UNSET:
            field_dict["safeTimeHeldBy"] = safe_time_held_by

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.changed_entry import ChangedEntry  # noqa: PLC0415

        d = dict(src_dict)
        entries = []
        _entries = d.pop("entries")
        for entries_item_data in _entries:
            entries_item = ChangedEntry.from_dict(entries_item_data)

            entries.append(entries_item)

        safe_time = datetime.datetime.fromisoformat(d.pop("safeTime"))

        safe_time_degraded = d.pop("safeTimeDegraded")

        safe_time_held_by = d.pop("safeTimeHeldBy", UNSET)

        changed_response = cls(
            entries=entries,
            safe_time=safe_time,
            safe_time_degraded=safe_time_degraded,
            safe_time_held_by=safe_time_held_by,
        )

        changed_response.additional_properties = d
        return changed_response

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
