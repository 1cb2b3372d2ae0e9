from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Leaf")


@_attrs_define
class Leaf:
    """
    Attributes:
        avg (float | None):
        last (float | None):
        max_ (float | None):
        min_ (float | None):
    """

    avg: float | None
    last: float | None
    max_: float | None
    min_: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        avg: float | None
        avg = self.avg

        last: float | None
        last = self.last

        max_: float | None
        max_ = self.max_

        min_: float | None
        min_ = self.min_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "avg": avg,
                "last": last,
                "max": max_,
                "min": min_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_avg(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        avg = _parse_avg(d.pop("avg"))

        def _parse_last(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        last = _parse_last(d.pop("last"))

        def _parse_max_(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        max_ = _parse_max_(d.pop("max"))

        def _parse_min_(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        min_ = _parse_min_(d.pop("min"))

        leaf = cls(
            avg=avg,
            last=last,
            max_=max_,
            min_=min_,
        )

        leaf.additional_properties = d
        return leaf

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
