from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeleteMessageResponse")


@_attrs_define
class DeleteMessageResponse:
    """
    Attributes:
        message (str):
        partition_id (UUID):
        success (bool):
        transaction_id (str):
    """

    message: str
    partition_id: UUID
    success: bool
    transaction_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        partition_id = str(self.partition_id)

        success = self.success

        transaction_id = self.transaction_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "message": message,
                "partitionId": partition_id,
                "success": success,
                "transactionId": transaction_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        message = d.pop("message")

        partition_id = UUID(d.pop("partitionId"))

        success = d.pop("success")

        transaction_id = d.pop("transactionId")

        delete_message_response = cls(
            message=message,
            partition_id=partition_id,
            success=success,
            transaction_id=transaction_id,
        )

        delete_message_response.additional_properties = d
        return delete_message_response

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
