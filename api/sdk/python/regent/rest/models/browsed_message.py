from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.browsed_message_queue_status import BrowsedMessageQueueStatus
from ..models.browsed_message_status import BrowsedMessageStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bus_status import BusStatus
    from ..models.segment_place import SegmentPlace


T = TypeVar("T", bound="BrowsedMessage")


@_attrs_define
class BrowsedMessage:
    """
    Attributes:
        bus_status (BusStatus):
        created_at (datetime.datetime):
        data (Any):
        id (None | UUID):
        lease_expires_at (datetime.datetime | None):
        namespace (str):
        partition (str):
        partition_id (UUID):
        payload (Any): The same as data.
        payload_available (bool): false: the stored payload cannot be read; id, transactionId and data are null.
        producer_sub (None | str):
        queue (str):
        queue_path (str):
        queue_status (BrowsedMessageQueueStatus): By the consumers without a group.
        segment (SegmentPlace):
        status (BrowsedMessageStatus):
        task (str):
        trace_id (None | str):
        transaction_id (None | str):
        txn_hash (str): Hash of the transactionId in its partition.
        is_encrypted (bool | Unset): Whether it is stored encrypted; absent when not.
    """

    bus_status: BusStatus
    created_at: datetime.datetime
    data: Any
    id: None | UUID
    lease_expires_at: datetime.datetime | None
    namespace: str
    partition: str
    partition_id: UUID
    payload: Any
    payload_available: bool
    producer_sub: None | str
    queue: str
    queue_path: str
    queue_status: BrowsedMessageQueueStatus
    segment: SegmentPlace
    status: BrowsedMessageStatus
    task: str
    trace_id: None | str
    transaction_id: None | str
    txn_hash: str
    is_encrypted: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bus_status = self.bus_status.to_dict()

        created_at = self.created_at.isoformat()

        data = self.data

        id: None | str
        if isinstance(self.id, UUID):
            id = str(self.id)
        else:
            id = self.id

        lease_expires_at: None | str
        if isinstance(self.lease_expires_at, datetime.datetime):
            lease_expires_at = self.lease_expires_at.isoformat()
        else:
            lease_expires_at = self.lease_expires_at

        namespace = self.namespace

        partition = self.partition

        partition_id = str(self.partition_id)

        payload = self.payload

        payload_available = self.payload_available

        producer_sub: None | str
        producer_sub = self.producer_sub

        queue = self.queue

        queue_path = self.queue_path

        queue_status = self.queue_status.value

        segment = self.segment.to_dict()

        status = self.status.value

        task = self.task

        trace_id: None | str
        trace_id = self.trace_id

        transaction_id: None | str
        transaction_id = self.transaction_id

        txn_hash = self.txn_hash

        is_encrypted = self.is_encrypted

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "busStatus": bus_status,
                "createdAt": created_at,
                "data": data,
                "id": id,
                "leaseExpiresAt": lease_expires_at,
                "namespace": namespace,
                "partition": partition,
                "partitionId": partition_id,
                "payload": payload,
                "payloadAvailable": payload_available,
                "producerSub": producer_sub,
                "queue": queue,
                "queuePath": queue_path,
                "queueStatus": queue_status,
                "segment": segment,
                "status": status,
                "task": task,
                "traceId": trace_id,
                "transactionId": transaction_id,
                "txnHash": txn_hash,
            }
        )
        if is_encrypted is not UNSET:
            field_dict["isEncrypted"] = is_encrypted

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bus_status import BusStatus  # noqa: PLC0415
        from ..models.segment_place import SegmentPlace  # noqa: PLC0415

        d = dict(src_dict)
        bus_status = BusStatus.from_dict(d.pop("busStatus"))

        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        data = d.pop("data")

        def _parse_id(data: object) -> None | UUID:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                id_type_0 = UUID(data)

                return id_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UUID, data)

        id = _parse_id(d.pop("id"))

        def _parse_lease_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                lease_expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return lease_expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        lease_expires_at = _parse_lease_expires_at(d.pop("leaseExpiresAt"))

        namespace = d.pop("namespace")

        partition = d.pop("partition")

        partition_id = UUID(d.pop("partitionId"))

        payload = d.pop("payload")

        payload_available = d.pop("payloadAvailable")

        def _parse_producer_sub(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        producer_sub = _parse_producer_sub(d.pop("producerSub"))

        queue = d.pop("queue")

        queue_path = d.pop("queuePath")

        queue_status = BrowsedMessageQueueStatus(d.pop("queueStatus"))

        segment = SegmentPlace.from_dict(d.pop("segment"))

        status = BrowsedMessageStatus(d.pop("status"))

        task = d.pop("task")

        def _parse_trace_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        trace_id = _parse_trace_id(d.pop("traceId"))

        def _parse_transaction_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        transaction_id = _parse_transaction_id(d.pop("transactionId"))

        txn_hash = d.pop("txnHash")

        is_encrypted = d.pop("isEncrypted", UNSET)

        browsed_message = cls(
            bus_status=bus_status,
            created_at=created_at,
            data=data,
            id=id,
            lease_expires_at=lease_expires_at,
            namespace=namespace,
            partition=partition,
            partition_id=partition_id,
            payload=payload,
            payload_available=payload_available,
            producer_sub=producer_sub,
            queue=queue,
            queue_path=queue_path,
            queue_status=queue_status,
            segment=segment,
            status=status,
            task=task,
            trace_id=trace_id,
            transaction_id=transaction_id,
            txn_hash=txn_hash,
            is_encrypted=is_encrypted,
        )

        browsed_message.additional_properties = d
        return browsed_message

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
