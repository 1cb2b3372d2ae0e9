from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.stats_summary_engine import StatsSummaryEngine

if TYPE_CHECKING:
    from ..models.stats_summary_namespaces_struct import StatsSummaryNamespacesStruct
    from ..models.stats_summary_system_struct import StatsSummarySystemStruct
    from ..models.stats_summary_tasks_struct import StatsSummaryTasksStruct


T = TypeVar("T", bound="StatsSummary")


@_attrs_define
class StatsSummary:
    """
    Attributes:
        engine (StatsSummaryEngine):
        namespaces (StatsSummaryNamespacesStruct):
        queues_changed (int): Queues of which a number is another than at the last count.
        queues_updated (int):
        refreshed_at (datetime.datetime):
        seg_partitions (int): Partitions of all queues.
        system (StatsSummarySystemStruct):
        tasks (StatsSummaryTasksStruct):
    """

    engine: StatsSummaryEngine
    namespaces: StatsSummaryNamespacesStruct
    queues_changed: int
    queues_updated: int
    refreshed_at: datetime.datetime
    seg_partitions: int
    system: StatsSummarySystemStruct
    tasks: StatsSummaryTasksStruct
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        engine = self.engine.value

        namespaces = self.namespaces.to_dict()

        queues_changed = self.queues_changed

        queues_updated = self.queues_updated

        refreshed_at = self.refreshed_at.isoformat()

        seg_partitions = self.seg_partitions

        system = self.system.to_dict()

        tasks = self.tasks.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "engine": engine,
                "namespaces": namespaces,
                "queuesChanged": queues_changed,
                "queuesUpdated": queues_updated,
                "refreshedAt": refreshed_at,
                "segPartitions": seg_partitions,
                "system": system,
                "tasks": tasks,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.stats_summary_namespaces_struct import (
            StatsSummaryNamespacesStruct,  # noqa: PLC0415
        )
        from ..models.stats_summary_system_struct import (
            StatsSummarySystemStruct,  # noqa: PLC0415
        )
        from ..models.stats_summary_tasks_struct import (
            StatsSummaryTasksStruct,  # noqa: PLC0415
        )

        d = dict(src_dict)
        engine = StatsSummaryEngine(d.pop("engine"))

        namespaces = StatsSummaryNamespacesStruct.from_dict(d.pop("namespaces"))

        queues_changed = d.pop("queuesChanged")

        queues_updated = d.pop("queuesUpdated")

        refreshed_at = datetime.datetime.fromisoformat(d.pop("refreshedAt"))

        seg_partitions = d.pop("segPartitions")

        system = StatsSummarySystemStruct.from_dict(d.pop("system"))

        tasks = StatsSummaryTasksStruct.from_dict(d.pop("tasks"))

        stats_summary = cls(
            engine=engine,
            namespaces=namespaces,
            queues_changed=queues_changed,
            queues_updated=queues_updated,
            refreshed_at=refreshed_at,
            seg_partitions=seg_partitions,
            system=system,
            tasks=tasks,
        )

        stats_summary.additional_properties = d
        return stats_summary

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
