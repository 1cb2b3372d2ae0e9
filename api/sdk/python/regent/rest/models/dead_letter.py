from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DeadLetter")


@_attrs_define
class DeadLetter:
    """
    Attributes:
        consumer_group (str):
        created_at (datetime.datetime): The same as failedAt.
        data (Any): The payload; null also when the message was deleted before it failed.
        error_message (None | str): Reason that the consumer gave.
        failed_at (datetime.datetime):
        id (UUID): Id of the dead letter, not of the message.
        partition (str):
        partition_id (UUID):
        producer_sub (None | str): Always null here; a replay keeps it.
        queue (str):
        retry_count (int): Failed attempts before it was given up.
        transaction_id (str):
        is_encrypted (bool | Unset): Whether it is stored encrypted; absent when not.
    """

    consumer_group: str
    created_at: datetime.datetime
    data: Any
    error_message: None | str
    failed_at: datetime.datetime
    id: UUID
    partition: str
    partition_id: UUID
    producer_sub: None | str
    queue: str
    retry_count: int
    transaction_id: str
    is_encrypted: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        created_at = self.created_at.isoformat()

        data = self.data

        error_message: None | str
        error_message = self.error_message

        failed_at = self.failed_at.isoformat()

        id = str(self.id)

        partition = self.partition

        partition_id = str(self.partition_id)

        producer_sub: None | str
        producer_sub = self.producer_sub

        queue = self.queue

        retry_count = self.retry_count

        transaction_id = self.transaction_id

        is_encrypted = self.is_encrypted

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumerGroup": consumer_group,
                "createdAt": created_at,
                "data": data,
                "errorMessage": error_message,
                "failedAt": failed_at,
                "id": id,
                "partition": partition,
                "partitionId": partition_id,
                "producerSub": producer_sub,
                "queue": queue,
                "retryCount": retry_count,
                "transactionId": transaction_id,
            }
        )
        if is_encrypted is not UNSET:
            field_dict["isEncrypted"] = is_encrypted

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer_group = d.pop("consumerGroup")

        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        data = d.pop("data")

        def _parse_error_message(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error_message = _parse_error_message(d.pop("errorMessage"))

        failed_at = datetime.datetime.fromisoformat(d.pop("failedAt"))

        id = UUID(d.pop("id"))

        partition = d.pop("partition")

        partition_id = UUID(d.pop("partitionId"))

        def _parse_producer_sub(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        producer_sub = _parse_producer_sub(d.pop("producerSub"))

        queue = d.pop("queue")

        retry_count = d.pop("retryCount")

        transaction_id = d.pop("transactionId")

        is_encrypted = d.pop("isEncrypted", UNSET)

        dead_letter = cls(
            consumer_group=consumer_group,
            created_at=created_at,
            data=data,
            error_message=error_message,
            failed_at=failed_at,
            id=id,
            partition=partition,
            partition_id=partition_id,
            producer_sub=producer_sub,
            queue=queue,
            retry_count=retry_count,
            transaction_id=transaction_id,
            is_encrypted=is_encrypted,
        )

        dead_letter.additional_properties = d
        return dead_letter

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
