from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.letter_error import LetterError


T = TypeVar("T", bound="StatusLetters")


@_attrs_define
class StatusLetters:
    """
    Attributes:
        affected_partitions (int):
        current_messages (int): Dead letters now.
        top_errors (list[LetterError]): The five commonest reasons.
        total_messages (int): Dead-lettered since the beginning.
    """

    affected_partitions: int
    current_messages: int
    top_errors: list[LetterError]
    total_messages: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        affected_partitions = self.affected_partitions

        current_messages = self.current_messages

        top_errors = []
        for top_errors_item_data in self.top_errors:
            top_errors_item = top_errors_item_data.to_dict()
            top_errors.append(top_errors_item)

        total_messages = self.total_messages

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "affectedPartitions": affected_partitions,
                "currentMessages": current_messages,
                "topErrors": top_errors,
                "totalMessages": total_messages,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.letter_error import LetterError  # noqa: PLC0415

        d = dict(src_dict)
        affected_partitions = d.pop("affectedPartitions")

        current_messages = d.pop("currentMessages")

        top_errors = []
        _top_errors = d.pop("topErrors")
        for top_errors_item_data in _top_errors:
            top_errors_item = LetterError.from_dict(top_errors_item_data)

            top_errors.append(top_errors_item)

        total_messages = d.pop("totalMessages")

        status_letters = cls(
            affected_partitions=affected_partitions,
            current_messages=current_messages,
            top_errors=top_errors,
            total_messages=total_messages,
        )

        status_letters.additional_properties = d
        return status_letters

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
