from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.queue_segments import QueueSegments
    from ..models.queue_totals_list import QueueTotalsList


T = TypeVar("T", bound="QueueSummary")


@_attrs_define
class QueueSummary:
    """
    Attributes:
        created_at (datetime.datetime):
        id (UUID):
        messages (QueueTotalsList):
        name (str):
        namespace (str):
        partitions (int):
        retained_bytes (int): Compressed bytes of the payloads kept, as last measured.
        segments (QueueSegments):
        task (str):
    """

    created_at: datetime.datetime
    id: UUID
    messages: QueueTotalsList
    name: str
    namespace: str
    partitions: int
    retained_bytes: int
    segments: QueueSegments
    task: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        id = str(self.id)

        messages = self.messages.to_dict()

        name = self.name

        namespace = self.namespace

        partitions = self.partitions

        retained_bytes = self.retained_bytes

        segments = self.segments.to_dict()

        task = self.task

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "createdAt": created_at,
                "id": id,
                "messages": messages,
                "name": name,
                "namespace": namespace,
                "partitions": partitions,
                "retainedBytes": retained_bytes,
                "segments": segments,
                "task": task,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.queue_segments import QueueSegments  # noqa: PLC0415
        from ..models.queue_totals_list import QueueTotalsList  # noqa: PLC0415

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        id = UUID(d.pop("id"))

        messages = QueueTotalsList.from_dict(d.pop("messages"))

        name = d.pop("name")

        namespace = d.pop("namespace")

        partitions = d.pop("partitions")

        retained_bytes = d.pop("retainedBytes")

        segments = QueueSegments.from_dict(d.pop("segments"))

        task = d.pop("task")

        queue_summary = cls(
            created_at=created_at,
            id=id,
            messages=messages,
            name=name,
            namespace=namespace,
            partitions=partitions,
            retained_bytes=retained_bytes,
            segments=segments,
            task=task,
        )

        queue_summary.additional_properties = d
        return queue_summary

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
