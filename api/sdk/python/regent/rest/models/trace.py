from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Trace")


@_attrs_define
class Trace:
    """
    Attributes:
        consumer_group (str):
        created_at (datetime.datetime):
        data (Any):
        event_type (str):
        id (UUID):
        trace_names (list[str]):
        worker_id (str):
    """

    consumer_group: str
    created_at: datetime.datetime
    data: Any
    event_type: str
    id: UUID
    trace_names: list[str]
    worker_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        created_at = self.created_at.isoformat()

        data = self.data

        event_type = self.event_type

        id = str(self.id)

        trace_names = self.trace_names

        worker_id = self.worker_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumer_group": consumer_group,
                "created_at": created_at,
                "data": data,
                "event_type": event_type,
                "id": id,
                "trace_names": trace_names,
                "worker_id": worker_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer_group = d.pop("consumer_group")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        data = d.pop("data")

        event_type = d.pop("event_type")

        id = UUID(d.pop("id"))

        trace_names = cast(list[str], d.pop("trace_names"))

        worker_id = d.pop("worker_id")

        trace = cls(
            consumer_group=consumer_group,
            created_at=created_at,
            data=data,
            event_type=event_type,
            id=id,
            trace_names=trace_names,
            worker_id=worker_id,
        )

        trace.additional_properties = d
        return trace

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
