from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.leaf import Leaf
    from ..models.system_values_cpu_struct import SystemValuesCPUStruct
    from ..models.system_values_database_struct import SystemValuesDatabaseStruct
    from ..models.system_values_memory_struct import SystemValuesMemoryStruct
    from ..models.system_values_shared_state_struct import SystemValuesSharedStateStruct


T = TypeVar("T", bound="SystemValues")


@_attrs_define
class SystemValues:
    """
    Attributes:
        cpu (SystemValuesCPUStruct):
        database (SystemValuesDatabaseStruct):
        memory (SystemValuesMemoryStruct):
        shared_state (SystemValuesSharedStateStruct):
        threadpool (None | str): Always null.
        uptime_seconds (Leaf):
    """

    cpu: SystemValuesCPUStruct
    database: SystemValuesDatabaseStruct
    memory: SystemValuesMemoryStruct
    shared_state: SystemValuesSharedStateStruct
    threadpool: None | str
    uptime_seconds: Leaf
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cpu = self.cpu.to_dict()

        database = self.database.to_dict()

        memory = self.memory.to_dict()

        shared_state = self.shared_state.to_dict()

        threadpool: None | str
        threadpool = self.threadpool

        uptime_seconds = self.uptime_seconds.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cpu": cpu,
                "database": database,
                "memory": memory,
                "shared_state": shared_state,
                "threadpool": threadpool,
                "uptime_seconds": uptime_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.leaf import Leaf  # noqa: PLC0415
        from ..models.system_values_cpu_struct import (
            SystemValuesCPUStruct,  # noqa: PLC0415
        )
        from ..models.system_values_database_struct import (
            SystemValuesDatabaseStruct,  # noqa: PLC0415
        )
        from ..models.system_values_memory_struct import (
            SystemValuesMemoryStruct,  # noqa: PLC0415
        )
        from ..models.system_values_shared_state_struct import (
            SystemValuesSharedStateStruct,  # noqa: PLC0415
        )

        d = dict(src_dict)
        cpu = SystemValuesCPUStruct.from_dict(d.pop("cpu"))

        database = SystemValuesDatabaseStruct.from_dict(d.pop("database"))

        memory = SystemValuesMemoryStruct.from_dict(d.pop("memory"))

        shared_state = SystemValuesSharedStateStruct.from_dict(d.pop("shared_state"))

        def _parse_threadpool(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        threadpool = _parse_threadpool(d.pop("threadpool"))

        uptime_seconds = Leaf.from_dict(d.pop("uptime_seconds"))

        system_values = cls(
            cpu=cpu,
            database=database,
            memory=memory,
            shared_state=shared_state,
            threadpool=threadpool,
            uptime_seconds=uptime_seconds,
        )

        system_values.additional_properties = d
        return system_values

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
