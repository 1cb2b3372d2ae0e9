from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Buffers")


@_attrs_define
class Buffers:
    """
    Attributes:
        db_healthy (bool): Whether the last call of the database went through.
        failed (int): Messages that the database refused for good.
        pending (int): Messages that wait in the spool.
        worker (int): Always 0.
    """

    db_healthy: bool
    failed: int
    pending: int
    worker: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        db_healthy = self.db_healthy

        failed = self.failed

        pending = self.pending

        worker = self.worker

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "dbHealthy": db_healthy,
                "failed": failed,
                "pending": pending,
                "worker": worker,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        db_healthy = d.pop("dbHealthy")

        failed = d.pop("failed")

        pending = d.pop("pending")

        worker = d.pop("worker")

        buffers = cls(
            db_healthy=db_healthy,
            failed=failed,
            pending=pending,
            worker=worker,
        )

        buffers.additional_properties = d
        return buffers

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
