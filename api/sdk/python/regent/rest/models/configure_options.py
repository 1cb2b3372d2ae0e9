from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ConfigureOptions")


@_attrs_define
class ConfigureOptions:
    """
    Attributes:
        cleanup_policy (None | str | Unset): delete (the default), compact, or compact,delete.
        completed_retention_seconds (int | None | Unset): Seconds; default 0.
        dead_letter_queue (bool | None | Unset): Default true.
        dead_letter_retention_seconds (int | None | Unset): Seconds; default 0: dead letters are kept.
        dedup_window_seconds (int | None | Unset): Seconds; default 3600; below 0 is 0.
        delayed_processing (int | None | Unset): Seconds; default 0.
        delete_retention_seconds (int | None | Unset): Seconds; default 86400; 0: no grace.
        dlq_after_max_retries (bool | None | Unset): Default true.
        encryption_enabled (bool | None | Unset): Default false.
        group_idle_seconds (int | None | Unset): Seconds; default 0: a group never counts as idle. 1 to 299 are refused.
        lease_time (int | None | Unset): Seconds; default 300.
        max_size (int | None | Unset):
        max_wait_time_seconds (int | None | Unset): Seconds; default 0.
        min_compaction_lag_seconds (int | None | Unset): Seconds; default 0.
        min_pop_wait_time (int | None | Unset): Milliseconds; default 0; brought within 0 and 60000.
        namespace (None | str | Unset): Label to find queues by.
        priority (int | None | Unset):
        retention_bytes (int | None | Unset): Bytes a partition may keep; default 0: no limit.
        retention_enabled (bool | None | Unset): Default false.
        retention_messages (int | None | Unset): Messages a partition may keep; default 0: no limit.
        retention_seconds (int | None | Unset): Seconds; default 0.
        retention_sink_hold (None | str | Unset): Default empty. Anything else than the pattern is refused.
        retention_sink_hold_max_seconds (int | None | Unset): Seconds; default 604800. Refused out of range.
        retry_delay (int | None | Unset): Milliseconds; default 1000.
        retry_limit (int | None | Unset): Default 3.
        task (None | str | Unset): Second label to find queues by.
        ttl (int | None | Unset): Seconds; default 3600.
        window_buffer (int | None | Unset): Seconds; default 0.
    """

    cleanup_policy: None | str | Unset = UNSET
    completed_retention_seconds: int | None | Unset = UNSET
    dead_letter_queue: bool | None | Unset = UNSET
    dead_letter_retention_seconds: int | None | Unset = UNSET
    dedup_window_seconds: int | None | Unset = UNSET
    delayed_processing: int | None | Unset = UNSET
    delete_retention_seconds: int | None | Unset = UNSET
    dlq_after_max_retries: bool | None | Unset = UNSET
    encryption_enabled: bool | None | Unset = UNSET
    group_idle_seconds: int | None | Unset = UNSET
    lease_time: int | None | Unset = UNSET
    max_size: int | None | Unset = UNSET
    max_wait_time_seconds: int | None | Unset = UNSET
    min_compaction_lag_seconds: int | None | Unset = UNSET
    min_pop_wait_time: int | None | Unset = UNSET
    namespace: None | str | Unset = UNSET
    priority: int | None | Unset = UNSET
    retention_bytes: int | None | Unset = UNSET
    retention_enabled: bool | None | Unset = UNSET
    retention_messages: int | None | Unset = UNSET
    retention_seconds: int | None | Unset = UNSET
    retention_sink_hold: None | str | Unset = UNSET
    retention_sink_hold_max_seconds: int | None | Unset = UNSET
    retry_delay: int | None | Unset = UNSET
    retry_limit: int | None | Unset = UNSET
    task: None | str | Unset = UNSET
    ttl: int | None | Unset = UNSET
    window_buffer: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cleanup_policy: None | str | Unset
        if isinstance(self.cleanup_policy, Unset):
            cleanup_policy = UNSET
        else:
            cleanup_policy = self.cleanup_policy

        completed_retention_seconds: int | None | Unset
        if isinstance(self.completed_retention_seconds, Unset):
            completed_retention_seconds = UNSET
        else:
            completed_retention_seconds = self.completed_retention_seconds

        dead_letter_queue: bool | None | Unset
        if isinstance(self.dead_letter_queue, Unset):
            dead_letter_queue = UNSET
        else:
            dead_letter_queue = self.dead_letter_queue

        dead_letter_retention_seconds: int | None | Unset
        if isinstance(self.dead_letter_retention_seconds, Unset):
            dead_letter_retention_seconds = UNSET
        else:
            dead_letter_retention_seconds = self.dead_letter_retention_seconds

        dedup_window_seconds: int | None | Unset
        if isinstance(self.dedup_window_seconds, Unset):
            dedup_window_seconds = UNSET
        else:
            dedup_window_seconds = self.dedup_window_seconds

        delayed_processing: int | None | Unset
        if isinstance(self.delayed_processing, Unset):
            delayed_processing = UNSET
        else:
            delayed_processing = self.delayed_processing

        delete_retention_seconds: int | None | Unset
        if isinstance(self.delete_retention_seconds, Unset):
            delete_retention_seconds = UNSET
        else:
            delete_retention_seconds = self.delete_retention_seconds

        dlq_after_max_retries: bool | None | Unset
        if isinstance(self.dlq_after_max_retries, Unset):
            dlq_after_max_retries = UNSET
        else:
            dlq_after_max_retries = self.dlq_after_max_retries

        encryption_enabled: bool | None | Unset
        if isinstance(self.encryption_enabled, Unset):
            encryption_enabled = UNSET
        else:
            encryption_enabled = self.encryption_enabled

        group_idle_seconds: int | None | Unset
        if isinstance(self.group_idle_seconds, Unset):
            group_idle_seconds = UNSET
        else:
            group_idle_seconds = self.group_idle_seconds

        lease_time: int | None | Unset
        if isinstance(self.lease_time, Unset):
            lease_time = UNSET
        else:
            lease_time = self.lease_time

        max_size: int | None | Unset
        if isinstance(self.max_size, Unset):
            max_size = UNSET
        else:
            max_size = self.max_size

        max_wait_time_seconds: int | None | Unset
        if isinstance(self.max_wait_time_seconds, Unset):
            max_wait_time_seconds = UNSET
        else:
            max_wait_time_seconds = self.max_wait_time_seconds

        min_compaction_lag_seconds: int | None | Unset
        if isinstance(self.min_compaction_lag_seconds, Unset):
            min_compaction_lag_seconds = UNSET
        else:
            min_compaction_lag_seconds = self.min_compaction_lag_seconds

        min_pop_wait_time: int | None | Unset
        if isinstance(self.min_pop_wait_time, Unset):
            min_pop_wait_time = UNSET
        else:
            min_pop_wait_time = self.min_pop_wait_time

        namespace: None | str | Unset
        if isinstance(self.namespace, Unset):
            namespace = UNSET
        else:
            namespace = self.namespace

        priority: int | None | Unset
        if isinstance(self.priority, Unset):
            priority = UNSET
        else:
            priority = self.priority

        retention_bytes: int | None | Unset
        if isinstance(self.retention_bytes, Unset):
            retention_bytes = UNSET
        else:
            retention_bytes = self.retention_bytes

        retention_enabled: bool | None | Unset
        if isinstance(self.retention_enabled, Unset):
            retention_enabled = UNSET
        else:
            retention_enabled = self.retention_enabled

        retention_messages: int | None | Unset
        if isinstance(self.retention_messages, Unset):
            retention_messages = UNSET
        else:
            retention_messages = self.retention_messages

        retention_seconds: int | None | Unset
        if isinstance(self.retention_seconds, Unset):
            retention_seconds = UNSET
        else:
            retention_seconds = self.retention_seconds

        retention_sink_hold: None | str | Unset
        if isinstance(self.retention_sink_hold, Unset):
            retention_sink_hold = UNSET
        else:
            retention_sink_hold = self.retention_sink_hold

        retention_sink_hold_max_seconds: int | None | Unset
        if isinstance(self.retention_sink_hold_max_seconds, Unset):
            retention_sink_hold_max_seconds = UNSET
        else:
            retention_sink_hold_max_seconds = self.retention_sink_hold_max_seconds

        retry_delay: int | None | Unset
        if isinstance(self.retry_delay, Unset):
            retry_delay = UNSET
        else:
            retry_delay = self.retry_delay

        retry_limit: int | None | Unset
        if isinstance(self.retry_limit, Unset):
            retry_limit = UNSET
        else:
            retry_limit = self.retry_limit

        task: None | str | Unset
        if isinstance(self.task, Unset):
            task = UNSET
        else:
            task = self.task

        ttl: int | None | Unset
        if isinstance(self.ttl, Unset):
            ttl = UNSET
        else:
            ttl = self.ttl

        window_buffer: int | None | Unset
        if isinstance(self.window_buffer, Unset):
            window_buffer = UNSET
        else:
            window_buffer = self.window_buffer

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if cleanup_policy is not UNSET:
            field_dict["cleanupPolicy"] = cleanup_policy
        if completed_retention_seconds is not UNSET:
            field_dict["completedRetentionSeconds"] = completed_retention_seconds
        if dead_letter_queue is not UNSET:
            field_dict["deadLetterQueue"] = dead_letter_queue
        if dead_letter_retention_seconds is not UNSET:
            field_dict["deadLetterRetentionSeconds"] = dead_letter_retention_seconds
        if dedup_window_seconds is not UNSET:
            field_dict["dedupWindowSeconds"] = dedup_window_seconds
        if delayed_processing is not UNSET:
            field_dict["delayedProcessing"] = delayed_processing
        if delete_retention_seconds is not UNSET:
            field_dict["deleteRetentionSeconds"] = delete_retention_seconds
        if dlq_after_max_retries is not UNSET:
            field_dict["dlqAfterMaxRetries"] = dlq_after_max_retries
        if encryption_enabled is not UNSET:
            field_dict["encryptionEnabled"] = encryption_enabled
        if group_idle_seconds is not UNSET:
            field_dict["groupIdleSeconds"] = group_idle_seconds
        if lease_time is not UNSET:
            field_dict["leaseTime"] = lease_time
        if max_size is not UNSET:
            field_dict["maxSize"] = max_size
        if max_wait_time_seconds is not UNSET:
            field_dict["maxWaitTimeSeconds"] = max_wait_time_seconds
        if min_compaction_lag_seconds is not UNSET:
            field_dict["minCompactionLagSeconds"] = min_compaction_lag_seconds
        if min_pop_wait_time is not UNSET:
            field_dict["minPopWaitTime"] = min_pop_wait_time
        if namespace is not UNSET:
            field_dict["namespace"] = namespace
        if priority is not UNSET:
            field_dict["priority"] = priority
        if retention_bytes is not UNSET:
            field_dict["retentionBytes"] = retention_bytes
        if retention_enabled is not UNSET:
            field_dict["retentionEnabled"] = retention_enabled
        if retention_messages is not UNSET:
            field_dict["retentionMessages"] = retention_messages
        if retention_seconds is not UNSET:
            field_dict["retentionSeconds"] = retention_seconds
        if retention_sink_hold is not UNSET:
            field_dict["retentionSinkHold"] = retention_sink_hold
        if retention_sink_hold_max_seconds is not UNSET:
            field_dict["retentionSinkHoldMaxSeconds"] = retention_sink_hold_max_seconds
        if retry_delay is not UNSET:
            field_dict["retryDelay"] = retry_delay
        if retry_limit is not UNSET:
            field_dict["retryLimit"] = retry_limit
        if task is not UNSET:
            field_dict["task"] = task
        if ttl is not UNSET:
            field_dict["ttl"] = ttl
        if window_buffer is not UNSET:
            field_dict["windowBuffer"] = window_buffer

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_cleanup_policy(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cleanup_policy = _parse_cleanup_policy(d.pop("cleanupPolicy", UNSET))

        def _parse_completed_retention_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        completed_retention_seconds = _parse_completed_retention_seconds(
            d.pop("completedRetentionSeconds", UNSET)
        )

        def _parse_dead_letter_queue(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        dead_letter_queue = _parse_dead_letter_queue(d.pop("deadLetterQueue", UNSET))

        def _parse_dead_letter_retention_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        dead_letter_retention_seconds = _parse_dead_letter_retention_seconds(
            d.pop("deadLetterRetentionSeconds", UNSET)
        )

        def _parse_dedup_window_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        dedup_window_seconds = _parse_dedup_window_seconds(
            d.pop("dedupWindowSeconds", UNSET)
        )

        def _parse_delayed_processing(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        delayed_processing = _parse_delayed_processing(
            d.pop("delayedProcessing", UNSET)
        )

        def _parse_delete_retention_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        delete_retention_seconds = _parse_delete_retention_seconds(
            d.pop("deleteRetentionSeconds", UNSET)
        )

        def _parse_dlq_after_max_retries(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        dlq_after_max_retries = _parse_dlq_after_max_retries(
            d.pop("dlqAfterMaxRetries", UNSET)
        )

        def _parse_encryption_enabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        encryption_enabled = _parse_encryption_enabled(
            d.pop("encryptionEnabled", UNSET)
        )

        def _parse_group_idle_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        group_idle_seconds = _parse_group_idle_seconds(d.pop("groupIdleSeconds", UNSET))

        def _parse_lease_time(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        lease_time = _parse_lease_time(d.pop("leaseTime", UNSET))

        def _parse_max_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_size = _parse_max_size(d.pop("maxSize", UNSET))

        def _parse_max_wait_time_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_wait_time_seconds = _parse_max_wait_time_seconds(
            d.pop("maxWaitTimeSeconds", UNSET)
        )

        def _parse_min_compaction_lag_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        min_compaction_lag_seconds = _parse_min_compaction_lag_seconds(
            d.pop("minCompactionLagSeconds", UNSET)
        )

        def _parse_min_pop_wait_time(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        min_pop_wait_time = _parse_min_pop_wait_time(d.pop("minPopWaitTime", UNSET))

        def _parse_namespace(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        namespace = _parse_namespace(d.pop("namespace", UNSET))

        def _parse_priority(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        priority = _parse_priority(d.pop("priority", UNSET))

        def _parse_retention_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        retention_bytes = _parse_retention_bytes(d.pop("retentionBytes", UNSET))

        def _parse_retention_enabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        retention_enabled = _parse_retention_enabled(d.pop("retentionEnabled", UNSET))

        def _parse_retention_messages(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        retention_messages = _parse_retention_messages(
            d.pop("retentionMessages", UNSET)
        )

        def _parse_retention_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        retention_seconds = _parse_retention_seconds(d.pop("retentionSeconds", UNSET))

        def _parse_retention_sink_hold(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        retention_sink_hold = _parse_retention_sink_hold(
            d.pop("retentionSinkHold", UNSET)
        )

        def _parse_retention_sink_hold_max_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        retention_sink_hold_max_seconds = _parse_retention_sink_hold_max_seconds(
            d.pop("retentionSinkHoldMaxSeconds", UNSET)
        )

        def _parse_retry_delay(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        retry_delay = _parse_retry_delay(d.pop("retryDelay", UNSET))

        def _parse_retry_limit(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        retry_limit = _parse_retry_limit(d.pop("retryLimit", UNSET))

        def _parse_task(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        task = _parse_task(d.pop("task", UNSET))

        def _parse_ttl(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        ttl = _parse_ttl(d.pop("ttl", UNSET))

        def _parse_window_buffer(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        window_buffer = _parse_window_buffer(d.pop("windowBuffer", UNSET))

        configure_options = cls(
            cleanup_policy=cleanup_policy,
            completed_retention_seconds=completed_retention_seconds,
            dead_letter_queue=dead_letter_queue,
            dead_letter_retention_seconds=dead_letter_retention_seconds,
            dedup_window_seconds=dedup_window_seconds,
            delayed_processing=delayed_processing,
            delete_retention_seconds=delete_retention_seconds,
            dlq_after_max_retries=dlq_after_max_retries,
            encryption_enabled=encryption_enabled,
            group_idle_seconds=group_idle_seconds,
            lease_time=lease_time,
            max_size=max_size,
            max_wait_time_seconds=max_wait_time_seconds,
            min_compaction_lag_seconds=min_compaction_lag_seconds,
            min_pop_wait_time=min_pop_wait_time,
            namespace=namespace,
            priority=priority,
            retention_bytes=retention_bytes,
            retention_enabled=retention_enabled,
            retention_messages=retention_messages,
            retention_seconds=retention_seconds,
            retention_sink_hold=retention_sink_hold,
            retention_sink_hold_max_seconds=retention_sink_hold_max_seconds,
            retry_delay=retry_delay,
            retry_limit=retry_limit,
            task=task,
            ttl=ttl,
            window_buffer=window_buffer,
        )

        configure_options.additional_properties = d
        return configure_options

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
