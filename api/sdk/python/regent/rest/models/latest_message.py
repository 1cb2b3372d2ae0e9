from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LatestMessage")


@_attrs_define
class LatestMessage:
    """
    Attributes:
        created_at (datetime.datetime): Microseconds, UTC.
        data (Any): The payload, byte for byte as pushed.
        id (UUID):
        key (str):
        offset (int):
        partition (str):
        partition_id (UUID):
        queue (str):
        transaction_id (str):
    """

    created_at: datetime.datetime
    data: Any
    id: UUID
    key: str
    offset: int
    partition: str
    partition_id: UUID
    queue: str
    transaction_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        data = self.data

        id = str(self.id)

        key = self.key

        offset = self.offset

        partition = self.partition

        partition_id = str(self.partition_id)

        queue = self.queue

        transaction_id = self.transaction_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "createdAt": created_at,
                "data": data,
                "id": id,
                "key": key,
                "offset": offset,
                "partition": partition,
                "partitionId": partition_id,
                "queue": queue,
                "transactionId": transaction_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        data = d.pop("data")

        id = UUID(d.pop("id"))

        key = d.pop("key")

        offset = d.pop("offset")

        partition = d.pop("partition")

        partition_id = UUID(d.pop("partitionId"))

        queue = d.pop("queue")

        transaction_id = d.pop("transactionId")

        latest_message = cls(
            created_at=created_at,
            data=data,
            id=id,
            key=key,
            offset=offset,
            partition=partition,
            partition_id=partition_id,
            queue=queue,
            transaction_id=transaction_id,
        )

        latest_message.additional_properties = d
        return latest_message

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
