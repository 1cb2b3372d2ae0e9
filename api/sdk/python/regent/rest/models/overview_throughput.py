from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="OverviewThroughput")


@_attrs_define
class OverviewThroughput:
    """
    Attributes:
        ingested_per_second (float): Messages pushed a second.
        processed_per_second (float): Messages acknowledged a second.
    """

    ingested_per_second: float
    processed_per_second: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ingested_per_second = self.ingested_per_second

        processed_per_second = self.processed_per_second

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ingestedPerSecond": ingested_per_second,
                "processedPerSecond": processed_per_second,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ingested_per_second = d.pop("ingestedPerSecond")

        processed_per_second = d.pop("processedPerSecond")

        overview_throughput = cls(
            ingested_per_second=ingested_per_second,
            processed_per_second=processed_per_second,
        )

        overview_throughput.additional_properties = d
        return overview_throughput

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
