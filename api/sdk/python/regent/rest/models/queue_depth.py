from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.partition_depth import PartitionDepth


T = TypeVar("T", bound="QueueDepth")


@_attrs_define
class QueueDepth:
    """
    Attributes:
        conflation (bool): Whether the group takes only the last value of a partition.
        effective_pending (int): Deliveries that remain: partitionsPending for a conflating group, else pending.
        effective_ready (int): As effectivePending, of what is ready.
        group (None | str): The group asked for, null for the slowest one.
        partitions (list[PartitionDepth]): By name.
        partitions_pending (int): Partitions with something pending.
        partitions_ready (int): Partitions with something ready.
        pending (int): Messages owed, those being processed included.
        processing (int): Messages under a live lease.
        queue (str):
        ready (int): pending without processing.
    """

    conflation: bool
    effective_pending: int
    effective_ready: int
    group: None | str
    partitions: list[PartitionDepth]
    partitions_pending: int
    partitions_ready: int
    pending: int
    processing: int
    queue: str
    ready: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        conflation = self.conflation

        effective_pending = self.effective_pending

        effective_ready = self.effective_ready

        group: None | str
        group = self.group

        partitions = []
        for partitions_item_data in self.partitions:
            partitions_item = partitions_item_data.to_dict()
            partitions.append(partitions_item)

        partitions_pending = self.partitions_pending

        partitions_ready = self.partitions_ready

        pending = self.pending

        processing = self.processing

        queue = self.queue

        ready = self.ready

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "conflation": conflation,
                "effectivePending": effective_pending,
                "effectiveReady": effective_ready,
                "group": group,
                "partitions": partitions,
                "partitionsPending": partitions_pending,
                "partitionsReady": partitions_ready,
                "pending": pending,
                "processing": processing,
                "queue": queue,
                "ready": ready,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.partition_depth import PartitionDepth  # noqa: PLC0415

        d = dict(src_dict)
        conflation = d.pop("conflation")

        effective_pending = d.pop("effectivePending")

        effective_ready = d.pop("effectiveReady")

        def _parse_group(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        group = _parse_group(d.pop("group"))

        partitions = []
        _partitions = d.pop("partitions")
        for partitions_item_data in _partitions:
            partitions_item = PartitionDepth.from_dict(partitions_item_data)

            partitions.append(partitions_item)

        partitions_pending = d.pop("partitionsPending")

        partitions_ready = d.pop("partitionsReady")

        pending = d.pop("pending")

        processing = d.pop("processing")

        queue = d.pop("queue")

        ready = d.pop("ready")

        queue_depth = cls(
            conflation=conflation,
            effective_pending=effective_pending,
            effective_ready=effective_ready,
            group=group,
            partitions=partitions,
            partitions_pending=partitions_pending,
            partitions_ready=partitions_ready,
            pending=pending,
            processing=processing,
            queue=queue,
            ready=ready,
        )

        queue_depth.additional_properties = d
        return queue_depth

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
