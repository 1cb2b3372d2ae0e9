from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.consumed_queue import ConsumedQueue
    from ..models.status_errors import StatusErrors
    from ..models.status_leases import StatusLeases
    from ..models.status_letters import StatusLetters
    from ..models.status_messages import StatusMessages
    from ..models.status_worker import StatusWorker
    from ..models.throughput_point import ThroughputPoint
    from ..models.time_range import TimeRange


T = TypeVar("T", bound="Status")


@_attrs_define
class Status:
    """
    Attributes:
        bucket_minutes (int):
        dead_letter_queue (StatusLetters):
        errors (StatusErrors):
        leases (StatusLeases):
        messages (StatusMessages):
        point_count (int):
        queues (list[ConsumedQueue]): Queues that keep messages, as last counted.
        stats_age (int): Seconds since the queues were counted; -1: never.
        throughput (list[ThroughputPoint]): Newest first; times without a flush are left out.
        time_range (TimeRange):
        workers (list[StatusWorker]): Servers that flushed their counters in the last two minutes.
    """

    bucket_minutes: int
    dead_letter_queue: StatusLetters
    errors: StatusErrors
    leases: StatusLeases
    messages: StatusMessages
    point_count: int
    queues: list[ConsumedQueue]
    stats_age: int
    throughput: list[ThroughputPoint]
    time_range: TimeRange
    workers: list[StatusWorker]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bucket_minutes = self.bucket_minutes

        dead_letter_queue = self.dead_letter_queue.to_dict()

        errors = self.errors.to_dict()

        leases = self.leases.to_dict()

        messages = self.messages.to_dict()

        point_count = self.point_count

        queues = []
        for queues_item_data in self.queues:
            queues_item = queues_item_data.to_dict()
            queues.append(queues_item)

        stats_age = self.stats_age

        throughput = []
        for throughput_item_data in self.throughput:
            throughput_item = throughput_item_data.to_dict()
            throughput.append(throughput_item)

        time_range = self.time_range.to_dict()

        workers = []
        for workers_item_data in self.workers:
            workers_item = workers_item_data.to_dict()
            workers.append(workers_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bucketMinutes": bucket_minutes,
                "deadLetterQueue": dead_letter_queue,
                "errors": errors,
                "leases": leases,
                "messages": messages,
                "pointCount": point_count,
                "queues": queues,
                "statsAge": stats_age,
                "throughput": throughput,
                "timeRange": time_range,
                "workers": workers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.consumed_queue import ConsumedQueue  # noqa: PLC0415
        from ..models.status_errors import StatusErrors  # noqa: PLC0415
        from ..models.status_leases import StatusLeases  # noqa: PLC0415
        from ..models.status_letters import StatusLetters  # noqa: PLC0415
        from ..models.status_messages import StatusMessages  # noqa: PLC0415
        from ..models.status_worker import StatusWorker  # noqa: PLC0415
        from ..models.throughput_point import ThroughputPoint  # noqa: PLC0415
        from ..models.time_range import TimeRange  # noqa: PLC0415

        d = dict(src_dict)
        bucket_minutes = d.pop("bucketMinutes")

        dead_letter_queue = StatusLetters.from_dict(d.pop("deadLetterQueue"))

        errors = StatusErrors.from_dict(d.pop("errors"))

        leases = StatusLeases.from_dict(d.pop("leases"))

        messages = StatusMessages.from_dict(d.pop("messages"))

        point_count = d.pop("pointCount")

        queues = []
        _queues = d.pop("queues")
        for queues_item_data in _queues:
            queues_item = ConsumedQueue.from_dict(queues_item_data)

            queues.append(queues_item)

        stats_age = d.pop("statsAge")

        throughput = []
        _throughput = d.pop("throughput")
        for throughput_item_data in _throughput:
            throughput_item = ThroughputPoint.from_dict(throughput_item_data)

            throughput.append(throughput_item)

        time_range = TimeRange.from_dict(d.pop("timeRange"))

        workers = []
        _workers = d.pop("workers")
        for workers_item_data in _workers:
            workers_item = StatusWorker.from_dict(workers_item_data)

            workers.append(workers_item)

        status = cls(
            bucket_minutes=bucket_minutes,
            dead_letter_queue=dead_letter_queue,
            errors=errors,
            leases=leases,
            messages=messages,
            point_count=point_count,
            queues=queues,
            stats_age=stats_age,
            throughput=throughput,
            time_range=time_range,
            workers=workers,
        )

        status.additional_properties = d
        return status

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
