from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.transaction_result_type import TransactionResultType
from ..types import UNSET, Unset

T = TypeVar("T", bound="TransactionResult")


@_attrs_define
class TransactionResult:
    """
    Attributes:
        index (int):
        success (bool): false only of an ack other than completed, of a message that was completed before: it changed
            nothing.
        transaction_id (str):
        type_ (TransactionResultType):
        dlq (bool | Unset): ack: the message is a dead letter now.
        duplicate (bool | Unset): push: it repeats an earlier message of this call, whose id it has.
        error (None | str | Unset): ack: always null.
        message_id (UUID | Unset): push: id of the message.
        queue_name (str | Unset): push: its queue.
    """

    index: int
    success: bool
    transaction_id: str
    type_: TransactionResultType
    dlq: bool | Unset = UNSET
    duplicate: bool | Unset = UNSET
    error: None | str | Unset = UNSET
    message_id: UUID | Unset = UNSET
    queue_name: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        index = self.index

        success = self.success

        transaction_id = self.transaction_id

        type_ = self.type_.value

        dlq = self.dlq

        duplicate = self.duplicate

        error: None | str | Unset
        if isinstance(self.error, Unset):
            error = UNSET
        else:
            error = self.error

        message_id: str | Unset = UNSET
        if not isinstance(self.message_id, Unset):
            message_id = str(self.message_id)

        queue_name = self.queue_name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "index": index,
                "success": success,
                "transactionId": transaction_id,
                "type": type_,
            }
        )
        if dlq is not UNSET:
            field_dict["dlq"] = dlq
        if duplicate is not UNSET:
            field_dict["duplicate"] = duplicate
        if error is not UNSET:
            field_dict["error"] = error
        if message_id is not UNSET:
            field_dict["messageId"] = message_id
        if queue_name is not UNSET:
            field_dict["queueName"] = queue_name

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        index = d.pop("index")

        success = d.pop("success")

        transaction_id = d.pop("transactionId")

        type_ = TransactionResultType(d.pop("type"))

        dlq = d.pop("dlq", UNSET)

        duplicate = d.pop("duplicate", UNSET)

        def _parse_error(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        error = _parse_error(d.pop("error", UNSET))

        _message_id = d.pop("messageId", UNSET)
        message_id: UUID | Unset
        if isinstance(_message_id, Unset):
            message_id = UNSET
        else:
            message_id = UUID(_message_id)

        queue_name = d.pop("queueName", UNSET)

        transaction_result = cls(
            index=index,
            success=success,
            transaction_id=transaction_id,
            type_=type_,
            dlq=dlq,
            duplicate=duplicate,
            error=error,
            message_id=message_id,
            queue_name=queue_name,
        )

        transaction_result.additional_properties = d
        return transaction_result

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
