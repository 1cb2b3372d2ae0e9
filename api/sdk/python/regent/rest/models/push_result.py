from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.push_result_status import PushResultStatus
from ..types import UNSET, Unset

T = TypeVar("T", bound="PushResult")


@_attrs_define
class PushResult:
    """
    Attributes:
        index (int): Position in the request.
        message_id (UUID): Id of the message; of a duplicate, that of the original, all zero when it is gone. Of a
            buffered message, its transaction id if that was minted, else all zero.
        queue_name (str):
        status (PushResultStatus): queued: stored. duplicate: it was there already. buffered: on the server's disk, to
            be stored exactly once when the database takes it. failed: it is not stored.
        transaction_id (str): The deduplication key that was used.
        error (str | Unset): Why it failed.
    """

    index: int
    message_id: UUID
    queue_name: str
    status: PushResultStatus
    transaction_id: str
    error: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        index = self.index

        message_id = str(self.message_id)

        queue_name = self.queue_name

        status = self.status.value

        transaction_id = self.transaction_id

        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "index": index,
                "message_id": message_id,
                "queueName": queue_name,
                "status": status,
                "transaction_id": transaction_id,
            }
        )
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        index = d.pop("index")

        message_id = UUID(d.pop("message_id"))

        queue_name = d.pop("queueName")

        status = PushResultStatus(d.pop("status"))

        transaction_id = d.pop("transaction_id")

        error = d.pop("error", UNSET)

        push_result = cls(
            index=index,
            message_id=message_id,
            queue_name=queue_name,
            status=status,
            transaction_id=transaction_id,
            error=error,
        )

        push_result.additional_properties = d
        return push_result

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
