from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.lag_numbers import LagNumbers


T = TypeVar("T", bound="OverviewLag")


@_attrs_define
class OverviewLag:
    """
    Attributes:
        offset (LagNumbers):
        time (LagNumbers):
    """

    offset: LagNumbers
    time: LagNumbers
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        offset = self.offset.to_dict()

        time = self.time.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "offset": offset,
                "time": time,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.lag_numbers import LagNumbers  # noqa: PLC0415

        d = dict(src_dict)
        offset = LagNumbers.from_dict(d.pop("offset"))

        time = LagNumbers.from_dict(d.pop("time"))

        overview_lag = cls(
            offset=offset,
            time=time,
        )

        overview_lag.additional_properties = d
        return overview_lag

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
