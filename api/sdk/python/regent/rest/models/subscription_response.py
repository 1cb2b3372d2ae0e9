from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SubscriptionResponse")


@_attrs_define
class SubscriptionResponse:
    """
    Attributes:
        consumer_group (str):
        new_timestamp (datetime.datetime):
        rows_updated (int): Queues on which the group is registered; 0 for one that never popped.
        success (bool):
    """

    consumer_group: str
    new_timestamp: datetime.datetime
    rows_updated: int
    success: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        new_timestamp = self.new_timestamp.isoformat()

        rows_updated = self.rows_updated

        success = self.success

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumerGroup": consumer_group,
                "newTimestamp": new_timestamp,
                "rowsUpdated": rows_updated,
                "success": success,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer_group = d.pop("consumerGroup")

        new_timestamp = datetime.datetime.fromisoformat(d.pop("newTimestamp"))

        rows_updated = d.pop("rowsUpdated")

        success = d.pop("success")

        subscription_response = cls(
            consumer_group=consumer_group,
            new_timestamp=new_timestamp,
            rows_updated=rows_updated,
            success=success,
        )

        subscription_response.additional_properties = d
        return subscription_response

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
