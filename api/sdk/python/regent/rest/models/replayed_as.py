from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.replayed_as_status import ReplayedAsStatus

T = TypeVar("T", bound="ReplayedAs")


@_attrs_define
class ReplayedAs:
    """
    Attributes:
        index (int):
        message_id (UUID): All zero for a duplicate.
        offset (int | None): Place in the partition; of a duplicate, that of the message found.
        queue_name (str):
        status (ReplayedAsStatus):
        transaction_id (str):
    """

    index: int
    message_id: UUID
    offset: int | None
    queue_name: str
    status: ReplayedAsStatus
    transaction_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        index = self.index

        message_id = str(self.message_id)

        offset: int | None
        offset = self.offset

        queue_name = self.queue_name

        status = self.status.value

        transaction_id = self.transaction_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "index": index,
                "message_id": message_id,
                "offset": offset,
                "queueName": queue_name,
                "status": status,
                "transaction_id": transaction_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        index = d.pop("index")

        message_id = UUID(d.pop("message_id"))

        def _parse_offset(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        offset = _parse_offset(d.pop("offset"))

        queue_name = d.pop("queueName")

        status = ReplayedAsStatus(d.pop("status"))

        transaction_id = d.pop("transaction_id")

        replayed_as = cls(
            index=index,
            message_id=message_id,
            offset=offset,
            queue_name=queue_name,
            status=status,
            transaction_id=transaction_id,
        )

        replayed_as.additional_properties = d
        return replayed_as

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
