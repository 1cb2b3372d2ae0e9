from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.day_count import DayCount
    from ..models.error_signature import ErrorSignature
    from ..models.group_count import GroupCount
    from ..models.retry_count import RetryCount


T = TypeVar("T", bound="DeadLetterSignatures")


@_attrs_define
class DeadLetterSignatures:
    """
    Attributes:
        avg_bytes (int):
        by_day (list[DayCount]): By the day, in UTC, that they failed on.
        groups (list[GroupCount]):
        newest (datetime.datetime | None):
        oldest (datetime.datetime | None):
        queue (str):
        retry_counts (list[RetryCount]):
        rows_now (int):
        sample (int): How many of the newest were looked at for signatures and avgBytes.
        signatures (list[ErrorSignature]): The eight most frequent.
    """

    avg_bytes: int
    by_day: list[DayCount]
    groups: list[GroupCount]
    newest: datetime.datetime | None
    oldest: datetime.datetime | None
    queue: str
    retry_counts: list[RetryCount]
    rows_now: int
    sample: int
    signatures: list[ErrorSignature]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        avg_bytes = self.avg_bytes

        by_day = []
        for by_day_item_data in self.by_day:
            by_day_item = by_day_item_data.to_dict()
            by_day.append(by_day_item)

        groups = []
        for groups_item_data in self.groups:
            groups_item = groups_item_data.to_dict()
            groups.append(groups_item)

        newest: None | str
        if isinstance(self.newest, datetime.datetime):
            newest = self.newest.isoformat()
        else:
            newest = self.newest

        oldest: None | str
        if isinstance(self.oldest, datetime.datetime):
            oldest = self.oldest.isoformat()
        else:
            oldest = self.oldest

        queue = self.queue

        retry_counts = []
        for retry_counts_item_data in self.retry_counts:
            retry_counts_item = retry_counts_item_data.to_dict()
            retry_counts.append(retry_counts_item)

        rows_now = self.rows_now

        sample = self.sample

        signatures = []
        for signatures_item_data in self.signatures:
            signatures_item = signatures_item_data.to_dict()
            signatures.append(signatures_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "avgBytes": avg_bytes,
                "byDay": by_day,
                "groups": groups,
                "newest": newest,
                "oldest": oldest,
                "queue": queue,
                "retryCounts": retry_counts,
                "rowsNow": rows_now,
                "sample": sample,
                "signatures": signatures,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.day_count import DayCount  # noqa: PLC0415
        from ..models.error_signature import ErrorSignature  # noqa: PLC0415
        from ..models.group_count import GroupCount  # noqa: PLC0415
        from ..models.retry_count import RetryCount  # noqa: PLC0415

        d = dict(src_dict)
        avg_bytes = d.pop("avgBytes")

        by_day = []
        _by_day = d.pop("byDay")
        for by_day_item_data in _by_day:
            by_day_item = DayCount.from_dict(by_day_item_data)

            by_day.append(by_day_item)

        groups = []
        _groups = d.pop("groups")
        for groups_item_data in _groups:
            groups_item = GroupCount.from_dict(groups_item_data)

            groups.append(groups_item)

        def _parse_newest(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                newest_type_0 = datetime.datetime.fromisoformat(data)

                return newest_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        newest = _parse_newest(d.pop("newest"))

        def _parse_oldest(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                oldest_type_0 = datetime.datetime.fromisoformat(data)

                return oldest_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        oldest = _parse_oldest(d.pop("oldest"))

        queue = d.pop("queue")

        retry_counts = []
        _retry_counts = d.pop("retryCounts")
        for retry_counts_item_data in _retry_counts:
            retry_counts_item = RetryCount.from_dict(retry_counts_item_data)

            retry_counts.append(retry_counts_item)

        rows_now = d.pop("rowsNow")

        sample = d.pop("sample")

        signatures = []
        _signatures = d.pop("signatures")
        for signatures_item_data in _signatures:
            signatures_item = ErrorSignature.from_dict(signatures_item_data)

            signatures.append(signatures_item)

        dead_letter_signatures = cls(
            avg_bytes=avg_bytes,
            by_day=by_day,
            groups=groups,
            newest=newest,
            oldest=oldest,
            queue=queue,
            retry_counts=retry_counts,
            rows_now=rows_now,
            sample=sample,
            signatures=signatures,
        )

        dead_letter_signatures.additional_properties = d
        return dead_letter_signatures

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
