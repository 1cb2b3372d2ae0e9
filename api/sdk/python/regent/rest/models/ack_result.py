from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AckResult")


@_attrs_define
class AckResult:
    """
    Attributes:
        dlq (bool): The message is a dead letter now.
        error (None | str): null on success.
        index (int):
        lease_released (bool):
        noop (bool): It was completed before.
        success (bool): The instruction was carried out; of a processed failed, too.
        transaction_id (str):
        conflated (int | Unset): Messages before it that a group with conflation skipped, completed with it.
    """

    dlq: bool
    error: None | str
    index: int
    lease_released: bool
    noop: bool
    success: bool
    transaction_id: str
    conflated: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        dlq = self.dlq

        error: None | str
        error = self.error

        index = self.index

        lease_released = self.lease_released

        noop = self.noop

        success = self.success

        transaction_id = self.transaction_id

        conflated = self.conflated

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "dlq": dlq,
                "error": error,
                "index": index,
                "leaseReleased": lease_released,
                "noop": noop,
                "success": success,
                "transactionId": transaction_id,
            }
        )
        if conflated is not UNSET:
            field_dict["conflated"] = conflated

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        dlq = d.pop("dlq")

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        index = d.pop("index")

        lease_released = d.pop("leaseReleased")

        noop = d.pop("noop")

        success = d.pop("success")

        transaction_id = d.pop("transactionId")

        conflated = d.pop("conflated", UNSET)

        ack_result = cls(
            dlq=dlq,
            error=error,
            index=index,
            lease_released=lease_released,
            noop=noop,
            success=success,
            transaction_id=transaction_id,
            conflated=conflated,
        )

        ack_result.additional_properties = d
        return ack_result

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
