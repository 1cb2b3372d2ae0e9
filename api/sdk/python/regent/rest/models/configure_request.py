from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.configure_request_mode import ConfigureRequestMode
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.configure_options import ConfigureOptions


T = TypeVar("T", bound="ConfigureRequest")


@_attrs_define
class ConfigureRequest:
    """
    Attributes:
        queue (str): Name of the queue. The empty name is legal.
        dry_run (bool | None | Unset): Change nothing: answer the configuration as it would stand, and in retention what
            the next sweep would then delete.
        mode (ConfigureRequestMode | Unset): merge (the default) keeps what is not mentioned, replace sets it back to
            its default.
        namespace (None | str | Unset): As options.namespace, which wins; empty or null is as absent beside an options
            object.
        options (ConfigureOptions | Unset):
        task (None | str | Unset): As options.task, which wins; empty or null is as absent beside an options object.
    """

    queue: str
    dry_run: bool | None | Unset = UNSET
    mode: ConfigureRequestMode | Unset = UNSET
    namespace: None | str | Unset = UNSET
    options: ConfigureOptions | Unset = UNSET
    task: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        queue = self.queue

        dry_run: bool | None | Unset
        if isinstance(self.dry_run, Unset):
            dry_run = UNSET
        else:
            dry_run = self.dry_run

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode.value

        namespace: None | str | Unset
        if isinstance(self.namespace, Unset):
            namespace = UNSET
        else:
            namespace = self.namespace

        options: dict[str, Any] | Unset = UNSET
        if not isinstance(self.options, Unset):
            options = self.options.to_dict()

        task: None | str | Unset
        if isinstance(self.task, Unset):
            task = UNSET
        else:
            task = self.task

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "queue": queue,
            }
        )
        if dry_run is not UNSET:
            field_dict["dryRun"] = dry_run
        if mode is not UNSET:
            field_dict["mode"] = mode
        if namespace is not UNSET:
            field_dict["namespace"] = namespace
        if options is not UNSET:
            field_dict["options"] = options
        if task is not UNSET:
            field_dict["task"] = task

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.configure_options import ConfigureOptions  # noqa: PLC0415

        d = dict(src_dict)
        queue = d.pop("queue")

        def _parse_dry_run(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        dry_run = _parse_dry_run(d.pop("dryRun", UNSET))

        _mode = d.pop("mode", UNSET)
        mode: ConfigureRequestMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = ConfigureRequestMode(_mode)

        def _parse_namespace(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        namespace = _parse_namespace(d.pop("namespace", UNSET))

        _options = d.pop("options", UNSET)
        options: ConfigureOptions | Unset
        if isinstance(_options, Unset):
            options = UNSET
        else:
            options = ConfigureOptions.from_dict(_options)

        def _parse_task(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        task = _parse_task(d.pop("task", UNSET))

        configure_request = cls(
            queue=queue,
            dry_run=dry_run,
            mode=mode,
            namespace=namespace,
            options=options,
            task=task,
        )

        configure_request.additional_properties = d
        return configure_request

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
