from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.delivered_lag import DeliveredLag
    from ..models.time_range import TimeRange
    from ..models.worker_point import WorkerPoint
    from ..models.worker_status import WorkerStatus
    from ..models.worker_summary import WorkerSummary


T = TypeVar("T", bound="WorkerMetrics")


@_attrs_define
class WorkerMetrics:
    """
    Attributes:
        bucket_minutes (int):
        point_count (int):
        queues (list[DeliveredLag]): Queues of which something was delivered.
        summary (WorkerSummary):
        time_range (TimeRange):
        time_series (list[WorkerPoint]): Newest first.
        workers (list[WorkerStatus]): Servers that flushed in the last five minutes.
    """

    bucket_minutes: int
    point_count: int
    queues: list[DeliveredLag]
    summary: WorkerSummary
    time_range: TimeRange
    time_series: list[WorkerPoint]
    workers: list[WorkerStatus]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bucket_minutes = self.bucket_minutes

        point_count = self.point_count

        queues = []
        for queues_item_data in self.queues:
            queues_item = queues_item_data.to_dict()
            queues.append(queues_item)

        summary = self.summary.to_dict()

        time_range = self.time_range.to_dict()

        time_series = []
        for time_series_item_data in self.time_series:
            time_series_item = time_series_item_data.to_dict()
            time_series.append(time_series_item)

        workers = []
        for workers_item_data in self.workers:
            workers_item = workers_item_data.to_dict()
            workers.append(workers_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bucketMinutes": bucket_minutes,
                "pointCount": point_count,
                "queues": queues,
                "summary": summary,
                "timeRange": time_range,
                "timeSeries": time_series,
                "workers": workers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.delivered_lag import DeliveredLag  # noqa: PLC0415
        from ..models.time_range import TimeRange  # noqa: PLC0415
        from ..models.worker_point import WorkerPoint  # noqa: PLC0415
        from ..models.worker_status import WorkerStatus  # noqa: PLC0415
        from ..models.worker_summary import WorkerSummary  # noqa: PLC0415

        d = dict(src_dict)
        bucket_minutes = d.pop("bucketMinutes")

        point_count = d.pop("pointCount")

        queues = []
        _queues = d.pop("queues")
        for queues_item_data in _queues:
            queues_item = DeliveredLag.from_dict(queues_item_data)

            queues.append(queues_item)

        summary = WorkerSummary.from_dict(d.pop("summary"))

        time_range = TimeRange.from_dict(d.pop("timeRange"))

        time_series = []
        _time_series = d.pop("timeSeries")
        for time_series_item_data in _time_series:
            time_series_item = WorkerPoint.from_dict(time_series_item_data)

            time_series.append(time_series_item)

        workers = []
        _workers = d.pop("workers")
        for workers_item_data in _workers:
            workers_item = WorkerStatus.from_dict(workers_item_data)

            workers.append(workers_item)

        worker_metrics = cls(
            bucket_minutes=bucket_minutes,
            point_count=point_count,
            queues=queues,
            summary=summary,
            time_range=time_range,
            time_series=time_series,
            workers=workers,
        )

        worker_metrics.additional_properties = d
        return worker_metrics

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
