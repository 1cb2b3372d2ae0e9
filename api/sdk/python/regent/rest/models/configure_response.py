from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.configure_response_storage import ConfigureResponseStorage
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.queue_settings import QueueSettings
    from ..models.retention_preview import RetentionPreview


T = TypeVar("T", bound="ConfigureResponse")


@_attrs_define
class ConfigureResponse:
    """
    Attributes:
        configured (bool):
        namespace (str):
        options (QueueSettings):
        partition_id (None | UUID): Always null: partitions are made by the first push that names them.
        queue (str):
        queue_id (UUID):
        storage (ConfigureResponseStorage):
        task (str):
        dry_run (bool | Unset): Nothing was changed; configured is false then, and queueId all zero for a queue that
            does not exist.
        retention (RetentionPreview | Unset):
    """

    configured: bool
    namespace: str
    options: QueueSettings
    partition_id: None | UUID
    queue: str
    queue_id: UUID
    storage: ConfigureResponseStorage
    task: str
    dry_run: bool | Unset = UNSET
    retention: RetentionPreview | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        configured = self.configured

        namespace = self.namespace

        options = self.options.to_dict()

        partition_id: None | str
        if isinstance(self.partition_id, UUID):
            partition_id = str(self.partition_id)
        else:
            partition_id = self.partition_id

        queue = self.queue

        queue_id = str(self.queue_id)

        storage = self.storage.value

        task = self.task

        dry_run = self.dry_run

        retention: dict[str, Any] | Unset = UNSET
        if not isinstance(self.retention, Unset):
            retention = self.retention.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "configured": configured,
                "namespace": namespace,
                "options": options,
                "partitionId": partition_id,
                "queue": queue,
                "queueId": queue_id,
                "storage": storage,
                "task": task,
            }
        )
        if dry_run is not UNSET:
            field_dict["dryRun"] = dry_run
        if retention is not UNSET:
            field_dict["retention"] = retention

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.queue_settings import QueueSettings  # noqa: PLC0415
        from ..models.retention_preview import RetentionPreview  # noqa: PLC0415

        d = dict(src_dict)
        configured = d.pop("configured")

        namespace = d.pop("namespace")

        options = QueueSettings.from_dict(d.pop("options"))

        def _parse_partition_id(data: object) -> None | UUID:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                partition_id_type_0 = UUID(data)

                return partition_id_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UUID, data)

        partition_id = _parse_partition_id(d.pop("partitionId"))

        queue = d.pop("queue")

        queue_id = UUID(d.pop("queueId"))

        storage = ConfigureResponseStorage(d.pop("storage"))

        task = d.pop("task")

        dry_run = d.pop("dryRun", UNSET)

        _retention = d.pop("retention", UNSET)
        retention: RetentionPreview | Unset
        if isinstance(_retention, Unset):
            retention = UNSET
        else:
            retention = RetentionPreview.from_dict(_retention)

        configure_response = cls(
            configured=configured,
            namespace=namespace,
            options=options,
            partition_id=partition_id,
            queue=queue,
            queue_id=queue_id,
            storage=storage,
            task=task,
            dry_run=dry_run,
            retention=retention,
        )

        configure_response.additional_properties = d
        return configure_response

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
