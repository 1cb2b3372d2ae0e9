from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="FetchedRecord")


@_attrs_define
class FetchedRecord:
    """
    Attributes:
        offset (int): Ascends; after compaction some are missing.
        payload (Any): Byte for byte as pushed.
        transaction_id (str):
        ts (datetime.datetime): When it was stored; microseconds, UTC.
        key (str | Unset): The key that it was pushed with; absent without one.
    """

    offset: int
    payload: Any
    transaction_id: str
    ts: datetime.datetime
    key: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        offset = self.offset

        payload = self.payload

        transaction_id = self.transaction_id

        ts = self.ts.isoformat()

        key = self.key

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "offset": offset,
                "payload": payload,
                "transactionId": transaction_id,
                "ts": ts,
            }
        )
        if key is not UNSET:
            field_dict["key"] = key

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        offset = d.pop("offset")

        payload = d.pop("payload")

        transaction_id = d.pop("transactionId")

        ts = datetime.datetime.fromisoformat(d.pop("ts"))

        key = d.pop("key", UNSET)

        fetched_record = cls(
            offset=offset,
            payload=payload,
            transaction_id=transaction_id,
            ts=ts,
            key=key,
        )

        fetched_record.additional_properties = d
        return fetched_record

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
