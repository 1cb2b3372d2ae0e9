from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.failed_files import FailedFiles


T = TypeVar("T", bound="BufferStats")


@_attrs_define
class BufferStats:
    """
    Attributes:
        db_healthy (bool): Whether the last call of the database went through.
        failed_count (int): Messages that the database refused for good; they are kept in failedFiles.
        failed_files (FailedFiles):
        pending_count (int): Messages that wait in this server's spool.
    """

    db_healthy: bool
    failed_count: int
    failed_files: FailedFiles
    pending_count: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        db_healthy = self.db_healthy

        failed_count = self.failed_count

        failed_files = self.failed_files.to_dict()

        pending_count = self.pending_count

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "dbHealthy": db_healthy,
                "failedCount": failed_count,
                "failedFiles": failed_files,
                "pendingCount": pending_count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.failed_files import FailedFiles  # noqa: PLC0415

        d = dict(src_dict)
        db_healthy = d.pop("dbHealthy")

        failed_count = d.pop("failedCount")

        failed_files = FailedFiles.from_dict(d.pop("failedFiles"))

        pending_count = d.pop("pendingCount")

        buffer_stats = cls(
            db_healthy=db_healthy,
            failed_count=failed_count,
            failed_files=failed_files,
            pending_count=pending_count,
        )

        buffer_stats.additional_properties = d
        return buffer_stats

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
