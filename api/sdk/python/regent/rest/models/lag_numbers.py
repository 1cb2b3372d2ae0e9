from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LagNumbers")


@_attrs_define
class LagNumbers:
    """
    Attributes:
        avg (float):
        max_ (float):
        median (float):
        min_ (float): Always 0.
    """

    avg: float
    max_: float
    median: float
    min_: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        avg = self.avg

        max_ = self.max_

        median = self.median

        min_ = self.min_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "avg": avg,
                "max": max_,
                "median": median,
                "min": min_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        avg = d.pop("avg")

        max_ = d.pop("max")

        median = d.pop("median")

        min_ = d.pop("min")

        lag_numbers = cls(
            avg=avg,
            max_=max_,
            median=median,
            min_=min_,
        )

        lag_numbers.additional_properties = d
        return lag_numbers

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
