from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="NamedTrace")


@_attrs_define
class NamedTrace:
    """
    Attributes:
        consumer_group (str):
        created_at (datetime.datetime):
        data (Any):
        event_type (str):
        id (UUID):
        message_payload (None | str): Always null.
        partition_id (UUID):
        partition_name (None | str):
        queue_name (None | str): As it was when the trace was stored; null when there was no such partition.
        trace_names (list[str]):
        transaction_id (str):
        worker_id (str):
    """

    consumer_group: str
    created_at: datetime.datetime
    data: Any
    event_type: str
    id: UUID
    message_payload: None | str
    partition_id: UUID
    partition_name: None | str
    queue_name: None | str
    trace_names: list[str]
    transaction_id: str
    worker_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        created_at = self.created_at.isoformat()

        data = self.data

        event_type = self.event_type

        id = str(self.id)

        message_payload: None | str
        message_payload = self.message_payload

        partition_id = str(self.partition_id)

        partition_name: None | str
        partition_name = self.partition_name

        queue_name: None | str
        queue_name = self.queue_name

        trace_names = self.trace_names

        transaction_id = self.transaction_id

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
                "message_payload": message_payload,
                "partition_id": partition_id,
                "partition_name": partition_name,
                "queue_name": queue_name,
                "trace_names": trace_names,
                "transaction_id": transaction_id,
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

        def _parse_message_payload(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        message_payload = _parse_message_payload(d.pop("message_payload"))

        partition_id = UUID(d.pop("partition_id"))

        def _parse_partition_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        partition_name = _parse_partition_name(d.pop("partition_name"))

        def _parse_queue_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        queue_name = _parse_queue_name(d.pop("queue_name"))

        trace_names = cast(list[str], d.pop("trace_names"))

        transaction_id = d.pop("transaction_id")

        worker_id = d.pop("worker_id")

        named_trace = cls(
            consumer_group=consumer_group,
            created_at=created_at,
            data=data,
            event_type=event_type,
            id=id,
            message_payload=message_payload,
            partition_id=partition_id,
            partition_name=partition_name,
            queue_name=queue_name,
            trace_names=trace_names,
            transaction_id=transaction_id,
            worker_id=worker_id,
        )

        named_trace.additional_properties = d
        return named_trace

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
