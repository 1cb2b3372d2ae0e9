from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.request_counts import RequestCounts
    from ..models.request_efficiency import RequestEfficiency


T = TypeVar("T", bound="StatusMessages")


@_attrs_define
class StatusMessages:
    """
    Attributes:
        batch_efficiency (RequestEfficiency):
        completed (int): Acknowledged since the beginning.
        dead_letter (int): Dead-lettered since the beginning.
        failed (int): Acks that said failed since the beginning.
        pending (int): Owed to the slowest group of each partition, those being processed included.
        processing (int): Under a live lease.
        requests (RequestCounts):
        total (int): Pushed since the beginning.
    """

    batch_efficiency: RequestEfficiency
    completed: int
    dead_letter: int
    failed: int
    pending: int
    processing: int
    requests: RequestCounts
    total: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        batch_efficiency = self.batch_efficiency.to_dict()

        completed = self.completed

        dead_letter = self.dead_letter

        failed = self.failed

        pending = self.pending

        processing = self.processing

        requests = self.requests.to_dict()

        total = self.total

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "batchEfficiency": batch_efficiency,
                "completed": completed,
                "deadLetter": dead_letter,
                "failed": failed,
                "pending": pending,
                "processing": processing,
                "requests": requests,
                "total": total,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.request_counts import RequestCounts  # noqa: PLC0415
        from ..models.request_efficiency import RequestEfficiency  # noqa: PLC0415

        d = dict(src_dict)
        batch_efficiency = RequestEfficiency.from_dict(d.pop("batchEfficiency"))

        completed = d.pop("completed")

        dead_letter = d.pop("deadLetter")

        failed = d.pop("failed")

        pending = d.pop("pending")

        processing = d.pop("processing")

        requests = RequestCounts.from_dict(d.pop("requests"))

        total = d.pop("total")

        status_messages = cls(
            batch_efficiency=batch_efficiency,
            completed=completed,
            dead_letter=dead_letter,
            failed=failed,
            pending=pending,
            processing=processing,
            requests=requests,
            total=total,
        )

        status_messages.additional_properties = d
        return status_messages

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
