from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="QueueOpsPoint")


@_attrs_define
class QueueOpsPoint:
    """
    Attributes:
        ack_failed (int): Refused, or anything but completed.
        ack_per_second (float):
        ack_requests (int):
        ack_success (int): Completed, autoAck included.
        avg_lag_ms (float | None):
        bucket (datetime.datetime):
        empty_per_second (float):
        max_lag_ms (int | None):
        parked_count (float): Pops parked on the average, at all servers.
        partition_count (int): As the reconciler counted them last; 0 when it had not.
        partitions_created (int):
        partitions_deleted (int):
        pop_empty (int): Pops that found nothing.
        pop_messages (int):
        pop_per_second (float):
        push_messages (int): Messages stored.
        push_per_second (float):
        push_requests (int):
        queue_name (str):
        transactions (int):
    """

    ack_failed: int
    ack_per_second: float
    ack_requests: int
    ack_success: int
    avg_lag_ms: float | None
    bucket: datetime.datetime
    empty_per_second: float
    max_lag_ms: int | None
    parked_count: float
    partition_count: int
    partitions_created: int
    partitions_deleted: int
    pop_empty: int
    pop_messages: int
    pop_per_second: float
    push_messages: int
    push_per_second: float
    push_requests: int
    queue_name: str
    transactions: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ack_failed = self.ack_failed

        ack_per_second = self.ack_per_second

        ack_requests = self.ack_requests

        ack_success = self.ack_success

        avg_lag_ms: float | None
        avg_lag_ms = self.avg_lag_ms

        bucket = self.bucket.isoformat()

        empty_per_second = self.empty_per_second

        max_lag_ms: int | None
        max_lag_ms = self.max_lag_ms

        parked_count = self.parked_count

        partition_count = self.partition_count

        partitions_created = self.partitions_created

        partitions_deleted = self.partitions_deleted

        pop_empty = self.pop_empty

        pop_messages = self.pop_messages

        pop_per_second = self.pop_per_second

        push_messages = self.push_messages

        push_per_second = self.push_per_second

        push_requests = self.push_requests

        queue_name = self.queue_name

        transactions = self.transactions

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ackFailed": ack_failed,
                "ackPerSecond": ack_per_second,
                "ackRequests": ack_requests,
                "ackSuccess": ack_success,
                "avgLagMs": avg_lag_ms,
                "bucket": bucket,
                "emptyPerSecond": empty_per_second,
                "maxLagMs": max_lag_ms,
                "parkedCount": parked_count,
                "partitionCount": partition_count,
                "partitionsCreated": partitions_created,
                "partitionsDeleted": partitions_deleted,
                "popEmpty": pop_empty,
                "popMessages": pop_messages,
                "popPerSecond": pop_per_second,
                "pushMessages": push_messages,
                "pushPerSecond": push_per_second,
                "pushRequests": push_requests,
                "queueName": queue_name,
                "transactions": transactions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ack_failed = d.pop("ackFailed")

        ack_per_second = d.pop("ackPerSecond")

        ack_requests = d.pop("ackRequests")

        ack_success = d.pop("ackSuccess")

        def _parse_avg_lag_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        avg_lag_ms = _parse_avg_lag_ms(d.pop("avgLagMs"))

        bucket = datetime.datetime.fromisoformat(d.pop("bucket"))

        empty_per_second = d.pop("emptyPerSecond")

        def _parse_max_lag_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_lag_ms = _parse_max_lag_ms(d.pop("maxLagMs"))

        parked_count = d.pop("parkedCount")

        partition_count = d.pop("partitionCount")

        partitions_created = d.pop("partitionsCreated")

        partitions_deleted = d.pop("partitionsDeleted")

        pop_empty = d.pop("popEmpty")

        pop_messages = d.pop("popMessages")

        pop_per_second = d.pop("popPerSecond")

        push_messages = d.pop("pushMessages")

        push_per_second = d.pop("pushPerSecond")

        push_requests = d.pop("pushRequests")

        queue_name = d.pop("queueName")

        transactions = d.pop("transactions")

        queue_ops_point = cls(
            ack_failed=ack_failed,
            ack_per_second=ack_per_second,
            ack_requests=ack_requests,
            ack_success=ack_success,
            avg_lag_ms=avg_lag_ms,
            bucket=bucket,
            empty_per_second=empty_per_second,
            max_lag_ms=max_lag_ms,
            parked_count=parked_count,
            partition_count=partition_count,
            partitions_created=partitions_created,
            partitions_deleted=partitions_deleted,
            pop_empty=pop_empty,
            pop_messages=pop_messages,
            pop_per_second=pop_per_second,
            push_messages=push_messages,
            push_per_second=push_per_second,
            push_requests=push_requests,
            queue_name=queue_name,
            transactions=transactions,
        )

        queue_ops_point.additional_properties = d
        return queue_ops_point

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
