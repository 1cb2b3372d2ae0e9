from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.message_detail_status import MessageDetailStatus

if TYPE_CHECKING:
    from ..models.message_consumer import MessageConsumer
    from ..models.message_mode import MessageMode
    from ..models.queue_options import QueueOptions


T = TypeVar("T", bound="MessageDetail")


@_attrs_define
class MessageDetail:
    """
    Attributes:
        consumer_groups (list[MessageConsumer]):
        created_at (datetime.datetime): When it was stored; of a message that only its dead letter is left of, when it
            failed.
        data (Any):
        error_message (None | str): Why it is a dead letter.
        id (UUID):
        is_encrypted (bool): Whether it is stored encrypted.
        lease_expires_at (datetime.datetime | None):
        mode (MessageMode):
        namespace (str):
        partition (str):
        partition_id (UUID):
        payload (Any): The same as data.
        producer_sub (None | str):
        queue (str):
        queue_config (QueueOptions):
        queue_path (str):
        retry_count (int): Failed attempts before it became a dead letter, else 0.
        status (MessageDetailStatus):
        task (str):
        trace_id (None | str):
        transaction_id (str):
    """

    consumer_groups: list[MessageConsumer]
    created_at: datetime.datetime
    data: Any
    error_message: None | str
    id: UUID
    is_encrypted: bool
    lease_expires_at: datetime.datetime | None
    mode: MessageMode
    namespace: str
    partition: str
    partition_id: UUID
    payload: Any
    producer_sub: None | str
    queue: str
    queue_config: QueueOptions
    queue_path: str
    retry_count: int
    status: MessageDetailStatus
    task: str
    trace_id: None | str
    transaction_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_groups = []
        for consumer_groups_item_data in self.consumer_groups:
            consumer_groups_item = consumer_groups_item_data.to_dict()
            consumer_groups.append(consumer_groups_item)

        created_at = self.created_at.isoformat()

        data = self.data

        error_message: None | str
        error_message = self.error_message

        id = str(self.id)

        is_encrypted = self.is_encrypted

        lease_expires_at: None | str
        if isinstance(self.lease_expires_at, datetime.datetime):
            lease_expires_at = self.lease_expires_at.isoformat()
        else:
            lease_expires_at = self.lease_expires_at

        mode = self.mode.to_dict()

        namespace = self.namespace

        partition = self.partition

        partition_id = str(self.partition_id)

        payload = self.payload

        producer_sub: None | str
        producer_sub = self.producer_sub

        queue = self.queue

        queue_config = self.queue_config.to_dict()

        queue_path = self.queue_path

        retry_count = self.retry_count

        status = self.status.value

        task = self.task

        trace_id: None | str
        trace_id = self.trace_id

        transaction_id = self.transaction_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumerGroups": consumer_groups,
                "createdAt": created_at,
                "data": data,
                "errorMessage": error_message,
                "id": id,
                "isEncrypted": is_encrypted,
                "leaseExpiresAt": lease_expires_at,
                "mode": mode,
                "namespace": namespace,
                "partition": partition,
                "partitionId": partition_id,
                "payload": payload,
                "producerSub": producer_sub,
                "queue": queue,
                "queueConfig": queue_config,
                "queuePath": queue_path,
                "retryCount": retry_count,
                "status": status,
                "task": task,
                "traceId": trace_id,
                "transactionId": transaction_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.message_consumer import MessageConsumer  # noqa: PLC0415
        from ..models.message_mode import MessageMode  # noqa: PLC0415
        from ..models.queue_options import QueueOptions  # noqa: PLC0415

        d = dict(src_dict)
        consumer_groups = []
        _consumer_groups = d.pop("consumerGroups")
        for consumer_groups_item_data in _consumer_groups:
            consumer_groups_item = MessageConsumer.from_dict(consumer_groups_item_data)

            consumer_groups.append(consumer_groups_item)

        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        data = d.pop("data")

        def _parse_error_message(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error_message = _parse_error_message(d.pop("errorMessage"))

        id = UUID(d.pop("id"))

        is_encrypted = d.pop("isEncrypted")

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

        mode = MessageMode.from_dict(d.pop("mode"))

        namespace = d.pop("namespace")

        partition = d.pop("partition")

        partition_id = UUID(d.pop("partitionId"))

        payload = d.pop("payload")

        def _parse_producer_sub(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        producer_sub = _parse_producer_sub(d.pop("producerSub"))

        queue = d.pop("queue")

        queue_config = QueueOptions.from_dict(d.pop("queueConfig"))

        queue_path = d.pop("queuePath")

        retry_count = d.pop("retryCount")

        status = MessageDetailStatus(d.pop("status"))

        task = d.pop("task")

        def _parse_trace_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        trace_id = _parse_trace_id(d.pop("traceId"))

        transaction_id = d.pop("transactionId")

        message_detail = cls(
            consumer_groups=consumer_groups,
            created_at=created_at,
            data=data,
            error_message=error_message,
            id=id,
            is_encrypted=is_encrypted,
            lease_expires_at=lease_expires_at,
            mode=mode,
            namespace=namespace,
            partition=partition,
            partition_id=partition_id,
            payload=payload,
            producer_sub=producer_sub,
            queue=queue,
            queue_config=queue_config,
            queue_path=queue_path,
            retry_count=retry_count,
            status=status,
            task=task,
            trace_id=trace_id,
            transaction_id=transaction_id,
        )

        message_detail.additional_properties = d
        return message_detail

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
