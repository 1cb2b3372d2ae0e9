from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.retention_cut import RetentionCut
    from ..models.retention_hashes import RetentionHashes
    from ..models.retention_rule_sum import RetentionRuleSum
    from ..models.retention_rules import RetentionRules
    from ..models.retention_sums import RetentionSums


T = TypeVar("T", bound="RetentionPreview")


@_attrs_define
class RetentionPreview:
    """
    Attributes:
        at (datetime.datetime): The reading of the clock that all times of rules come from.
        complete (bool): False when there is more than the preview looked at: 10000 partitions, 100000 segments in each.
        hashes (RetentionHashes):
        partitions (list[RetentionCut]): At most 1000 of the runs that would go, by partition.
        queue (str):
        rules (RetentionRules):
        totals (RetentionSums):
        would_delete (list[RetentionRuleSum]): Sums by rule; none when nothing would go.
    """

    at: datetime.datetime
    complete: bool
    hashes: RetentionHashes
    partitions: list[RetentionCut]
    queue: str
    rules: RetentionRules
    totals: RetentionSums
    would_delete: list[RetentionRuleSum]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        complete = self.complete

        hashes = self.hashes.to_dict()

        partitions = []
        for partitions_item_data in self.partitions:
            partitions_item = partitions_item_data.to_dict()
            partitions.append(partitions_item)

        queue = self.queue

        rules = self.rules.to_dict()

        totals = self.totals.to_dict()

        would_delete = []
        for would_delete_item_data in self.would_delete:
            would_delete_item = would_delete_item_data.to_dict()
            would_delete.append(would_delete_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "complete": complete,
                "hashes": hashes,
                "partitions": partitions,
                "queue": queue,
                "rules": rules,
                "totals": totals,
                "wouldDelete": would_delete,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.retention_cut import RetentionCut  # noqa: PLC0415
        from ..models.retention_hashes import RetentionHashes  # noqa: PLC0415
        from ..models.retention_rule_sum import RetentionRuleSum  # noqa: PLC0415
        from ..models.retention_rules import RetentionRules  # noqa: PLC0415
        from ..models.retention_sums import RetentionSums  # noqa: PLC0415

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        complete = d.pop("complete")

        hashes = RetentionHashes.from_dict(d.pop("hashes"))

        partitions = []
        _partitions = d.pop("partitions")
        for partitions_item_data in _partitions:
            partitions_item = RetentionCut.from_dict(partitions_item_data)

            partitions.append(partitions_item)

        queue = d.pop("queue")

        rules = RetentionRules.from_dict(d.pop("rules"))

        totals = RetentionSums.from_dict(d.pop("totals"))

        would_delete = []
        _would_delete = d.pop("wouldDelete")
        for would_delete_item_data in _would_delete:
            would_delete_item = RetentionRuleSum.from_dict(would_delete_item_data)

            would_delete.append(would_delete_item)

        retention_preview = cls(
            at=at,
            complete=complete,
            hashes=hashes,
            partitions=partitions,
            queue=queue,
            rules=rules,
            totals=totals,
            would_delete=would_delete,
        )

        retention_preview.additional_properties = d
        return retention_preview

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
