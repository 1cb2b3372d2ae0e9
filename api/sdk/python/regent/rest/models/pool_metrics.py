from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PoolMetrics")


@_attrs_define
class PoolMetrics:
    """
    Attributes:
        idle_connections (int):
        pool_size (int):
        waiting_requests (int): Always 0.
    """

    idle_connections: int
    pool_size: int
    waiting_requests: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        idle_connections = self.idle_connections

        pool_size = self.pool_size

        waiting_requests = self.waiting_requests

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "idleConnections": idle_connections,
                "poolSize": pool_size,
                "waitingRequests": waiting_requests,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        idle_connections = d.pop("idleConnections")

        pool_size = d.pop("poolSize")

        waiting_requests = d.pop("waitingRequests")

        pool_metrics = cls(
            idle_connections=idle_connections,
            pool_size=pool_size,
            waiting_requests=waiting_requests,
        )

        pool_metrics.additional_properties = d
        return pool_metrics

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
