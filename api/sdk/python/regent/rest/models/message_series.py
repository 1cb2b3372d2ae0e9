from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.message_series_interval import MessageSeriesInterval

if TYPE_CHECKING:
    from ..models.message_point import MessagePoint


T = TypeVar("T", bound="MessageSeries")


@_attrs_define
class MessageSeries:
    """
    Attributes:
        data_points (list[MessagePoint]):
        from_ (datetime.datetime):
        interval (MessageSeriesInterval):
        to (datetime.datetime):
    """

    data_points: list[MessagePoint]
    from_: datetime.datetime
    interval: MessageSeriesInterval
    to: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data_points = []
        for data_points_item_data in self.data_points:
            data_points_item = data_points_item_data.to_dict()
            data_points.append(data_points_item)

        from_ = self.from_.isoformat()

        interval = self.interval.value

        to = self.to.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "dataPoints": data_points,
                "from": from_,
                "interval": interval,
                "to": to,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.message_point import MessagePoint  # noqa: PLC0415

        d = dict(src_dict)
        data_points = []
        _data_points = d.pop("dataPoints")
        for data_points_item_data in _data_points:
            data_points_item = MessagePoint.from_dict(data_points_item_data)

            data_points.append(data_points_item)

        from_ = datetime.datetime.fromisoformat(d.pop("from"))

        interval = MessageSeriesInterval(d.pop("interval"))

        to = datetime.datetime.fromisoformat(d.pop("to"))

        message_series = cls(
            data_points=data_points,
            from_=from_,
            interval=interval,
            to=to,
        )

        message_series.additional_properties = d
        return message_series

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
