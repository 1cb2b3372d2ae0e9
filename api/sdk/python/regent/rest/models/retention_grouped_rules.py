from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.retention_rule_done import RetentionRuleDone


T = TypeVar("T", bound="RetentionGroupedRules")


@_attrs_define
class RetentionGroupedRules:
    """The same for each rule that deleted something: retention, completed_retention, max_wait_time_eviction,
    retention_bytes, retention_messages, compaction.

    """

    additional_properties: dict[str, RetentionRuleDone] = _attrs_field(
        init=False, factory=dict
    )

    def to_dict(self) -> dict[str, Any]:
        field_dict: dict[str, Any] = {}
        for prop_name, prop in self.additional_properties.items():
            field_dict[prop_name] = prop.to_dict()

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.retention_rule_done import RetentionRuleDone  # noqa: PLC0415

        d = dict(src_dict)
        retention_grouped_rules = cls()

        additional_properties = {}
        for prop_name, prop_dict in d.items():
            additional_property = RetentionRuleDone.from_dict(prop_dict)

            additional_properties[prop_name] = additional_property

        retention_grouped_rules.additional_properties = additional_properties
        return retention_grouped_rules

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> RetentionRuleDone:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: RetentionRuleDone) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
