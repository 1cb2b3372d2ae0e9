from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ConsumedQueue")


@_attrs_define
class ConsumedQueue:
    """
    Attributes:
        id (UUID):
        name (str):
        namespace (str):
        partitions (int):
        task (str):
        total_consumed (int): Messages that all groups together have consumed.
    """

    id: UUID
    name: str
    namespace: str
    partitions: int
    task: str
    total_consumed: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = str(self.id)

        name = self.name

        namespace = self.namespace

        partitions = self.partitions

        task = self.task

        total_consumed = self.total_consumed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "namespace": namespace,
                "partitions": partitions,
                "task": task,
                "totalConsumed": total_consumed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = UUID(d.pop("id"))

        name = d.pop("name")

        namespace = d.pop("namespace")

        partitions = d.pop("partitions")

        task = d.pop("task")

        total_consumed = d.pop("totalConsumed")

        consumed_queue = cls(
            id=id,
            name=name,
            namespace=namespace,
            partitions=partitions,
            task=task,
            total_consumed=total_consumed,
        )

        consumed_queue.additional_properties = d
        return consumed_queue

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
