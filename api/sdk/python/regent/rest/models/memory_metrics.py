from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="MemoryMetrics")


@_attrs_define
class MemoryMetrics:
    """
    Attributes:
        array_buffers (int): Always 0.
        external (int): Always 0.
        heap_total (int): Always 0.
        heap_used (int): Always 0.
        rss (int): Resident memory.
    """

    array_buffers: int
    external: int
    heap_total: int
    heap_used: int
    rss: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        array_buffers = self.array_buffers

        external = self.external

        heap_total = self.heap_total

        heap_used = self.heap_used

        rss = self.rss

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "arrayBuffers": array_buffers,
                "external": external,
                "heapTotal": heap_total,
                "heapUsed": heap_used,
                "rss": rss,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        array_buffers = d.pop("arrayBuffers")

        external = d.pop("external")

        heap_total = d.pop("heapTotal")

        heap_used = d.pop("heapUsed")

        rss = d.pop("rss")

        memory_metrics = cls(
            array_buffers=array_buffers,
            external=external,
            heap_total=heap_total,
            heap_used=heap_used,
            rss=rss,
        )

        memory_metrics.additional_properties = d
        return memory_metrics

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
