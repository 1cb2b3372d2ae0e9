from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeliveredLag")


@_attrs_define
class DeliveredLag:
    """
    Attributes:
        avg_lag_ms (float):
        max_lag_ms (int):
        pop_count (int):
        queue_name (str):
    """

    avg_lag_ms: float
    max_lag_ms: int
    pop_count: int
    queue_name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        avg_lag_ms = self.avg_lag_ms

        max_lag_ms = self.max_lag_ms

        pop_count = self.pop_count

        queue_name = self.queue_name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "avgLagMs": avg_lag_ms,
                "maxLagMs": max_lag_ms,
                "popCount": pop_count,
                "queueName": queue_name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        avg_lag_ms = d.pop("avgLagMs")

        max_lag_ms = d.pop("maxLagMs")

        pop_count = d.pop("popCount")

        queue_name = d.pop("queueName")

        delivered_lag = cls(
            avg_lag_ms=avg_lag_ms,
            max_lag_ms=max_lag_ms,
            pop_count=pop_count,
            queue_name=queue_name,
        )

        delivered_lag.additional_properties = d
        return delivered_lag

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
