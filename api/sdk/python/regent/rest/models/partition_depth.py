from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PartitionDepth")


@_attrs_define
class PartitionDepth:
    """
    Attributes:
        partition (str):
        pending (int):
        processing (int):
        ready (int):
    """

    partition: str
    pending: int
    processing: int
    ready: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        partition = self.partition

        pending = self.pending

        processing = self.processing

        ready = self.ready

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "partition": partition,
                "pending": pending,
                "processing": processing,
                "ready": ready,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        partition = d.pop("partition")

        pending = d.pop("pending")

        processing = d.pop("processing")

        ready = d.pop("ready")

        partition_depth = cls(
            partition=partition,
            pending=pending,
            processing=processing,
            ready=ready,
        )

        partition_depth.additional_properties = d
        return partition_depth

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
