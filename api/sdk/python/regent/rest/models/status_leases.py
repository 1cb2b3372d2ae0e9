from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="StatusLeases")


@_attrs_define
class StatusLeases:
    """
    Attributes:
        active (int):
        partitions_with_leases (int):
        total_acked (int): Always 0.
        total_batch_size (int): Messages under a live lease, of each group.
    """

    active: int
    partitions_with_leases: int
    total_acked: int
    total_batch_size: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        active = self.active

        partitions_with_leases = self.partitions_with_leases

        total_acked = self.total_acked

        total_batch_size = self.total_batch_size

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "active": active,
                "partitionsWithLeases": partitions_with_leases,
                "totalAcked": total_acked,
                "totalBatchSize": total_batch_size,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        active = d.pop("active")

        partitions_with_leases = d.pop("partitionsWithLeases")

        total_acked = d.pop("totalAcked")

        total_batch_size = d.pop("totalBatchSize")

        status_leases = cls(
            active=active,
            partitions_with_leases=partitions_with_leases,
            total_acked=total_acked,
            total_batch_size=total_batch_size,
        )

        status_leases.additional_properties = d
        return status_leases

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
