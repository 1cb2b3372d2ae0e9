from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="StatusErrors")


@_attrs_define
class StatusErrors:
    """
    Attributes:
        ack_failed (int):
        db_errors (int):
        dlq_messages (int):
    """

    ack_failed: int
    db_errors: int
    dlq_messages: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ack_failed = self.ack_failed

        db_errors = self.db_errors

        dlq_messages = self.dlq_messages

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ackFailed": ack_failed,
                "dbErrors": db_errors,
                "dlqMessages": dlq_messages,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ack_failed = d.pop("ackFailed")

        db_errors = d.pop("dbErrors")

        dlq_messages = d.pop("dlqMessages")

        status_errors = cls(
            ack_failed=ack_failed,
            db_errors=db_errors,
            dlq_messages=dlq_messages,
        )

        status_errors.additional_properties = d
        return status_errors

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
