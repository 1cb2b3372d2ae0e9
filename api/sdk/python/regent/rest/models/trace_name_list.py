from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.pagination import Pagination
    from ..models.trace_name import TraceName


T = TypeVar("T", bound="TraceNameList")


@_attrs_define
class TraceNameList:
    """
    Attributes:
        pagination (Pagination):
        total (int): Names there are.
        trace_names (list[TraceName]):
    """

    pagination: Pagination
    total: int
    trace_names: list[TraceName]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        pagination = self.pagination.to_dict()

        total = self.total

        trace_names = []
        for trace_names_item_data in self.trace_names:
            trace_names_item = trace_names_item_data.to_dict()
            trace_names.append(trace_names_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "pagination": pagination,
                "total": total,
                "trace_names": trace_names,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pagination import Pagination  # noqa: PLC0415
        from ..models.trace_name import TraceName  # noqa: PLC0415

        d = dict(src_dict)
        pagination = Pagination.from_dict(d.pop("pagination"))

        total = d.pop("total")

        trace_names = []
        _trace_names = d.pop("trace_names")
        for trace_names_item_data in _trace_names:
            trace_names_item = TraceName.from_dict(trace_names_item_data)

            trace_names.append(trace_names_item)

        trace_name_list = cls(
            pagination=pagination,
            total=total,
            trace_names=trace_names,
        )

        trace_name_list.additional_properties = d
        return trace_name_list

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
