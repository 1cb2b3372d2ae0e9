from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="TransactionItem")


@_attrs_define
class TransactionItem:
    """
    Attributes:
        data (Any | Unset): The payload, when there is no payload.
        key (None | str | Unset): Key of the message, for queues that keep the latest of each key.
        partition (None | str | Unset): Default without one.
        payload (Any | Unset): Any JSON value, null included. Without it data, without both an empty object.
        queue (str | Unset): Created with defaults on first use.
        trace_id (Any | Unset): A UUID that is delivered with the message; anything else is dropped.
        transaction_id (None | str | Unset): push: the deduplication key; without one, or empty, the message's id. ack:
            as delivered.
    """

    data: Any | Unset = UNSET
    key: None | str | Unset = UNSET
    partition: None | str | Unset = UNSET
    payload: Any | Unset = UNSET
    queue: str | Unset = UNSET
    trace_id: Any | Unset = UNSET
    transaction_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = self.data

        key: None | str | Unset
        if isinstance(self.key, Unset):
            key = UNSET
        else:
            key = self.key

        partition: None | str | Unset
        if isinstance(self.partition, Unset):
            partition = UNSET
        else:
            partition = self.partition

        payload = self.payload

        queue = self.queue

        trace_id = self.trace_id

        transaction_id: None | str | Unset
        if isinstance(self.transaction_id, Unset):
            transaction_id = UNSET
        else:
            transaction_id = self.transaction_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if data is not UNSET:
            field_dict["data"] = data
        if key is not UNSET:
            field_dict["key"] = key
        if partition is not UNSET:
            field_dict["partition"] = partition
        if payload is not UNSET:
            field_dict["payload"] = payload
        if queue is not UNSET:
            field_dict["queue"] = queue
        if trace_id is not UNSET:
            field_dict["traceId"] = trace_id
        if transaction_id is not UNSET:
            field_dict["transactionId"] = transaction_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        data = d.pop("data", UNSET)

        def _parse_key(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        key = _parse_key(d.pop("key", UNSET))

        def _parse_partition(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        partition = _parse_partition(d.pop("partition", UNSET))

        payload = d.pop("payload", UNSET)

        queue = d.pop("queue", UNSET)

        trace_id = d.pop("traceId", UNSET)

        def _parse_transaction_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        transaction_id = _parse_transaction_id(d.pop("transactionId", UNSET))

        transaction_item = cls(
            data=data,
            key=key,
            partition=partition,
            payload=payload,
            queue=queue,
            trace_id=trace_id,
            transaction_id=transaction_id,
        )

        transaction_item.additional_properties = d
        return transaction_item

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
