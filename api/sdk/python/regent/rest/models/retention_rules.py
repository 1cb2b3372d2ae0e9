from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RetentionRules")


@_attrs_define
class RetentionRules:
    """
    Attributes:
        age_before (datetime.datetime | None): retentionSeconds: older messages go, read or not.
        completed_before (datetime.datetime | None): completedRetentionSeconds: older messages go that every group has
            consumed.
        evict_before (datetime.datetime | None): maxWaitTimeSeconds: older messages go, whatever holds them.
        hashes_before (datetime.datetime | None): Older transaction ids are forgotten.
        hold (None | str): What decides that: pointer or cap.
        hold_before (datetime.datetime | None): How far a sink lets the first two rules go.
        max_bytes (int | None): retentionBytes.
        max_messages (int | None): retentionMessages.
    """

    age_before: datetime.datetime | None
    completed_before: datetime.datetime | None
    evict_before: datetime.datetime | None
    hashes_before: datetime.datetime | None
    hold: None | str
    hold_before: datetime.datetime | None
    max_bytes: int | None
    max_messages: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        age_before: None | str
        if isinstance(self.age_before, datetime.datetime):
            age_before = self.age_before.isoformat()
        else:
            age_before = self.age_before

        completed_before: None | str
        if isinstance(self.completed_before, datetime.datetime):
            completed_before = self.completed_before.isoformat()
        else:
            completed_before = self.completed_before

        evict_before: None | str
        if isinstance(self.evict_before, datetime.datetime):
            evict_before = self.evict_before.isoformat()
        else:
            evict_before = self.evict_before

        hashes_before: None | str
        if isinstance(self.hashes_before, datetime.datetime):
            hashes_before = self.hashes_before.isoformat()
        else:
            hashes_before = self.hashes_before

        hold: None | str
        hold = self.hold

        hold_before: None | str
        if isinstance(self.hold_before, datetime.datetime):
            hold_before = self.hold_before.isoformat()
        else:
            hold_before = self.hold_before

        max_bytes: int | None
        max_bytes = self.max_bytes

        max_messages: int | None
        max_messages = self.max_messages

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ageBefore": age_before,
                "completedBefore": completed_before,
                "evictBefore": evict_before,
                "hashesBefore": hashes_before,
                "hold": hold,
                "holdBefore": hold_before,
                "maxBytes": max_bytes,
                "maxMessages": max_messages,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_age_before(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                age_before_type_0 = datetime.datetime.fromisoformat(data)

                return age_before_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        age_before = _parse_age_before(d.pop("ageBefore"))

        def _parse_completed_before(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_before_type_0 = datetime.datetime.fromisoformat(data)

                return completed_before_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_before = _parse_completed_before(d.pop("completedBefore"))

        def _parse_evict_before(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                evict_before_type_0 = datetime.datetime.fromisoformat(data)

                return evict_before_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        evict_before = _parse_evict_before(d.pop("evictBefore"))

        def _parse_hashes_before(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                hashes_before_type_0 = datetime.datetime.fromisoformat(data)

                return hashes_before_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        hashes_before = _parse_hashes_before(d.pop("hashesBefore"))

        def _parse_hold(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        hold = _parse_hold(d.pop("hold"))

        def _parse_hold_before(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                hold_before_type_0 = datetime.datetime.fromisoformat(data)

                return hold_before_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        hold_before = _parse_hold_before(d.pop("holdBefore"))

        def _parse_max_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_bytes = _parse_max_bytes(d.pop("maxBytes"))

        def _parse_max_messages(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_messages = _parse_max_messages(d.pop("maxMessages"))

        retention_rules = cls(
            age_before=age_before,
            completed_before=completed_before,
            evict_before=evict_before,
            hashes_before=hashes_before,
            hold=hold,
            hold_before=hold_before,
            max_bytes=max_bytes,
            max_messages=max_messages,
        )

        retention_rules.additional_properties = d
        return retention_rules

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
