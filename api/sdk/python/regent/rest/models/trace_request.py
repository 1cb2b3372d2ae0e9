from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="TraceRequest")


@_attrs_define
class TraceRequest:
    """
    Attributes:
        data (Any): Anything but null.
        partition_id (UUID): Of the message.
        transaction_id (str): Of the message. Whether there is one is not checked.
        consumer_group (None | str | Unset): Default __QUEUE_MODE__.
        event_type (None | str | Unset): Default info.
        trace_names (Any | Unset): A name or several that tie traces of many messages together; anything else is
            ignored.
    """

    data: Any
    partition_id: UUID
    transaction_id: str
    consumer_group: None | str | Unset = UNSET
    event_type: None | str | Unset = UNSET
    trace_names: Any | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = self.data

        partition_id = str(self.partition_id)

        transaction_id = self.transaction_id

        consumer_group: None | str | Unset
        if isinstance(self.consumer_group, Unset):
            consumer_group = UNSET
        else:
            consumer_group = self.consumer_group

        event_type: None | str | Unset
        if isinstance(self.event_type, Unset):
            event_type = UNSET
        else:
            event_type = self.event_type

        trace_names = self.trace_names

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
                "partitionId": partition_id,
                "transactionId": transaction_id,
            }
        )
        if consumer_group is not UNSET:
            field_dict["consumerGroup"] = consumer_group
        if event_type is not UNSET:
            field_dict["eventType"] = event_type
        if trace_names is not UNSET:
            field_dict["traceNames"] = trace_names

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        data = d.pop("data")

        partition_id = UUID(d.pop("partitionId"))

        transaction_id = d.pop("transactionId")

        def _parse_consumer_group(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        consumer_group = _parse_consumer_group(d.pop("consumerGroup", UNSET))

        def _parse_event_type(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        event_type = _parse_event_type(d.pop("eventType", UNSET))

        trace_names = d.pop("traceNames", UNSET)

        trace_request = cls(
            data=data,
            partition_id=partition_id,
            transaction_id=transaction_id,
            consumer_group=consumer_group,
            event_type=event_type,
            trace_names=trace_names,
        )

        trace_request.additional_properties = d
        return trace_request

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
