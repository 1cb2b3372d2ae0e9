from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.ack_item import AckItem


T = TypeVar("T", bound="AckBatchRequest")


@_attrs_define
class AckBatchRequest:
    """
    Attributes:
        acknowledgments (list[AckItem]):
        consumer_group (None | str | Unset): Group that took the messages.
    """

    acknowledgments: list[AckItem]
    consumer_group: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        acknowledgments = []
        for acknowledgments_item_data in self.acknowledgments:
            acknowledgments_item = acknowledgments_item_data.to_dict()
            acknowledgments.append(acknowledgments_item)

        consumer_group: None | str | Unset
        if isinstance(self.consumer_group, Unset):
            consumer_group = UNSET
        else:
            consumer_group = self.consumer_group

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "acknowledgments": acknowledgments,
            }
        )
        if consumer_group is not UNSET:
            field_dict["consumerGroup"] = consumer_group

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.ack_item import AckItem  # noqa: PLC0415

        d = dict(src_dict)
        acknowledgments = []
        _acknowledgments = d.pop("acknowledgments")
        for acknowledgments_item_data in _acknowledgments:
            acknowledgments_item = AckItem.from_dict(acknowledgments_item_data)

            acknowledgments.append(acknowledgments_item)

        def _parse_consumer_group(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        consumer_group = _parse_consumer_group(d.pop("consumerGroup", UNSET))

        ack_batch_request = cls(
            acknowledgments=acknowledgments,
            consumer_group=consumer_group,
        )

        ack_batch_request.additional_properties = d
        return ack_batch_request

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
