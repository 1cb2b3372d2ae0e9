from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="MyCluster")


@_attrs_define
class MyCluster:
    """
    Attributes:
        id (str):
        slug (str):
        cell_slug (str | Unset):
        role (str | Unset):
        status (str | Unset):
        tenant_id (str | Unset):
        tenant_slug (str | Unset):
    """

    id: str
    slug: str
    cell_slug: str | Unset = UNSET
    role: str | Unset = UNSET
    status: str | Unset = UNSET
    tenant_id: str | Unset = UNSET
    tenant_slug: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        slug = self.slug

        cell_slug = self.cell_slug

        role = self.role

        status = self.status

        tenant_id = self.tenant_id

        tenant_slug = self.tenant_slug

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "slug": slug,
            }
        )
        if cell_slug is not UNSET:
            field_dict["cell_slug"] = cell_slug
        if role is not UNSET:
            field_dict["role"] = role
        if status is not UNSET:
            field_dict["status"] = status
        if tenant_id is not UNSET:
            field_dict["tenant_id"] = tenant_id
        if tenant_slug is not UNSET:
            field_dict["tenant_slug"] = tenant_slug

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        slug = d.pop("slug")

        cell_slug = d.pop("cell_slug", UNSET)

        role = d.pop("role", UNSET)

        status = d.pop("status", UNSET)

        tenant_id = d.pop("tenant_id", UNSET)

        tenant_slug = d.pop("tenant_slug", UNSET)

        my_cluster = cls(
            id=id,
            slug=slug,
            cell_slug=cell_slug,
            role=role,
            status=status,
            tenant_id=tenant_id,
            tenant_slug=tenant_slug,
        )

        my_cluster.additional_properties = d
        return my_cluster

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
