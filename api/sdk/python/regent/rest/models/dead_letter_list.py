from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.dead_letter import DeadLetter
    from ..models.pagination import Pagination


T = TypeVar("T", bound="DeadLetterList")


@_attrs_define
class DeadLetterList:
    """
    Attributes:
        messages (list[DeadLetter]):
        pagination (Pagination):
        total (int): Length of this page.
    """

    messages: list[DeadLetter]
    pagination: Pagination
    total: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        messages = []
        for messages_item_data in self.messages:
            messages_item = messages_item_data.to_dict()
            messages.append(messages_item)

        pagination = self.pagination.to_dict()

        total = self.total

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "messages": messages,
                "pagination": pagination,
                "total": total,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.dead_letter import DeadLetter  # noqa: PLC0415
        from ..models.pagination import Pagination  # noqa: PLC0415

        d = dict(src_dict)
        messages = []
        _messages = d.pop("messages")
        for messages_item_data in _messages:
            messages_item = DeadLetter.from_dict(messages_item_data)

            messages.append(messages_item)

        pagination = Pagination.from_dict(d.pop("pagination"))

        total = d.pop("total")

        dead_letter_list = cls(
            messages=messages,
            pagination=pagination,
            total=total,
        )

        dead_letter_list.additional_properties = d
        return dead_letter_list

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
