from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.transaction_response_reason import TransactionResponseReason
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.transaction_result import TransactionResult


T = TypeVar("T", bound="TransactionResponse")


@_attrs_define
class TransactionResponse:
    """
    Attributes:
        results (list[TransactionResult]): One element a message and an acknowledgment, in request order; none when
            nothing happened.
        success (bool): false: nothing happened.
        transaction_id (UUID): Of this call.
        error (str | Unset): The same for people. Begins with QDUP when a pushed transactionId is there already, with
            QTXN when an acknowledgment cannot be carried out.
        reason (TransactionResponseReason | Unset): Why nothing happened.
    """

    results: list[TransactionResult]
    success: bool
    transaction_id: UUID
    error: str | Unset = UNSET
    reason: TransactionResponseReason | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        success = self.success

        transaction_id = str(self.transaction_id)

        error = self.error

        reason: str | Unset = UNSET
        if not isinstance(self.reason, Unset):
            reason = self.reason.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "results": results,
                "success": success,
                "transactionId": transaction_id,
            }
        )
        if error is not UNSET:
            field_dict["error"] = error
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.transaction_result import TransactionResult  # noqa: PLC0415

        d = dict(src_dict)
        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = TransactionResult.from_dict(results_item_data)

            results.append(results_item)

        success = d.pop("success")

        transaction_id = UUID(d.pop("transactionId"))

        error = d.pop("error", UNSET)

        _reason = d.pop("reason", UNSET)
        reason: TransactionResponseReason | Unset
        if isinstance(_reason, Unset):
            reason = UNSET
        else:
            reason = TransactionResponseReason(_reason)

        transaction_response = cls(
            results=results,
            success=success,
            transaction_id=transaction_id,
            error=error,
            reason=reason,
        )

        transaction_response.additional_properties = d
        return transaction_response

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
