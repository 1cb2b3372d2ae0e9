from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.workload_now import WorkloadNow
    from ..models.workload_series import WorkloadSeries
    from ..models.workload_window import WorkloadWindow


T = TypeVar("T", bound="WorkloadRow")


@_attrs_define
class WorkloadRow:
    """
    Attributes:
        key (str):
        now (WorkloadNow):
        queues (int):
        series (WorkloadSeries):
        window (WorkloadWindow):
        namespace (str | Unset): With groupBy=queue.
        task (str | Unset): With groupBy=queue.
    """

    key: str
    now: WorkloadNow
    queues: int
    series: WorkloadSeries
    window: WorkloadWindow
    namespace: str | Unset = UNSET
    task: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        now = self.now.to_dict()

        queues = self.queues

        series = self.series.to_dict()

        window = self.window.to_dict()

        namespace = self.namespace

        task = self.task

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "key": key,
                "now": now,
                "queues": queues,
                "series": series,
                "window": window,
            }
        )
        if namespace is not UNSET:
            field_dict["namespace"] = namespace
        if task is not UNSET:
            field_dict["task"] = task

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.workload_now import WorkloadNow  # noqa: PLC0415
        from ..models.workload_series import WorkloadSeries  # noqa: PLC0415
        from ..models.workload_window import WorkloadWindow  # noqa: PLC0415

        d = dict(src_dict)
        key = d.pop("key")

        now = WorkloadNow.from_dict(d.pop("now"))

        queues = d.pop("queues")

        series = WorkloadSeries.from_dict(d.pop("series"))

        window = WorkloadWindow.from_dict(d.pop("window"))

        namespace = d.pop("namespace", UNSET)

        task = d.pop("task", UNSET)

        workload_row = cls(
            key=key,
            now=now,
            queues=queues,
            series=series,
            window=window,
            namespace=namespace,
            task=task,
        )

        workload_row.additional_properties = d
        return workload_row

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
