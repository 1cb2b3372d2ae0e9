from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.overview_lag import OverviewLag
    from ..models.overview_messages import OverviewMessages
    from ..models.overview_throughput import OverviewThroughput


T = TypeVar("T", bound="Overview")


@_attrs_define
class Overview:
    """
    Attributes:
        lag (OverviewLag):
        messages (OverviewMessages):
        namespaces (int):
        partitions (int):
        queues (int):
        stats_age (int): Seconds since the numbers were counted; -1: never.
        tasks (int):
        throughput (OverviewThroughput):
        timestamp (datetime.datetime):
    """

    lag: OverviewLag
    messages: OverviewMessages
    namespaces: int
    partitions: int
    queues: int
    stats_age: int
    tasks: int
    throughput: OverviewThroughput
    timestamp: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lag = self.lag.to_dict()

        messages = self.messages.to_dict()

        namespaces = self.namespaces

        partitions = self.partitions

        queues = self.queues

        stats_age = self.stats_age

        tasks = self.tasks

        throughput = self.throughput.to_dict()

        timestamp = self.timestamp.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lag": lag,
                "messages": messages,
                "namespaces": namespaces,
                "partitions": partitions,
                "queues": queues,
                "statsAge": stats_age,
                "tasks": tasks,
                "throughput": throughput,
                "timestamp": timestamp,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.overview_lag import OverviewLag  # noqa: PLC0415
        from ..models.overview_messages import OverviewMessages  # noqa: PLC0415
        from ..models.overview_throughput import OverviewThroughput  # noqa: PLC0415

        d = dict(src_dict)
        lag = OverviewLag.from_dict(d.pop("lag"))

        messages = OverviewMessages.from_dict(d.pop("messages"))

        namespaces = d.pop("namespaces")

        partitions = d.pop("partitions")

        queues = d.pop("queues")

        stats_age = d.pop("statsAge")

        tasks = d.pop("tasks")

        throughput = OverviewThroughput.from_dict(d.pop("throughput"))

        timestamp = datetime.datetime.fromisoformat(d.pop("timestamp"))

        overview = cls(
            lag=lag,
            messages=messages,
            namespaces=namespaces,
            partitions=partitions,
            queues=queues,
            stats_age=stats_age,
            tasks=tasks,
            throughput=throughput,
            timestamp=timestamp,
        )

        overview.additional_properties = d
        return overview

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
