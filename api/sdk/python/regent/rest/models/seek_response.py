from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SeekResponse")


@_attrs_define
class SeekResponse:
    """
    Attributes:
        consumer_group (str):
        partitions_updated (int):
        queue_name (str):
        seek_to_end (bool):
        success (bool):
        target_timestamp (datetime.datetime | None):
    """

    consumer_group: str
    partitions_updated: int
    queue_name: str
    seek_to_end: bool
    success: bool
    target_timestamp: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        partitions_updated = self.partitions_updated

        queue_name = self.queue_name

        seek_to_end = self.seek_to_end

        success = self.success

        target_timestamp: None | str
        if isinstance(self.target_timestamp, datetime.datetime):
            target_timestamp = self.target_timestamp.isoformat()
        else:
            target_timestamp = self.target_timestamp

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumerGroup": consumer_group,
                "partitionsUpdated": partitions_updated,
                "queueName": queue_name,
                "seekToEnd": seek_to_end,
                "success": success,
                "targetTimestamp": target_timestamp,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer_group = d.pop("consumerGroup")

        partitions_updated = d.pop("partitionsUpdated")

        queue_name = d.pop("queueName")

        seek_to_end = d.pop("seekToEnd")

        success = d.pop("success")

        def _parse_target_timestamp(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                target_timestamp_type_0 = datetime.datetime.fromisoformat(data)

                return target_timestamp_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        target_timestamp = _parse_target_timestamp(d.pop("targetTimestamp"))

        seek_response = cls(
            consumer_group=consumer_group,
            partitions_updated=partitions_updated,
            queue_name=queue_name,
            seek_to_end=seek_to_end,
            success=success,
            target_timestamp=target_timestamp,
        )

        seek_response.additional_properties = d
        return seek_response

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
