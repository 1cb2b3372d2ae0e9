from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="MissingMessage")


@_attrs_define
class MissingMessage:
    """
    Attributes:
        code (str): What went wrong, for programs: QNxxx, an SQLSTATE, or a word.
        error (str): What went wrong, for people. Never repeats what was sent.
        message (str):
        partition_id (str):
        retryable (bool): Whether the same call may succeed later.
        success (bool):
        transaction_id (str):
        invalid (str | Unset): The option or argument at fault, where one is known.
    """

    code: str
    error: str
    message: str
    partition_id: str
    retryable: bool
    success: bool
    transaction_id: str
    invalid: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        error = self.error

        message = self.message

        partition_id = self.partition_id

        retryable = self.retryable

        success = self.success

        transaction_id = self.transaction_id

        invalid = self.invalid

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "error": error,
                "message": message,
                "partitionId": partition_id,
                "retryable": retryable,
                "success": success,
                "transactionId": transaction_id,
            }
        )
        if invalid is not UNSET:
            field_dict["invalid"] = invalid

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        error = d.pop("error")

        message = d.pop("message")

        partition_id = d.pop("partitionId")

        retryable = d.pop("retryable")

        success = d.pop("success")

        transaction_id = d.pop("transactionId")

        invalid = d.pop("invalid", UNSET)

        missing_message = cls(
            code=code,
            error=error,
            message=message,
            partition_id=partition_id,
            retryable=retryable,
            success=success,
            transaction_id=transaction_id,
            invalid=invalid,
        )

        missing_message.additional_properties = d
        return missing_message

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
