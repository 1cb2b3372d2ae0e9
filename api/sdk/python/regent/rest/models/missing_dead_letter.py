from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.missing_dead_letter_result import MissingDeadLetterResult
from ..types import UNSET, Unset

T = TypeVar("T", bound="MissingDeadLetter")


@_attrs_define
class MissingDeadLetter:
    """
    Attributes:
        code (str): What went wrong, for programs: QNxxx, an SQLSTATE, or a word.
        dlq_id (str):
        error (str): What went wrong, for people. Never repeats what was sent.
        message (str):
        result (MissingDeadLetterResult):
        retryable (bool): Whether the same call may succeed later.
        success (bool):
        invalid (str | Unset): The option or argument at fault, where one is known.
    """

    code: str
    dlq_id: str
    error: str
    message: str
    result: MissingDeadLetterResult
    retryable: bool
    success: bool
    invalid: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        dlq_id = self.dlq_id

        error = self.error

        message = self.message

        result = self.result.value

        retryable = self.retryable

        success = self.success

        invalid = self.invalid

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "dlqId": dlq_id,
                "error": error,
                "message": message,
                "result": result,
                "retryable": retryable,
                "success": success,
            }
        )
        if invalid is not UNSET:
            field_dict["invalid"] = invalid

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        dlq_id = d.pop("dlqId")

        error = d.pop("error")

        message = d.pop("message")

        result = MissingDeadLetterResult(d.pop("result"))

        retryable = d.pop("retryable")

        success = d.pop("success")

        invalid = d.pop("invalid", UNSET)

        missing_dead_letter = cls(
            code=code,
            dlq_id=dlq_id,
            error=error,
            message=message,
            result=result,
            retryable=retryable,
            success=success,
            invalid=invalid,
        )

        missing_dead_letter.additional_properties = d
        return missing_dead_letter

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
