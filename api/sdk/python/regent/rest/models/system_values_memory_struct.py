from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.leaf import Leaf


T = TypeVar("T", bound="SystemValuesMemoryStruct")


@_attrs_define
class SystemValuesMemoryStruct:
    """
    Attributes:
        rss_bytes (Leaf):
    """

    rss_bytes: Leaf
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rss_bytes = self.rss_bytes.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rss_bytes": rss_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.leaf import Leaf  # noqa: PLC0415

        d = dict(src_dict)
        rss_bytes = Leaf.from_dict(d.pop("rss_bytes"))

        system_values_memory_struct = cls(
            rss_bytes=rss_bytes,
        )

        system_values_memory_struct.additional_properties = d
        return system_values_memory_struct

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
