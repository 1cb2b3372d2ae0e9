from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.stored_counts import StoredCounts


T = TypeVar("T", bound="QueueStatusItem")


@_attrs_define
class QueueStatusItem:
    """
    Attributes:
        created_at (datetime.datetime):
        id (UUID):
        messages (StoredCounts):
        name (str):
        namespace (str):
        partitions (int):
        task (str):
    """

    created_at: datetime.datetime
    id: UUID
    messages: StoredCounts
    name: str
    namespace: str
    partitions: int
    task: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        id = str(self.id)

        messages = self.messages.to_dict()

        name = self.name

        namespace = self.namespace

        partitions = self.partitions

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
                "task": task,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.stored_counts import StoredCounts  # noqa: PLC0415

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        id = UUID(d.pop("id"))

        messages = StoredCounts.from_dict(d.pop("messages"))

        name = d.pop("name")

        namespace = d.pop("namespace")

        partitions = d.pop("partitions")

        task = d.pop("task")

        queue_status_item = cls(
            created_at=created_at,
            id=id,
            messages=messages,
            name=name,
            namespace=namespace,
            partitions=partitions,
            task=task,
        )

        queue_status_item.additional_properties = d
        return queue_status_item

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
