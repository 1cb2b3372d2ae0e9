from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DeleteGroupResponse")


@_attrs_define
class DeleteGroupResponse:
    """
    Attributes:
        consumer_group (str):
        deleted_partitions (int): Cursors removed.
        metadata_deleted (bool): Whether the subscription was to go, too.
        success (bool):
        queue_name (str | Unset): Only when one queue was named.
    """

    consumer_group: str
    deleted_partitions: int
    metadata_deleted: bool
    success: bool
    queue_name: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        consumer_group = self.consumer_group

        deleted_partitions = self.deleted_partitions

        metadata_deleted = self.metadata_deleted

        success = self.success

        queue_name = self.queue_name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "consumerGroup": consumer_group,
                "deletedPartitions": deleted_partitions,
                "metadataDeleted": metadata_deleted,
                "success": success,
            }
        )
        if queue_name is not UNSET:
            field_dict["queueName"] = queue_name

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer_group = d.pop("consumerGroup")

        deleted_partitions = d.pop("deletedPartitions")

        metadata_deleted = d.pop("metadataDeleted")

        success = d.pop("success")

        queue_name = d.pop("queueName", UNSET)

        delete_group_response = cls(
            consumer_group=consumer_group,
            deleted_partitions=deleted_partitions,
            metadata_deleted=metadata_deleted,
            success=success,
            queue_name=queue_name,
        )

        delete_group_response.additional_properties = d
        return delete_group_response

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
