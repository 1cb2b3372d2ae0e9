from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DeleteQueueResponse")


@_attrs_define
class DeleteQueueResponse:
    """
    Attributes:
        deleted (bool):
        existed (bool):
        queue (str):
        message (str | Unset): Only when nothing was deleted.
    """

    deleted: bool
    existed: bool
    queue: str
    message: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        deleted = self.deleted

        existed = self.existed

        queue = self.queue

        message = self.message

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "deleted": deleted,
                "existed": existed,
                "queue": queue,
            }
        )
        if message is not UNSET:
            field_dict["message"] = message

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        deleted = d.pop("deleted")

        existed = d.pop("existed")

        queue = d.pop("queue")

        message = d.pop("message", UNSET)

        delete_queue_response = cls(
            deleted=deleted,
            existed=existed,
            queue=queue,
            message=message,
        )

        delete_queue_response.additional_properties = d
        return delete_queue_response

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
