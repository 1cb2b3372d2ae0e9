from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.named_trace import NamedTrace
    from ..models.pagination import Pagination


T = TypeVar("T", bound="NamedTraceList")


@_attrs_define
class NamedTraceList:
    """
    Attributes:
        pagination (Pagination):
        total (int): Traces under the name.
        traces (list[NamedTrace]):
    """

    pagination: Pagination
    total: int
    traces: list[NamedTrace]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        pagination = self.pagination.to_dict()

        total = self.total

        traces = []
        for traces_item_data in self.traces:
            traces_item = traces_item_data.to_dict()
            traces.append(traces_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "pagination": pagination,
                "total": total,
                "traces": traces,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.named_trace import NamedTrace  # noqa: PLC0415
        from ..models.pagination import Pagination  # noqa: PLC0415

        d = dict(src_dict)
        pagination = Pagination.from_dict(d.pop("pagination"))

        total = d.pop("total")

        traces = []
        _traces = d.pop("traces")
        for traces_item_data in _traces:
            traces_item = NamedTrace.from_dict(traces_item_data)

            traces.append(traces_item)

        named_trace_list = cls(
            pagination=pagination,
            total=total,
            traces=traces,
        )

        named_trace_list.additional_properties = d
        return named_trace_list

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
