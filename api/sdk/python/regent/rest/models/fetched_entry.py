from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.fetched_entry_error import FetchedEntryError
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.fetched_record import FetchedRecord


T = TypeVar("T", bound="FetchedEntry")


@_attrs_define
class FetchedEntry:
    """
    Attributes:
        high_watermark (int): The offset that the next message gets. To read from there is valid, and empty for now.
        log_start_offset (int): The oldest offset that is still there.
        partition (str):
        queue (str):
        records (list[FetchedRecord]): In offset order, 10000 at most. Go on after the last one.
        error (FetchedEntryError | Unset): No such queue, or an offset below logStartOffset or above highWatermark. A
            partition that nobody pushed to is an empty log.
    """

    high_watermark: int
    log_start_offset: int
    partition: str
    queue: str
    records: list[FetchedRecord]
    error: FetchedEntryError | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        high_watermark = self.high_watermark

        log_start_offset = self.log_start_offset

        partition = self.partition

        queue = self.queue

        records = []
        for records_item_data in self.records:
            records_item = records_item_data.to_dict()
            records.append(records_item)

        error: str | Unset = UNSET
        if not isinstance(self.error, Unset):
            error = self.error.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "highWatermark": high_watermark,
                "logStartOffset": log_start_offset,
                "partition": partition,
                "queue": queue,
                "records": records,
            }
        )
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fetched_record import FetchedRecord  # noqa: PLC0415

        d = dict(src_dict)
        high_watermark = d.pop("highWatermark")

        log_start_offset = d.pop("logStartOffset")

        partition = d.pop("partition")

        queue = d.pop("queue")

        records = []
        _records = d.pop("records")
        for records_item_data in _records:
            records_item = FetchedRecord.from_dict(records_item_data)

            records.append(records_item)

        _error = d.pop("error", UNSET)
        error: FetchedEntryError | Unset
        if isinstance(_error, Unset):
            error = UNSET
        else:
            error = FetchedEntryError(_error)

        fetched_entry = cls(
            high_watermark=high_watermark,
            log_start_offset=log_start_offset,
            partition=partition,
            queue=queue,
            records=records,
            error=error,
        )

        fetched_entry.additional_properties = d
        return fetched_entry

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
