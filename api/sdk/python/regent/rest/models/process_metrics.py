from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.memory_metrics import MemoryMetrics
    from ..models.pool_metrics import PoolMetrics
    from ..models.processor_shares import ProcessorShares
    from ..models.throughput import Throughput


T = TypeVar("T", bound="ProcessMetrics")


@_attrs_define
class ProcessMetrics:
    """
    Attributes:
        cpu (ProcessorShares):
        database (PoolMetrics):
        memory (MemoryMetrics):
        messages (Throughput):
        requests (Throughput):
        uptime (float): Seconds since the process started.
    """

    cpu: ProcessorShares
    database: PoolMetrics
    memory: MemoryMetrics
    messages: Throughput
    requests: Throughput
    uptime: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cpu = self.cpu.to_dict()

        database = self.database.to_dict()

        memory = self.memory.to_dict()

        messages = self.messages.to_dict()

        requests = self.requests.to_dict()

        uptime = self.uptime

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cpu": cpu,
                "database": database,
                "memory": memory,
                "messages": messages,
                "requests": requests,
                "uptime": uptime,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.memory_metrics import MemoryMetrics  # noqa: PLC0415
        from ..models.pool_metrics import PoolMetrics  # noqa: PLC0415
        from ..models.processor_shares import ProcessorShares  # noqa: PLC0415
        from ..models.throughput import Throughput  # noqa: PLC0415

        d = dict(src_dict)
        cpu = ProcessorShares.from_dict(d.pop("cpu"))

        database = PoolMetrics.from_dict(d.pop("database"))

        memory = MemoryMetrics.from_dict(d.pop("memory"))

        messages = Throughput.from_dict(d.pop("messages"))

        requests = Throughput.from_dict(d.pop("requests"))

        uptime = d.pop("uptime")

        process_metrics = cls(
            cpu=cpu,
            database=database,
            memory=memory,
            messages=messages,
            requests=requests,
            uptime=uptime,
        )

        process_metrics.additional_properties = d
        return process_metrics

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
