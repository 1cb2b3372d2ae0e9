from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.system_values import SystemValues


T = TypeVar("T", bound="SystemPoint")


@_attrs_define
class SystemPoint:
    """
    Attributes:
        metrics (SystemValues):
        sample_count (int): Looks, one a second.
        timestamp (datetime.datetime):
    """

    metrics: SystemValues
    sample_count: int
    timestamp: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        metrics = self.metrics.to_dict()

        sample_count = self.sample_count

        timestamp = self.timestamp.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "metrics": metrics,
                "sampleCount": sample_count,
                "timestamp": timestamp,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.system_values import SystemValues  # noqa: PLC0415

        d = dict(src_dict)
        metrics = SystemValues.from_dict(d.pop("metrics"))

        sample_count = d.pop("sampleCount")

        timestamp = datetime.datetime.fromisoformat(d.pop("timestamp"))

        system_point = cls(
            metrics=metrics,
            sample_count=sample_count,
            timestamp=timestamp,
        )

        system_point.additional_properties = d
        return system_point

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
