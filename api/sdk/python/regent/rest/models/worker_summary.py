from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WorkerSummary")


@_attrs_define
class WorkerSummary:
    """
    Attributes:
        pending_messages (int): As the reconciler counted them last.
        total_ack_failed (int):
        total_ack_messages (int):
        total_ack_requests (int):
        total_db_errors (int):
        total_dlq (int):
        total_pop_messages (int):
        total_pop_requests (int):
        total_push_messages (int):
        total_push_requests (int):
    """

    pending_messages: int
    total_ack_failed: int
    total_ack_messages: int
    total_ack_requests: int
    total_db_errors: int
    total_dlq: int
    total_pop_messages: int
    total_pop_requests: int
    total_push_messages: int
    total_push_requests: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        pending_messages = self.pending_messages

        total_ack_failed = self.total_ack_failed

        total_ack_messages = self.total_ack_messages

        total_ack_requests = self.total_ack_requests

        total_db_errors = self.total_db_errors

        total_dlq = self.total_dlq

        total_pop_messages = self.total_pop_messages

        total_pop_requests = self.total_pop_requests

        total_push_messages = self.total_push_messages

        total_push_requests = self.total_push_requests

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "pendingMessages": pending_messages,
                "totalAckFailed": total_ack_failed,
                "totalAckMessages": total_ack_messages,
                "totalAckRequests": total_ack_requests,
                "totalDbErrors": total_db_errors,
                "totalDlq": total_dlq,
                "totalPopMessages": total_pop_messages,
                "totalPopRequests": total_pop_requests,
                "totalPushMessages": total_push_messages,
                "totalPushRequests": total_push_requests,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        pending_messages = d.pop("pendingMessages")

        total_ack_failed = d.pop("totalAckFailed")

        total_ack_messages = d.pop("totalAckMessages")

        total_ack_requests = d.pop("totalAckRequests")

        total_db_errors = d.pop("totalDbErrors")

        total_dlq = d.pop("totalDlq")

        total_pop_messages = d.pop("totalPopMessages")

        total_pop_requests = d.pop("totalPopRequests")

        total_push_messages = d.pop("totalPushMessages")

        total_push_requests = d.pop("totalPushRequests")

        worker_summary = cls(
            pending_messages=pending_messages,
            total_ack_failed=total_ack_failed,
            total_ack_messages=total_ack_messages,
            total_ack_requests=total_ack_requests,
            total_db_errors=total_db_errors,
            total_dlq=total_dlq,
            total_pop_messages=total_pop_messages,
            total_pop_requests=total_pop_requests,
            total_push_messages=total_push_messages,
            total_push_requests=total_push_requests,
        )

        worker_summary.additional_properties = d
        return worker_summary

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
