from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.popped_message import PoppedMessage


T = TypeVar("T", bound="PopResponse")


@_attrs_define
class PopResponse:
    """
    Attributes:
        consumer_group (str):
        lease_id (str): Empty with autoAck. One lease covers every partition of the answer.
        messages (list[PoppedMessage]): In offset order inside each partition.
        partition (str): Of the first message.
        partition_id (str): Of the first message.
        partitions_claimed (int):
        queue (str):
        success (bool):
        conflation (bool | Unset): The group conflates: it gets the last message of a partition only. Told even when
            there is none.
        conflation_conflict (bool | Unset): The pop asked for another policy than the one that the group's first pop
            stored.
    """

    consumer_group: str
    lease_id: str
    messages: list[PoppedMessage]
    partition: str
    partition_id: str
    partitions_claimed: int
    queue: str
    success: bool
    conflation: bool | Unset = UNSET
    conflation_conflict: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        lease_id = self.lease_id

        messages = []
        for messages_item_data in self.messages:
            messages_item = messages_item_data.to_dict()
            messages.append(messages_item)

        partition = self.partition

        partition_id = self.partition_id

        partitions_claimed = self.partitions_claimed

        queue = self.queue

        success = self.success

        conflation = self.conflation

        conflation_conflict = self.conflation_conflict

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumerGroup": consumer_group,
                "leaseId": lease_id,
                "messages": messages,
                "partition": partition,
                "partitionId": partition_id,
                "partitionsClaimed": partitions_claimed,
                "queue": queue,
                "success": success,
            }
        )
        if conflation is not UNSET:
            field_dict["conflation"] = conflation
        if conflation_conflict is not UNSET:
            field_dict["conflationConflict"] = conflation_conflict

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.popped_message import PoppedMessage  # noqa: PLC0415

        d = dict(src_dict)
        consumer_group = d.pop("consumerGroup")

        lease_id = d.pop("leaseId")

        messages = []
        _messages = d.pop("messages")
        for messages_item_data in _messages:
            messages_item = PoppedMessage.from_dict(messages_item_data)

            messages.append(messages_item)

        partition = d.pop("partition")

        partition_id = d.pop("partitionId")

        partitions_claimed = d.pop("partitionsClaimed")

        queue = d.pop("queue")

        success = d.pop("success")

        conflation = d.pop("conflation", UNSET)

        conflation_conflict = d.pop("conflationConflict", UNSET)

        pop_response = cls(
            consumer_group=consumer_group,
            lease_id=lease_id,
            messages=messages,
            partition=partition,
            partition_id=partition_id,
            partitions_claimed=partitions_claimed,
            queue=queue,
            success=success,
            conflation=conflation,
            conflation_conflict=conflation_conflict,
        )

        pop_response.additional_properties = d
        return pop_response

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
