from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.queue_counts import QueueCounts


T = TypeVar("T", bound="QueuePartition")


@_attrs_define
class QueuePartition:
    """
    Attributes:
        created_at (datetime.datetime):
        id (UUID):
        name (str):
        newest_message (datetime.datetime | None): Newest message kept.
        oldest_message (datetime.datetime | None): Oldest message that is pending.
        stats (QueueCounts):
    """

    created_at: datetime.datetime
    id: UUID
    name: str
    newest_message: datetime.datetime | None
    oldest_message: datetime.datetime | None
    stats: QueueCounts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        id = str(self.id)

        name = self.name

        newest_message: None | str
        if isinstance(self.newest_message, datetime.datetime):
            newest_message = self.newest_message.isoformat()
        else:
            newest_message = self.newest_message

        oldest_message: None | str
        if isinstance(self.oldest_message, datetime.datetime):
            oldest_message = self.oldest_message.isoformat()
        else:
            oldest_message = self.oldest_message

        stats = self.stats.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "createdAt": created_at,
                "id": id,
                "name": name,
                "newestMessage": newest_message,
                "oldestMessage": oldest_message,
                "stats": stats,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.queue_counts import QueueCounts  # noqa: PLC0415

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        id = UUID(d.pop("id"))

        name = d.pop("name")

        def _parse_newest_message(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                newest_message_type_0 = datetime.datetime.fromisoformat(data)

                return newest_message_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        newest_message = _parse_newest_message(d.pop("newestMessage"))

        def _parse_oldest_message(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                oldest_message_type_0 = datetime.datetime.fromisoformat(data)

                return oldest_message_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        oldest_message = _parse_oldest_message(d.pop("oldestMessage"))

        stats = QueueCounts.from_dict(d.pop("stats"))

        queue_partition = cls(
            created_at=created_at,
            id=id,
            name=name,
            newest_message=newest_message,
            oldest_message=oldest_message,
            stats=stats,
        )

        queue_partition.additional_properties = d
        return queue_partition

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
