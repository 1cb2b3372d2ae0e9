from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.buffer_stats import BufferStats


T = TypeVar("T", bound="MaintenanceStatus")


@_attrs_define
class MaintenanceStatus:
    """
    Attributes:
        buffer_healthy (bool): Whether this server has a spool that takes messages.
        buffer_stats (BufferStats):
        buffered_messages (int): Messages in this server's spool.
        maintenance_mode (bool): Pushes of all servers go to their spools.
        pop_maintenance_mode (bool): Pops of all servers find nothing.
    """

    buffer_healthy: bool
    buffer_stats: BufferStats
    buffered_messages: int
    maintenance_mode: bool
    pop_maintenance_mode: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        buffer_healthy = self.buffer_healthy

        buffer_stats = self.buffer_stats.to_dict()

        buffered_messages = self.buffered_messages

        maintenance_mode = self.maintenance_mode

        pop_maintenance_mode = self.pop_maintenance_mode

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bufferHealthy": buffer_healthy,
                "bufferStats": buffer_stats,
                "bufferedMessages": buffered_messages,
                "maintenanceMode": maintenance_mode,
                "popMaintenanceMode": pop_maintenance_mode,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.buffer_stats import BufferStats  # noqa: PLC0415

        d = dict(src_dict)
        buffer_healthy = d.pop("bufferHealthy")

        buffer_stats = BufferStats.from_dict(d.pop("bufferStats"))

        buffered_messages = d.pop("bufferedMessages")

        maintenance_mode = d.pop("maintenanceMode")

        pop_maintenance_mode = d.pop("popMaintenanceMode")

        maintenance_status = cls(
            buffer_healthy=buffer_healthy,
            buffer_stats=buffer_stats,
            buffered_messages=buffered_messages,
            maintenance_mode=maintenance_mode,
            pop_maintenance_mode=pop_maintenance_mode,
        )

        maintenance_status.additional_properties = d
        return maintenance_status

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
