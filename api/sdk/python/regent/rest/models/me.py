from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.my_cluster import MyCluster


T = TypeVar("T", bound="Me")


@_attrs_define
class Me:
    """
    Attributes:
        act_cluster_header (str):
        acting_cluster (MyCluster):
        cluster (None | str):
        clusters (list[MyCluster]):
        email (None | str):
        is_operator (bool):
        operator_enabled (bool):
        operator_live (bool):
        role (str):
        standalone (bool):
        tenant_slug (str):
        user_id (str):
    """

    act_cluster_header: str
    acting_cluster: MyCluster
    cluster: None | str
    clusters: list[MyCluster]
    email: None | str
    is_operator: bool
    operator_enabled: bool
    operator_live: bool
    role: str
    standalone: bool
    tenant_slug: str
    user_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        act_cluster_header = self.act_cluster_header

        acting_cluster = self.acting_cluster.to_dict()

        cluster: None | str
        cluster = self.cluster

        clusters = []
        for clusters_item_data in self.clusters:
            clusters_item = clusters_item_data.to_dict()
            clusters.append(clusters_item)

        email: None | str
        email = self.email

        is_operator = self.is_operator

        operator_enabled = self.operator_enabled

        operator_live = self.operator_live

        role = self.role

        standalone = self.standalone

        tenant_slug = self.tenant_slug

        user_id = self.user_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "act_cluster_header": act_cluster_header,
                "acting_cluster": acting_cluster,
                "cluster": cluster,
                "clusters": clusters,
                "email": email,
                "is_operator": is_operator,
                "operator_enabled": operator_enabled,
                "operator_live": operator_live,
                "role": role,
                "standalone": standalone,
                "tenant_slug": tenant_slug,
                "user_id": user_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.my_cluster import MyCluster  # noqa: PLC0415

        d = dict(src_dict)
        act_cluster_header = d.pop("act_cluster_header")

        acting_cluster = MyCluster.from_dict(d.pop("acting_cluster"))

        def _parse_cluster(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        cluster = _parse_cluster(d.pop("cluster"))

        clusters = []
        _clusters = d.pop("clusters")
        for clusters_item_data in _clusters:
            clusters_item = MyCluster.from_dict(clusters_item_data)

            clusters.append(clusters_item)

        def _parse_email(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        email = _parse_email(d.pop("email"))

        is_operator = d.pop("is_operator")

        operator_enabled = d.pop("operator_enabled")

        operator_live = d.pop("operator_live")

        role = d.pop("role")

        standalone = d.pop("standalone")

        tenant_slug = d.pop("tenant_slug")

        user_id = d.pop("user_id")

        me = cls(
            act_cluster_header=act_cluster_header,
            acting_cluster=acting_cluster,
            cluster=cluster,
            clusters=clusters,
            email=email,
            is_operator=is_operator,
            operator_enabled=operator_enabled,
            operator_live=operator_live,
            role=role,
            standalone=standalone,
            tenant_slug=tenant_slug,
            user_id=user_id,
        )

        me.additional_properties = d
        return me

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
