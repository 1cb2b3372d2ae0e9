from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="QueueStatusConfig")


@_attrs_define
class QueueStatusConfig:
    """
    Attributes:
        dead_letter_queue (bool):
        lease_time (int): Seconds.
        max_queue_size (int):
        retry_delay (int): Milliseconds.
        retry_limit (int):
        ttl (int): Seconds.
    """

    dead_letter_queue: bool
    lease_time: int
    max_queue_size: int
    retry_delay: int
    retry_limit: int
    ttl: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        dead_letter_queue = self.dead_letter_queue

        lease_time = self.lease_time

        max_queue_size = self.max_queue_size

        retry_delay = self.retry_delay

        retry_limit = self.retry_limit

        ttl = self.ttl

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "deadLetterQueue": dead_letter_queue,
                "leaseTime": lease_time,
                "maxQueueSize": max_queue_size,
                "retryDelay": retry_delay,
                "retryLimit": retry_limit,
                "ttl": ttl,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        dead_letter_queue = d.pop("deadLetterQueue")

        lease_time = d.pop("leaseTime")

        max_queue_size = d.pop("maxQueueSize")

        retry_delay = d.pop("retryDelay")

        retry_limit = d.pop("retryLimit")

        ttl = d.pop("ttl")

        queue_status_config = cls(
            dead_letter_queue=dead_letter_queue,
            lease_time=lease_time,
            max_queue_size=max_queue_size,
            retry_delay=retry_delay,
            retry_limit=retry_limit,
            ttl=ttl,
        )

        queue_status_config.additional_properties = d
        return queue_status_config

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
