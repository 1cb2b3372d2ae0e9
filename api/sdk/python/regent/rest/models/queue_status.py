from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.partition_status import PartitionStatus
    from ..models.queue_identity import QueueIdentity
    from ..models.queue_status_totals_doc import QueueStatusTotalsDoc


T = TypeVar("T", bound="QueueStatus")


@_attrs_define
class QueueStatus:
    """
    Attributes:
        partitions (list[PartitionStatus]): By name.
        queue (QueueIdentity):
        totals (QueueStatusTotalsDoc):
    """

    partitions: list[PartitionStatus]
    queue: QueueIdentity
    totals: QueueStatusTotalsDoc
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        partitions = []
        for partitions_item_data in self.partitions:
            partitions_item = partitions_item_data.to_dict()
            partitions.append(partitions_item)

        queue = self.queue.to_dict()

        totals = self.totals.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "partitions": partitions,
                "queue": queue,
                "totals": totals,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.partition_status import PartitionStatus  # noqa: PLC0415
        from ..models.queue_identity import QueueIdentity  # noqa: PLC0415
        from ..models.queue_status_totals_doc import (
            QueueStatusTotalsDoc,  # noqa: PLC0415
        )

        d = dict(src_dict)
        partitions = []
        _partitions = d.pop("partitions")
        for partitions_item_data in _partitions:
            partitions_item = PartitionStatus.from_dict(partitions_item_data)

            partitions.append(partitions_item)

        queue = QueueIdentity.from_dict(d.pop("queue"))

        totals = QueueStatusTotalsDoc.from_dict(d.pop("totals"))

        queue_status = cls(
            partitions=partitions,
            queue=queue,
            totals=totals,
        )

        queue_status.additional_properties = d
        return queue_status

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
