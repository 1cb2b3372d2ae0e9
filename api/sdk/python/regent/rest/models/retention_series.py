from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.retention_bucket import RetentionBucket
    from ..models.retention_deleted import RetentionDeleted
    from ..models.retention_grouped import RetentionGrouped
    from ..models.retention_range import RetentionRange


T = TypeVar("T", bound="RetentionSeries")


@_attrs_define
class RetentionSeries:
    """
    Attributes:
        bucket_minutes (int):
        series (list[RetentionBucket]): Oldest bucket first; one without a deletion is left out.
        time_range (RetentionRange):
        totals (RetentionDeleted):
        rows (list[RetentionGrouped] | Unset): With groupBy: most messages first.
    """

    bucket_minutes: int
    series: list[RetentionBucket]
    time_range: RetentionRange
    totals: RetentionDeleted
    rows: list[RetentionGrouped] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bucket_minutes = self.bucket_minutes

        series = []
        for series_item_data in self.series:
            series_item = series_item_data.to_dict()
            series.append(series_item)

        time_range = self.time_range.to_dict()

        totals = self.totals.to_dict()

        rows: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.rows, Unset):
            rows = []
            for rows_item_data in self.rows:
                rows_item = rows_item_data.to_dict()
                rows.append(rows_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bucketMinutes": bucket_minutes,
                "series": series,
                "timeRange": time_range,
                "totals": totals,
            }
        )
        if rows is not UNSET:
            field_dict["rows"] = rows

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.retention_bucket import RetentionBucket  # noqa: PLC0415
        from ..models.retention_deleted import RetentionDeleted  # noqa: PLC0415
        from ..models.retention_grouped import RetentionGrouped  # noqa: PLC0415
        from ..models.retention_range import RetentionRange  # noqa: PLC0415

        d = dict(src_dict)
        bucket_minutes = d.pop("bucketMinutes")

        series = []
        _series = d.pop("series")
        for series_item_data in _series:
            series_item = RetentionBucket.from_dict(series_item_data)

            series.append(series_item)

        time_range = RetentionRange.from_dict(d.pop("timeRange"))

        totals = RetentionDeleted.from_dict(d.pop("totals"))

        _rows = d.pop("rows", UNSET)
        rows: list[RetentionGrouped] | Unset = UNSET
        if _rows is not UNSET:
            rows = []
            for rows_item_data in _rows:
                rows_item = RetentionGrouped.from_dict(rows_item_data)

                rows.append(rows_item)

        retention_series = cls(
            bucket_minutes=bucket_minutes,
            series=series,
            time_range=time_range,
            totals=totals,
            rows=rows,
        )

        retention_series.additional_properties = d
        return retention_series

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
