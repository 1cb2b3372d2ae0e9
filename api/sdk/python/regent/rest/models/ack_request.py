from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AckRequest")


@_attrs_define
class AckRequest:
    """
    Attributes:
        consumer_group (None | str | Unset): Group that took the message.
        error (None | str | Unset): Reason, kept with a dead letter.
        lease_id (None | str | Unset): As delivered. Without it the lease is not checked.
        partition_id (str | Unset): As delivered.
        status (None | str | Unset): completed (also success, acked, ok, or none), retry, dlq; anything else is failed.
        transaction_id (str | Unset): As delivered.
    """

    consumer_group: None | str | Unset = UNSET
    error: None | str | Unset = UNSET
    lease_id: None | str | Unset = UNSET
    partition_id: str | Unset = UNSET
    status: None | str | Unset = UNSET
    transaction_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group: None | str | Unset
        if isinstance(self.consumer_group, Unset):
            consumer_group = UNSET
        else:
            consumer_group = self.consumer_group

        error: None | str | Unset
        if isinstance(self.error, Unset):
            error = UNSET
        else:
            error = self.error

        lease_id: None | str | Unset
        if isinstance(self.lease_id, Unset):
            lease_id = UNSET
        else:
            lease_id = self.lease_id

        partition_id = self.partition_id

        status: None | str | Unset
        if isinstance(self.status, Unset):
            status = UNSET
        else:
            status = self.status

        transaction_id = self.transaction_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if consumer_group is not UNSET:
            field_dict["consumerGroup"] = consumer_group
        if error is not UNSET:
            field_dict["error"] = error
        if lease_id is not UNSET:
            field_dict["leaseId"] = lease_id
        if partition_id is not UNSET:
            field_dict["partitionId"] = partition_id
        if status is not UNSET:
            field_dict["status"] = status
        if transaction_id is not UNSET:
            field_dict["transactionId"] = transaction_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_consumer_group(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        consumer_group = _parse_consumer_group(d.pop("consumerGroup", UNSET))

        def _parse_error(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        error = _parse_error(d.pop("error", UNSET))

        def _parse_lease_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        lease_id = _parse_lease_id(d.pop("leaseId", UNSET))

        partition_id = d.pop("partitionId", UNSET)

        def _parse_status(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        status = _parse_status(d.pop("status", UNSET))

        transaction_id = d.pop("transactionId", UNSET)

        ack_request = cls(
            consumer_group=consumer_group,
            error=error,
            lease_id=lease_id,
            partition_id=partition_id,
            status=status,
            transaction_id=transaction_id,
        )

        ack_request.additional_properties = d
        return ack_request

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
