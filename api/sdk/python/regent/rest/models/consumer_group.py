from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.consumer_group_state import ConsumerGroupState
from ..models.consumer_group_storage import ConsumerGroupStorage

T = TypeVar("T", bound="ConsumerGroup")


@_attrs_define
class ConsumerGroup:
    """
    Attributes:
        conflation (bool):
        max_time_lag (int): Seconds since the oldest of them was stored.
        members (int): The same as partitionCursors.
        name (str):
        partition_cursors (int): Partitions that the group has a cursor on.
        partitions_with_lag (int):
        queue_name (str):
        state (ConsumerGroupState): Lagging: more than 300 seconds behind. Dead: not behind, and it never finished a
            message.
        storage (ConsumerGroupStorage):
        subscription_created_at (datetime.datetime | None):
        subscription_mode (None | str): all, new or timestamp; null for a group that never popped from the whole queue.
        subscription_timestamp (datetime.datetime | None):
        topics (list[str]): The queue, as a list of one.
        total_lag (int): Messages that the group has not finished.
    """

    conflation: bool
    max_time_lag: int
    members: int
    name: str
    partition_cursors: int
    partitions_with_lag: int
    queue_name: str
    state: ConsumerGroupState
    storage: ConsumerGroupStorage
    subscription_created_at: datetime.datetime | None
    subscription_mode: None | str
    subscription_timestamp: datetime.datetime | None
    topics: list[str]
    total_lag: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        conflation = self.conflation

        max_time_lag = self.max_time_lag

        members = self.members

        name = self.name

        partition_cursors = self.partition_cursors

        partitions_with_lag = self.partitions_with_lag

        queue_name = self.queue_name

        state = self.state.value

        storage = self.storage.value

        subscription_created_at: None | str
        if isinstance(self.subscription_created_at, datetime.datetime):
            subscription_created_at = self.subscription_created_at.isoformat()
        else:
            subscription_created_at = self.subscription_created_at

        subscription_mode: None | str
        subscription_mode = self.subscription_mode

        subscription_timestamp: None | str
        if isinstance(self.subscription_timestamp, datetime.datetime):
            subscription_timestamp = self.subscription_timestamp.isoformat()
        else:
            subscription_timestamp = self.subscription_timestamp

        topics = self.topics

        total_lag = self.total_lag

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "conflation": conflation,
                "maxTimeLag": max_time_lag,
                "members": members,
                "name": name,
                "partitionCursors": partition_cursors,
                "partitionsWithLag": partitions_with_lag,
                "queueName": queue_name,
                "state": state,
                "storage": storage,
                "subscriptionCreatedAt": subscription_created_at,
                "subscriptionMode": subscription_mode,
                "subscriptionTimestamp": subscription_timestamp,
                "topics": topics,
                "totalLag": total_lag,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        conflation = d.pop("conflation")

        max_time_lag = d.pop("maxTimeLag")

        members = d.pop("members")

        name = d.pop("name")

        partition_cursors = d.pop("partitionCursors")

        partitions_with_lag = d.pop("partitionsWithLag")

        queue_name = d.pop("queueName")

        state = ConsumerGroupState(d.pop("state"))

        storage = ConsumerGroupStorage(d.pop("storage"))

        def _parse_subscription_created_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                subscription_created_at_type_0 = datetime.datetime.fromisoformat(data)

                return subscription_created_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        subscription_created_at = _parse_subscription_created_at(
            d.pop("subscriptionCreatedAt")
        )

        def _parse_subscription_mode(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        subscription_mode = _parse_subscription_mode(d.pop("subscriptionMode"))

        def _parse_subscription_timestamp(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                subscription_timestamp_type_0 = datetime.datetime.fromisoformat(data)

                return subscription_timestamp_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        subscription_timestamp = _parse_subscription_timestamp(
            d.pop("subscriptionTimestamp")
        )

        topics = cast(list[str], d.pop("topics"))

        total_lag = d.pop("totalLag")

        consumer_group = cls(
            conflation=conflation,
            max_time_lag=max_time_lag,
            members=members,
            name=name,
            partition_cursors=partition_cursors,
            partitions_with_lag=partitions_with_lag,
            queue_name=queue_name,
            state=state,
            storage=storage,
            subscription_created_at=subscription_created_at,
            subscription_mode=subscription_mode,
            subscription_timestamp=subscription_timestamp,
            topics=topics,
            total_lag=total_lag,
        )

        consumer_group.additional_properties = d
        return consumer_group

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
