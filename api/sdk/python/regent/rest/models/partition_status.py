from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.consumed_cursor import ConsumedCursor
    from ..models.queue_counts import QueueCounts


T = TypeVar("T", bound="PartitionStatus")


@_attrs_define
class PartitionStatus:
    """
    Attributes:
        created_at (datetime.datetime):
        cursor (ConsumedCursor):
        id (UUID):
        last_activity (datetime.datetime | None): When anything of it was last leased.
        messages (QueueCounts):
        name (str):
        newest_message (datetime.datetime | None): Newest message kept.
        oldest_message (datetime.datetime | None): Oldest message that is pending.
        stats (QueueCounts):
    """

    created_at: datetime.datetime
    cursor: ConsumedCursor
    id: UUID
    last_activity: datetime.datetime | None
    messages: QueueCounts
    name: str
    newest_message: datetime.datetime | None
    oldest_message: datetime.datetime | None
    stats: QueueCounts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        cursor = self.cursor.to_dict()

        id = str(self.id)

        last_activity: None | str
        if isinstance(self.last_activity, datetime.datetime):
            last_activity = self.last_activity.isoformat()
        else:
            last_activity = self.last_activity

        messages = self.messages.to_dict()

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
                "cursor": cursor,
                "id": id,
                "lastActivity": last_activity,
                "messages": messages,
                "name": name,
                "newestMessage": newest_message,
                "oldestMessage": oldest_message,
                "stats": stats,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.consumed_cursor import ConsumedCursor  # noqa: PLC0415
        from ..models.queue_counts import QueueCounts  # noqa: PLC0415

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("createdAt"))

        cursor = ConsumedCursor.from_dict(d.pop("cursor"))

        id = UUID(d.pop("id"))

        def _parse_last_activity(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_activity_type_0 = datetime.datetime.fromisoformat(data)

                return last_activity_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_activity = _parse_last_activity(d.pop("lastActivity"))

        messages = QueueCounts.from_dict(d.pop("messages"))

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

        partition_status = cls(
            created_at=created_at,
            cursor=cursor,
            id=id,
            last_activity=last_activity,
            messages=messages,
            name=name,
            newest_message=newest_message,
            oldest_message=oldest_message,
            stats=stats,
        )

        partition_status.additional_properties = d
        return partition_status

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
