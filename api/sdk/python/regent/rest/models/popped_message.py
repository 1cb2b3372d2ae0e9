from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PoppedMessage")


@_attrs_define
class PoppedMessage:
    """
    Attributes:
        consumer_group (str):
        created_at (datetime.datetime): Microseconds, UTC. Messages stored together share it.
        data (Any): The payload, byte for byte as pushed.
        delivery_attempt (int): Counts claims of a batch that starts at the same message.
        id (UUID): Ids rise with the order inside a partition.
        lease_id (str):
        partition (str):
        partition_id (UUID):
        producer_sub (None | str):
        trace_id (None | str):
        transaction_id (str): What to acknowledge by.
        key (str | Unset): The key that it was pushed with; absent without one.
    """

    consumer_group: str
    created_at: datetime.datetime
    data: Any
    delivery_attempt: int
    id: UUID
    lease_id: str
    partition: str
    partition_id: UUID
    producer_sub: None | str
    trace_id: None | str
    transaction_id: str
    key: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        created_at = self.created_at.isoformat()

        data = self.data

        delivery_attempt = self.delivery_attempt

        id = str(self.id)

        lease_id = self.lease_id

        partition = self.partition

        partition_id = str(self.partition_id)

        producer_sub: None | str
        producer_sub = self.producer_sub

        trace_id: None | str
        trace_id = self.trace_id

        transaction_id = self.transaction_id

        key = self.key

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumerGroup": consumer_group,
                "createdAt": created_at,
                "data": data,
                "deliveryAttempt": delivery_attempt,
                "id": id,
                "leaseId": lease_id,
                "partition": partition,
                "partitionId": partition_id,
                "producerSub": producer_sub,
                "traceId": trace_id,
                "transactionId": transaction_id,
            }
        )
        if key is not UNSET:
            field_dict["key"] = key

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer_group = d.pop("consumerGroup")

        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        data = d.pop("data")

        delivery_attempt = d.pop("deliveryAttempt")

        id = UUID(d.pop("id"))

        lease_id = d.pop("leaseId")

        partition = d.pop("partition")

        partition_id = UUID(d.pop("partitionId"))

        def _parse_producer_sub(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        producer_sub = _parse_producer_sub(d.pop("producerSub"))

        def _parse_trace_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        trace_id = _parse_trace_id(d.pop("traceId"))

        transaction_id = d.pop("transactionId")

        key = d.pop("key", UNSET)

        popped_message = cls(
            consumer_group=consumer_group,
            created_at=created_at,
            data=data,
            delivery_attempt=delivery_attempt,
            id=id,
            lease_id=lease_id,
            partition=partition,
            partition_id=partition_id,
            producer_sub=producer_sub,
            trace_id=trace_id,
            transaction_id=transaction_id,
            key=key,
        )

        popped_message.additional_properties = d
        return popped_message

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
