from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WorkloadWindow")


@_attrs_define
class WorkloadWindow:
    """
    Attributes:
        ack_failed (int): Refused, or anything but completed.
        ack_requests (int):
        ack_success (int): Completed, autoAck included.
        avg_lag_ms (float | None): Average age at delivery; null when nothing was delivered.
        conflated (int): Messages passed over because a newer one of the same key stood for them.
        max_lag_ms (int | None):
        parked_avg (float): Pops parked on the average of the range, at all servers.
        partitions_created (int):
        partitions_deleted (int):
        pop_empty (int): Pops that found nothing.
        pop_messages (int):
        push_messages (int): Messages stored.
        push_requests (int):
        transactions (int):
    """

    ack_failed: int
    ack_requests: int
    ack_success: int
    avg_lag_ms: float | None
    conflated: int
    max_lag_ms: int | None
    parked_avg: float
    partitions_created: int
    partitions_deleted: int
    pop_empty: int
    pop_messages: int
    push_messages: int
    push_requests: int
    transactions: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ack_failed = self.ack_failed

        ack_requests = self.ack_requests

        ack_success = self.ack_success

        avg_lag_ms: float | None
        avg_lag_ms = self.avg_lag_ms

        conflated = self.conflated

        max_lag_ms: int | None
        max_lag_ms = self.max_lag_ms

        parked_avg = self.parked_avg

        partitions_created = self.partitions_created

        partitions_deleted = self.partitions_deleted

        pop_empty = self.pop_empty

        pop_messages = self.pop_messages

        push_messages = self.push_messages

        push_requests = self.push_requests

        transactions = self.transactions

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ackFailed": ack_failed,
                "ackRequests": ack_requests,
                "ackSuccess": ack_success,
                "avgLagMs": avg_lag_ms,
                "conflated": conflated,
                "maxLagMs": max_lag_ms,
                "parkedAvg": parked_avg,
                "partitionsCreated": partitions_created,
                "partitionsDeleted": partitions_deleted,
                "popEmpty": pop_empty,
                "popMessages": pop_messages,
                "pushMessages": push_messages,
                "pushRequests": push_requests,
                "transactions": transactions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ack_failed = d.pop("ackFailed")

        ack_requests = d.pop("ackRequests")

        ack_success = d.pop("ackSuccess")

        def _parse_avg_lag_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        avg_lag_ms = _parse_avg_lag_ms(d.pop("avgLagMs"))

        conflated = d.pop("conflated")

        def _parse_max_lag_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_lag_ms = _parse_max_lag_ms(d.pop("maxLagMs"))

        parked_avg = d.pop("parkedAvg")

        partitions_created = d.pop("partitionsCreated")

        partitions_deleted = d.pop("partitionsDeleted")

        pop_empty = d.pop("popEmpty")

        pop_messages = d.pop("popMessages")

        push_messages = d.pop("pushMessages")

        push_requests = d.pop("pushRequests")

        transactions = d.pop("transactions")

        workload_window = cls(
            ack_failed=ack_failed,
            ack_requests=ack_requests,
            ack_success=ack_success,
            avg_lag_ms=avg_lag_ms,
            conflated=conflated,
            max_lag_ms=max_lag_ms,
            parked_avg=parked_avg,
            partitions_created=partitions_created,
            partitions_deleted=partitions_deleted,
            pop_empty=pop_empty,
            pop_messages=pop_messages,
            push_messages=push_messages,
            push_requests=push_requests,
            transactions=transactions,
        )

        workload_window.additional_properties = d
        return workload_window

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
