from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.transaction_operation_type import TransactionOperationType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.transaction_item import TransactionItem


T = TypeVar("T", bound="TransactionOperation")


@_attrs_define
class TransactionOperation:
    """
    Attributes:
        type_ (TransactionOperationType):
        consumer_group (None | str | Unset): ack: group that took the message.
        data (Any | Unset): The payload, when there is no payload.
        error (None | str | Unset): ack: reason, kept with a dead letter.
        items (list[TransactionItem] | None | Unset): push: the messages. Without it the operation is the one message.
        key (None | str | Unset): Key of the message, for queues that keep the latest of each key.
        lease_id (None | str | Unset): ack: as delivered. Without it the partition's present lease of the group, if the
            call names any lease.
        partition (None | str | Unset): Default without one.
        partition_id (str | Unset): ack: as delivered.
        payload (Any | Unset): Any JSON value, null included. Without it data, without both an empty object.
        queue (str | Unset): Created with defaults on first use.
        status (None | str | Unset): ack: completed (also success, acked, ok, or none), retry, dlq; anything else is
            failed.
        trace_id (Any | Unset): A UUID that is delivered with the message; anything else is dropped.
        transaction_id (None | str | Unset): push: the deduplication key; without one, or empty, the message's id. ack:
            as delivered.
    """

    type_: TransactionOperationType
    consumer_group: None | str | Unset = UNSET
    data: Any | Unset = UNSET
    error: None | str | Unset = UNSET
    items: list[TransactionItem] | None | Unset = UNSET
    key: None | str | Unset = UNSET
    lease_id: None | str | Unset = UNSET
    partition: None | str | Unset = UNSET
    partition_id: str | Unset = UNSET
    payload: Any | Unset = UNSET
    queue: str | Unset = UNSET
    status: None | str | Unset = UNSET
    trace_id: Any | Unset = UNSET
    transaction_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        consumer_group: None | str | Unset
        if isinstance(self.consumer_group, Unset):
            consumer_group = UNSET
        else:
            consumer_group = self.consumer_group

        data = self.data

        error: None | str | Unset
        if isinstance(self.error, Unset):
            error = UNSET
        else:
            error = self.error

        items: list[dict[str, Any]] | None | Unset
        if isinstance(self.items, Unset):
            items = UNSET
        elif isinstance(self.items, list):
            items = []
            for items_type_0_item_data in self.items:
                items_type_0_item = items_type_0_item_data.to_dict()
                items.append(items_type_0_item)

        else:
            items = self.items

        key: None | str | Unset
        if isinstance(self.key, Unset):
            key = UNSET
        else:
            key = self.key

        lease_id: None | str | Unset
        if isinstance(self.lease_id, Unset):
            lease_id = UNSET
        else:
            lease_id = self.lease_id

        partition: None | str | Unset
        if isinstance(self.partition, Unset):
            partition = UNSET
        else:
            partition = self.partition

        partition_id = self.partition_id

        payload = self.payload

        queue = self.queue

        status: None | str | Unset
        if isinstance(self.status, Unset):
            status = UNSET
        else:
            status = self.status

        trace_id = self.trace_id

        transaction_id: None | str | Unset
        if isinstance(self.transaction_id, Unset):
            transaction_id = UNSET
        else:
            transaction_id = self.transaction_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
            }
        )
        if consumer_group is not UNSET:
            field_dict["consumerGroup"] = consumer_group
        if data is not UNSET:
            field_dict["data"] = data
        if error is not UNSET:
            field_dict["error"] = error
        if items is not UNSET:
            field_dict["items"] = items
        if key is not UNSET:
            field_dict["key"] = key
        if lease_id is not UNSET:
            field_dict["leaseId"] = lease_id
        if partition is not UNSET:
            field_dict["partition"] = partition
        if partition_id is not UNSET:
            field_dict["partitionId"] = partition_id
        if payload is not UNSET:
            field_dict["payload"] = payload
        if queue is not UNSET:
            field_dict["queue"] = queue
        if status is not UNSET:
            field_dict["status"] = status
        if trace_id is not UNSET:
            field_dict["traceId"] = trace_id
        if transaction_id is not UNSET:
            field_dict["transactionId"] = transaction_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.transaction_item import TransactionItem  # noqa: PLC0415

        d = dict(src_dict)
        type_ = TransactionOperationType(d.pop("type"))

        def _parse_consumer_group(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        consumer_group = _parse_consumer_group(d.pop("consumerGroup", UNSET))

        data = d.pop("data", UNSET)

        def _parse_error(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        error = _parse_error(d.pop("error", UNSET))

        def _parse_items(data: object) -> list[TransactionItem] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                items_type_0 = []
                _items_type_0 = data
                for items_type_0_item_data in _items_type_0:
                    items_type_0_item = TransactionItem.from_dict(
                        items_type_0_item_data
                    )

                    items_type_0.append(items_type_0_item)

                return items_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[TransactionItem] | None | Unset, data)

        items = _parse_items(d.pop("items", UNSET))

        def _parse_key(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        key = _parse_key(d.pop("key", UNSET))

        def _parse_lease_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        lease_id = _parse_lease_id(d.pop("leaseId", UNSET))

        def _parse_partition(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        partition = _parse_partition(d.pop("partition", UNSET))

        partition_id = d.pop("partitionId", UNSET)

        payload = d.pop("payload", UNSET)

        queue = d.pop("queue", UNSET)

        def _parse_status(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        status = _parse_status(d.pop("status", UNSET))

        trace_id = d.pop("traceId", UNSET)

        def _parse_transaction_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        transaction_id = _parse_transaction_id(d.pop("transactionId", UNSET))

        transaction_operation = cls(
            type_=type_,
            consumer_group=consumer_group,
            data=data,
            error=error,
            items=items,
            key=key,
            lease_id=lease_id,
            partition=partition,
            partition_id=partition_id,
            payload=payload,
            queue=queue,
            status=status,
            trace_id=trace_id,
            transaction_id=transaction_id,
        )

        transaction_operation.additional_properties = d
        return transaction_operation

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
