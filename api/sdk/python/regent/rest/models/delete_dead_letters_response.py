from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DeleteDeadLettersResponse")


@_attrs_define
class DeleteDeadLettersResponse:
    """
    Attributes:
        deleted (int):
        queue (str):
        success (bool):
        consumer_group (str | Unset):
    """

    deleted: int
    queue: str
    success: bool
    consumer_group: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        deleted = self.deleted

        queue = self.queue

        success = self.success

        consumer_group = self.consumer_group

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "deleted": deleted,
                "queue": queue,
                "success": success,
            }
        )
        if consumer_group is not UNSET:
            field_dict["consumerGroup"] = consumer_group

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        deleted = d.pop("deleted")

        queue = d.pop("queue")

        success = d.pop("success")

        consumer_group = d.pop("consumerGroup", UNSET)

        delete_dead_letters_response = cls(
            deleted=deleted,
            queue=queue,
            success=success,
            consumer_group=consumer_group,
        )

        delete_dead_letters_response.additional_properties = d
        return delete_dead_letters_response

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
