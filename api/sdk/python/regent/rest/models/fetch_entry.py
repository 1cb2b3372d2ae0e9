from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="FetchEntry")


@_attrs_define
class FetchEntry:
    """
    Attributes:
        offset (int): First offset to read.
        queue (str):
        max_bytes (int | Unset): Payload bytes as they are stored, compressed; kept within 1 and 8388608. Whole segments
            of up to 1000 messages are read; only the first one of a call may be larger. Default: 1048576.
        partition (None | str | Unset): Default without one. A number counts as its text.
    """

    offset: int
    queue: str
    max_bytes: int | Unset = 1048576
    partition: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        offset = self.offset

        queue = self.queue

        max_bytes = self.max_bytes

        partition: None | str | Unset
        if isinstance(self.partition, Unset):
            partition = UNSET
        else:
            partition = self.partition

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "offset": offset,
                "queue": queue,
            }
        )
        if max_bytes is not UNSET:
            field_dict["maxBytes"] = max_bytes
        if partition is not UNSET:
            field_dict["partition"] = partition

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        offset = d.pop("offset")

        queue = d.pop("queue")

        max_bytes = d.pop("maxBytes", UNSET)

        def _parse_partition(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        partition = _parse_partition(d.pop("partition", UNSET))

        fetch_entry = cls(
            offset=offset,
            queue=queue,
            max_bytes=max_bytes,
            partition=partition,
        )

        fetch_entry.additional_properties = d
        return fetch_entry

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
