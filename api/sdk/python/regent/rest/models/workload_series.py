from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WorkloadSeries")


@_attrs_define
class WorkloadSeries:
    """
    Attributes:
        ack_failed (list[int | None]):
        avg_lag_ms (list[float | None]):
        max_lag_ms (list[int | None]):
        parked (list[float | None]): Pops parked on the average.
        pop (list[int | None]): Messages delivered.
        pop_empty (list[int | None]):
        push (list[int | None]): Messages stored.
    """

    ack_failed: list[int | None]
    avg_lag_ms: list[float | None]
    max_lag_ms: list[int | None]
    parked: list[float | None]
    pop: list[int | None]
    pop_empty: list[int | None]
    push: list[int | None]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ack_failed = []
        for ack_failed_item_data in self.ack_failed:
            ack_failed_item: int | None
            ack_failed_item = ack_failed_item_data
            ack_failed.append(ack_failed_item)

        avg_lag_ms = []
        for avg_lag_ms_item_data in self.avg_lag_ms:
            avg_lag_ms_item: float | None
            avg_lag_ms_item = avg_lag_ms_item_data
            avg_lag_ms.append(avg_lag_ms_item)

        max_lag_ms = []
        for max_lag_ms_item_data in self.max_lag_ms:
            max_lag_ms_item: int | None
            max_lag_ms_item = max_lag_ms_item_data
            max_lag_ms.append(max_lag_ms_item)

        parked = []
        for parked_item_data in self.parked:
            parked_item: float | None
            parked_item = parked_item_data
            parked.append(parked_item)

        pop = []
        for pop_item_data in self.pop:
            pop_item: int | None
            pop_item = pop_item_data
            pop.append(pop_item)

        pop_empty = []
        for pop_empty_item_data in self.pop_empty:
            pop_empty_item: int | None
            pop_empty_item = pop_empty_item_data
            pop_empty.append(pop_empty_item)

        push = []
        for push_item_data in self.push:
            push_item: int | None
            push_item = push_item_data
            push.append(push_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ackFailed": ack_failed,
                "avgLagMs": avg_lag_ms,
                "maxLagMs": max_lag_ms,
                "parked": parked,
                "pop": pop,
                "popEmpty": pop_empty,
                "push": push,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ack_failed = []
        _ack_failed = d.pop("ackFailed")
        for ack_failed_item_data in _ack_failed:

            def _parse_ack_failed_item(data: object) -> int | None:
                if data is None:
                    return data
                return cast(int | None, data)

            ack_failed_item = _parse_ack_failed_item(ack_failed_item_data)

            ack_failed.append(ack_failed_item)

        avg_lag_ms = []
        _avg_lag_ms = d.pop("avgLagMs")
        for avg_lag_ms_item_data in _avg_lag_ms:

            def _parse_avg_lag_ms_item(data: object) -> float | None:
                if data is None:
                    return data
                return cast(float | None, data)

            avg_lag_ms_item = _parse_avg_lag_ms_item(avg_lag_ms_item_data)

            avg_lag_ms.append(avg_lag_ms_item)

        max_lag_ms = []
        _max_lag_ms = d.pop("maxLagMs")
        for max_lag_ms_item_data in _max_lag_ms:

            def _parse_max_lag_ms_item(data: object) -> int | None:
                if data is None:
                    return data
                return cast(int | None, data)

            max_lag_ms_item = _parse_max_lag_ms_item(max_lag_ms_item_data)

            max_lag_ms.append(max_lag_ms_item)

        parked = []
        _parked = d.pop("parked")
        for parked_item_data in _parked:

            def _parse_parked_item(data: object) -> float | None:
                if data is None:
                    return data
                return cast(float | None, data)

            parked_item = _parse_parked_item(parked_item_data)

            parked.append(parked_item)

        pop = []
        _pop = d.pop("pop")
        for pop_item_data in _pop:

            def _parse_pop_item(data: object) -> int | None:
                if data is None:
                    return data
                return cast(int | None, data)

            pop_item = _parse_pop_item(pop_item_data)

            pop.append(pop_item)

        pop_empty = []
        _pop_empty = d.pop("popEmpty")
        for pop_empty_item_data in _pop_empty:

            def _parse_pop_empty_item(data: object) -> int | None:
                if data is None:
                    return data
                return cast(int | None, data)

            pop_empty_item = _parse_pop_empty_item(pop_empty_item_data)

            pop_empty.append(pop_empty_item)

        push = []
        _push = d.pop("push")
        for push_item_data in _push:

            def _parse_push_item(data: object) -> int | None:
                if data is None:
                    return data
                return cast(int | None, data)

            push_item = _parse_push_item(push_item_data)

            push.append(push_item)

        workload_series = cls(
            ack_failed=ack_failed,
            avg_lag_ms=avg_lag_ms,
            max_lag_ms=max_lag_ms,
            parked=parked,
            pop=pop,
            pop_empty=pop_empty,
            push=push,
        )

        workload_series.additional_properties = d
        return workload_series

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
