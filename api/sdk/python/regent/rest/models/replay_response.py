from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.replay_response_result import ReplayResponseResult

if TYPE_CHECKING:
    from ..models.replayed_as import ReplayedAs


T = TypeVar("T", bound="ReplayResponse")


@_attrs_define
class ReplayResponse:
    """
    Attributes:
        consumer_group (str): Group that had given up.
        dlq_id (UUID):
        dlq_row_removed (bool):
        original_transaction_id (str):
        partition (str): Partition that it went to.
        queue (str): Queue that it went to.
        replayed_as (ReplayedAs):
        result (ReplayResponseResult): moved: stored anew, and no dead letter any more. duplicate: nothing was stored,
            the dead letter is kept.
        success (bool):
    """

    consumer_group: str
    dlq_id: UUID
    dlq_row_removed: bool
    original_transaction_id: str
    partition: str
    queue: str
    replayed_as: ReplayedAs
    result: ReplayResponseResult
    success: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        dlq_id = str(self.dlq_id)

        dlq_row_removed = self.dlq_row_removed

        original_transaction_id = self.original_transaction_id

        partition = self.partition

        queue = self.queue

        replayed_as = self.replayed_as.to_dict()

        result = self.result.value

        success = self.success

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumerGroup": consumer_group,
                "dlqId": dlq_id,
                "dlqRowRemoved": dlq_row_removed,
                "originalTransactionId": original_transaction_id,
                "partition": partition,
                "queue": queue,
                "replayedAs": replayed_as,
                "result": result,
                "success": success,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.replayed_as import ReplayedAs  # noqa: PLC0415

        d = dict(src_dict)
        consumer_group = d.pop("consumerGroup")

        dlq_id = UUID(d.pop("dlqId"))

        dlq_row_removed = d.pop("dlqRowRemoved")

        original_transaction_id = d.pop("originalTransactionId")

        partition = d.pop("partition")

        queue = d.pop("queue")

        replayed_as = ReplayedAs.from_dict(d.pop("replayedAs"))

        result = ReplayResponseResult(d.pop("result"))

        success = d.pop("success")

        replay_response = cls(
            consumer_group=consumer_group,
            dlq_id=dlq_id,
            dlq_row_removed=dlq_row_removed,
            original_transaction_id=original_transaction_id,
            partition=partition,
            queue=queue,
            replayed_as=replayed_as,
            result=result,
            success=success,
        )

        replay_response.additional_properties = d
        return replay_response

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
