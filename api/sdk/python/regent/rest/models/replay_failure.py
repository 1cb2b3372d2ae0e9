from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.replay_failure_result import ReplayFailureResult
from ..types import UNSET, Unset

T = TypeVar("T", bound="ReplayFailure")


@_attrs_define
class ReplayFailure:
    """
    Attributes:
        code (str): What went wrong, for programs: QNxxx, an SQLSTATE, or a word.
        dlq_row_removed (bool | None): false: nothing happened. null: the answer of the database was lost, and so it is
            not known.
        error (str): What went wrong, for people. Never repeats what was sent.
        retryable (bool): Whether the same call may succeed later.
        success (bool):
        dlq_id (UUID | Unset):
        invalid (str | Unset): The option or argument at fault, where one is known.
        result (ReplayFailureResult | Unset):
    """

    code: str
    dlq_row_removed: bool | None
    error: str
    retryable: bool
    success: bool
    dlq_id: UUID | Unset = UNSET
    invalid: str | Unset = UNSET
    result: ReplayFailureResult | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        dlq_row_removed: bool | None
        dlq_row_removed = self.dlq_row_removed

        error = self.error

        retryable = self.retryable

        success = self.success

        dlq_id: str | Unset = UNSET
        if not isinstance(self.dlq_id, Unset):
            dlq_id = str(self.dlq_id)

        invalid = self.invalid

        result: str | Unset = UNSET
        if not isinstance(self.result, Unset):
            result = self.result.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "dlqRowRemoved": dlq_row_removed,
                "error": error,
                "retryable": retryable,
                "success": success,
            }
        )
        if dlq_id is not UNSET:
            field_dict["dlqId"] = dlq_id
        if invalid is not UNSET:
            field_dict["invalid"] = invalid
        if result is not UNSET:
            field_dict["result"] = result

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        def _parse_dlq_row_removed(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        dlq_row_removed = _parse_dlq_row_removed(d.pop("dlqRowRemoved"))

        error = d.pop("error")

        retryable = d.pop("retryable")

        success = d.pop("success")

        _dlq_id = d.pop("dlqId", UNSET)
        dlq_id: UUID | Unset
        if isinstance(_dlq_id, Unset):
            dlq_id = UNSET
        else:
            dlq_id = UUID(_dlq_id)

        invalid = d.pop("invalid", UNSET)

        _result = d.pop("result", UNSET)
        result: ReplayFailureResult | Unset
        if isinstance(_result, Unset):
            result = UNSET
        else:
            result = ReplayFailureResult(_result)

        replay_failure = cls(
            code=code,
            dlq_row_removed=dlq_row_removed,
            error=error,
            retryable=retryable,
            success=success,
            dlq_id=dlq_id,
            invalid=invalid,
            result=result,
        )

        replay_failure.additional_properties = d
        return replay_failure

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
