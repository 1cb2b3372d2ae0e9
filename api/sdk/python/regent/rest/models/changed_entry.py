from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.changed_entry_error import ChangedEntryError
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.changed_partition import ChangedPartition


T = TypeVar("T", bound="ChangedEntry")


@_attrs_define
class ChangedEntry:
    """
    Attributes:
        queue (str):
        error (ChangedEntryError | Unset): No such queue, or an after of another mode or queue, or that was not given
            out.
        next_ (None | str | Unset): The after of the next page; null when the page is not full: that is the end. Absent
            with an error.
        partitions (list[ChangedPartition] | Unset): Absent with an error.
    """

    queue: str
    error: ChangedEntryError | Unset = UNSET
    next_: None | str | Unset = UNSET
    partitions: list[ChangedPartition] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        queue = self.queue

        error: str | Unset = UNSET
        if not isinstance(self.error, Unset):
            error = self.error.value

        next_: None | str | Unset
        if isinstance(self.next_, Unset):
            next_ = UNSET
        else:
            next_ = self.next_

        partitions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.partitions, Unset):
            partitions = []
            for partitions_item_data in self.partitions:
                partitions_item = partitions_item_data.to_dict()
                partitions.append(partitions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "queue": queue,
            }
        )
        if error is not UNSET:
            field_dict["error"] = error
        if next_ is not UNSET:
            field_dict["next"] = next_
        if partitions is not UNSET:
            field_dict["partitions"] = partitions

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.changed_partition import ChangedPartition  # noqa: PLC0415

        d = dict(src_dict)
        queue = d.pop("queue")

        _error = d.pop("error", UNSET)
        error: ChangedEntryError | Unset
        if isinstance(_error, Unset):
            error = UNSET
        else:
            error = ChangedEntryError(_error)

        def _parse_next_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        next_ = _parse_next_(d.pop("next", UNSET))

        _partitions = d.pop("partitions", UNSET)
        partitions: list[ChangedPartition] | Unset = UNSET
        if _partitions is not UNSET:
            partitions = []
            for partitions_item_data in _partitions:
                partitions_item = ChangedPartition.from_dict(partitions_item_data)

                partitions.append(partitions_item)

        changed_entry = cls(
            queue=queue,
            error=error,
            next_=next_,
            partitions=partitions,
        )

        changed_entry.additional_properties = d
        return changed_entry

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
