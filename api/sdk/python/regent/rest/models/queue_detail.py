from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.queue_counts import QueueCounts
    from ..models.queue_options import QueueOptions
    from ..models.queue_partition import QueuePartition
    from ..models.queue_segments import QueueSegments


T = TypeVar("T", bound="QueueDetail")


@_attrs_define
class QueueDetail:
    """
    Attributes:
        created_at (datetime.datetime):
        id (UUID):
        name (str):
        namespace (str):
        options (QueueOptions):
        partitions (list[QueuePartition]): By name.
        retained_bytes (int): Compressed bytes of the payloads kept.
        segments (QueueSegments):
        task (str):
        totals (QueueCounts):
    """

    created_at: datetime.datetime
    id: UUID
    name: str
    namespace: str
    options: QueueOptions
    partitions: list[QueuePartition]
    retained_bytes: int
    segments: QueueSegments
    task: str
    totals: QueueCounts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        id = str(self.id)

        name = self.name

        namespace = self.namespace

        options = self.options.to_dict()

        partitions = []
        for partitions_item_data in self.partitions:
            partitions_item = partitions_item_data.to_dict()
            partitions.append(partitions_item)

        retained_bytes = self.retained_bytes

        segments = self.segments.to_dict()

        task = self.task

        totals = self.totals.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "createdAt": created_at,
                "id": id,
                "name": name,
                "namespace": namespace,
                "options": options,
                "partitions": partitions,
                "retainedBytes": retained_bytes,
                "segments": segments,
                "task": task,
                "totals": totals,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.queue_counts import QueueCounts  # noqa: PLC0415
        from ..models.queue_options import QueueOptions  # noqa: PLC0415
        from ..models.queue_partition import QueuePartition  # noqa: PLC0415
        from ..models.queue_segments import QueueSegments  # noqa: PLC0415

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        id = UUID(d.pop("id"))

        name = d.pop("name")

        namespace = d.pop("namespace")

        options = QueueOptions.from_dict(d.pop("options"))

        partitions = []
        _partitions = d.pop("partitions")
        for partitions_item_data in _partitions:
            partitions_item = QueuePartition.from_dict(partitions_item_data)

            partitions.append(partitions_item)

        retained_bytes = d.pop("retainedBytes")

        segments = QueueSegments.from_dict(d.pop("segments"))

        task = d.pop("task")

        totals = QueueCounts.from_dict(d.pop("totals"))

        queue_detail = cls(
            created_at=created_at,
            id=id,
            name=name,
            namespace=namespace,
            options=options,
            partitions=partitions,
            retained_bytes=retained_bytes,
            segments=segments,
            task=task,
            totals=totals,
        )

        queue_detail.additional_properties = d
        return queue_detail

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
