from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="QueueLiveness")


@_attrs_define
class QueueLiveness:
    """
    Attributes:
        created24h (int):
        live1h (int): Written in the last hour.
        live24h (int):
        live7d (int):
        namespace (str):
        newest_write_at (datetime.datetime | None):
        oldest_write_at (datetime.datetime | None):
        partitions (int):
        pending (int): As the reconciler counted them last.
        queue (str):
        task (str):
    """

    created24h: int
    live1h: int
    live24h: int
    live7d: int
    namespace: str
    newest_write_at: datetime.datetime | None
    oldest_write_at: datetime.datetime | None
    partitions: int
    pending: int
    queue: str
    task: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created24h = self.created24h

        live1h = self.live1h

        live24h = self.live24h

        live7d = self.live7d

        namespace = self.namespace

        newest_write_at: None | str
        if isinstance(self.newest_write_at, datetime.datetime):
            newest_write_at = self.newest_write_at.isoformat()
        else:
            newest_write_at = self.newest_write_at

        oldest_write_at: None | str
        if isinstance(self.oldest_write_at, datetime.datetime):
            oldest_write_at = self.oldest_write_at.isoformat()
        else:
            oldest_write_at = self.oldest_write_at

        partitions = self.partitions

        pending = self.pending

        queue = self.queue

        task = self.task

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created24h": created24h,
                "live1h": live1h,
                "live24h": live24h,
                "live7d": live7d,
                "namespace": namespace,
                "newestWriteAt": newest_write_at,
                "oldestWriteAt": oldest_write_at,
                "partitions": partitions,
                "pending": pending,
                "queue": queue,
                "task": task,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        created24h = d.pop("created24h")

        live1h = d.pop("live1h")

        live24h = d.pop("live24h")

        live7d = d.pop("live7d")

        namespace = d.pop("namespace")

        def _parse_newest_write_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                newest_write_at_type_0 = datetime.datetime.fromisoformat(data)

                return newest_write_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        newest_write_at = _parse_newest_write_at(d.pop("newestWriteAt"))

        def _parse_oldest_write_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                oldest_write_at_type_0 = datetime.datetime.fromisoformat(data)

                return oldest_write_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        oldest_write_at = _parse_oldest_write_at(d.pop("oldestWriteAt"))

        partitions = d.pop("partitions")

        pending = d.pop("pending")

        queue = d.pop("queue")

        task = d.pop("task")

        queue_liveness = cls(
            created24h=created24h,
            live1h=live1h,
            live24h=live24h,
            live7d=live7d,
            namespace=namespace,
            newest_write_at=newest_write_at,
            oldest_write_at=oldest_write_at,
            partitions=partitions,
            pending=pending,
            queue=queue,
            task=task,
        )

        queue_liveness.additional_properties = d
        return queue_liveness

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
