from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.queue_status_config import QueueStatusConfig


T = TypeVar("T", bound="QueueIdentity")


@_attrs_define
class QueueIdentity:
    """
    Attributes:
        config (QueueStatusConfig):
        created_at (datetime.datetime):
        id (UUID):
        name (str):
        namespace (str):
        priority (int):
        task (str):
    """

    config: QueueStatusConfig
    created_at: datetime.datetime
    id: UUID
    name: str
    namespace: str
    priority: int
    task: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        config = self.config.to_dict()

        created_at = self.created_at.isoformat()

        id = str(self.id)

        name = self.name

        namespace = self.namespace

        priority = self.priority

        task = self.task

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "config": config,
                "createdAt": created_at,
                "id": id,
                "name": name,
                "namespace": namespace,
                "priority": priority,
                "task": task,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.queue_status_config import QueueStatusConfig  # noqa: PLC0415

        d = dict(src_dict)
        config = QueueStatusConfig.from_dict(d.pop("config"))

        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        id = UUID(d.pop("id"))

        name = d.pop("name")

        namespace = d.pop("namespace")

        priority = d.pop("priority")

        task = d.pop("task")

        queue_identity = cls(
            config=config,
            created_at=created_at,
            id=id,
            name=name,
            namespace=namespace,
            priority=priority,
            task=task,
        )

        queue_identity.additional_properties = d
        return queue_identity

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
