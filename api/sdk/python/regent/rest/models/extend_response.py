from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ExtendResponse")


@_attrs_define
class ExtendResponse:
    """
    Attributes:
        expires_at (datetime.datetime | None): The same.
        lease_id (str):
        lease_expires_at (datetime.datetime | None): The same.
        new_expires_at (datetime.datetime | None): Earliest end among them.
        renewed (int): Leases that were extended: one a partition.
        success (bool): Whether any lease was extended. An expired one is not.
    """

    expires_at: datetime.datetime | None
    lease_id: str
    lease_expires_at: datetime.datetime | None
    new_expires_at: datetime.datetime | None
    renewed: int
    success: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        lease_id = self.lease_id

        lease_expires_at: None | str
        if isinstance(self.lease_expires_at, datetime.datetime):
            lease_expires_at = self.lease_expires_at.isoformat()
        else:
            lease_expires_at = self.lease_expires_at

        new_expires_at: None | str
        if isinstance(self.new_expires_at, datetime.datetime):
            new_expires_at = self.new_expires_at.isoformat()
        else:
            new_expires_at = self.new_expires_at

        renewed = self.renewed

        success = self.success

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "expiresAt": expires_at,
                "leaseId": lease_id,
                "lease_expires_at": lease_expires_at,
                "newExpiresAt": new_expires_at,
                "renewed": renewed,
                "success": success,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expiresAt"))

        lease_id = d.pop("leaseId")

        def _parse_lease_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                lease_expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return lease_expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        lease_expires_at = _parse_lease_expires_at(d.pop("lease_expires_at"))

        def _parse_new_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                new_expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return new_expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        new_expires_at = _parse_new_expires_at(d.pop("newExpiresAt"))

        renewed = d.pop("renewed")

        success = d.pop("success")

        extend_response = cls(
            expires_at=expires_at,
            lease_id=lease_id,
            lease_expires_at=lease_expires_at,
            new_expires_at=new_expires_at,
            renewed=renewed,
            success=success,
        )

        extend_response.additional_properties = d
        return extend_response

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
