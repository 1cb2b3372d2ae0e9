from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ParkedPoint")


@_attrs_define
class ParkedPoint:
    """
    Attributes:
        bucket (datetime.datetime):
        hostname (str):
        parked_count (float):
        queue_name (str):
        worker_id (int):
    """

    bucket: datetime.datetime
    hostname: str
    parked_count: float
    queue_name: str
    worker_id: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bucket = self.bucket.isoformat()

        hostname = self.hostname

        parked_count = self.parked_count

        queue_name = self.queue_name

        worker_id = self.worker_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bucket": bucket,
                "hostname": hostname,
                "parkedCount": parked_count,
                "queueName": queue_name,
                "workerId": worker_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        bucket = datetime.datetime.fromisoformat(d.pop("bucket"))

        hostname = d.pop("hostname")

        parked_count = d.pop("parkedCount")

        queue_name = d.pop("queueName")

        worker_id = d.pop("workerId")

        parked_point = cls(
            bucket=bucket,
            hostname=hostname,
            parked_count=parked_count,
            queue_name=queue_name,
            worker_id=worker_id,
        )

        parked_point.additional_properties = d
        return parked_point

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
