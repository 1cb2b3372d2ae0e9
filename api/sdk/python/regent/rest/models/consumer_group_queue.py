from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.consumer_group_partition import ConsumerGroupPartition


T = TypeVar("T", bound="ConsumerGroupQueue")


@_attrs_define
class ConsumerGroupQueue:
    """
    Attributes:
        conflation (bool):
        partitions (list[ConsumerGroupPartition]): Those that the group has a cursor on, by name.
    """

    conflation: bool
    partitions: list[ConsumerGroupPartition]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        conflation = self.conflation

        partitions = []
        for partitions_item_data in self.partitions:
            partitions_item = partitions_item_data.to_dict()
            partitions.append(partitions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "conflation": conflation,
                "partitions": partitions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.consumer_group_partition import (
            ConsumerGroupPartition,  # noqa: PLC0415
        )

        d = dict(src_dict)
        conflation = d.pop("conflation")

        partitions = []
        _partitions = d.pop("partitions")
        for partitions_item_data in _partitions:
            partitions_item = ConsumerGroupPartition.from_dict(partitions_item_data)

            partitions.append(partitions_item)

        consumer_group_queue = cls(
            conflation=conflation,
            partitions=partitions,
        )

        consumer_group_queue.additional_properties = d
        return consumer_group_queue

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
