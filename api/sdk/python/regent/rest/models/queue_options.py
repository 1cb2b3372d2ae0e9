from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="QueueOptions")


@_attrs_define
class QueueOptions:
    """
    Attributes:
        completed_retention_seconds (int): Age in seconds at which messages that every group has consumed are deleted.
            Needs retentionEnabled.
        dead_letter_queue (bool): Keep poison messages as dead letters. Off only when dlqAfterMaxRetries is off too.
        dedup_window_seconds (int): Seconds in which a repeated transactionId is a duplicate. 0: no check.
        delayed_processing (int): Seconds a message must age before it is delivered.
        dlq_after_max_retries (bool): As deadLetterQueue; either one switches dead letters on.
        encryption_enabled (bool): Payloads are stored encrypted from now on.
        lease_time (int): Seconds a consumer has for a batch before it is delivered again. 300 unless set; 60 when a
            push or pop made the queue.
        max_size (int): Stored and shown; nothing reads it.
        max_wait_time_seconds (int): Age in seconds at which messages are deleted whatever else is set. This loses data
            by design.
        min_pop_wait_time (int): Milliseconds a pop waits for a fuller batch; kept within 0 and 60000.
        namespace (str): Label to find queues by.
        priority (int): Stored and shown; nothing reads it.
        retention_enabled (bool): Switch of the two retention rules.
        retention_seconds (int): Age in seconds at which messages are deleted, consumed or not. Needs retentionEnabled.
        retention_sink_hold (str): Name of a sink that must have copied a message before retention deletes it: at most
            64 letters, digits, dots, underscores or hyphens.
        retention_sink_hold_max_seconds (int): Longest time the sink may hold retention up, 60 to 31536000 seconds.
        retry_delay (int): Milliseconds. Stored and shown; nothing reads it.
        retry_limit (int): Failed deliveries of a batch before its poison message is set aside.
        task (str): Second label to find queues by.
        ttl (int): Seconds. Stored and shown; nothing reads it.
        window_buffer (int): Seconds a partition must be quiet before it is delivered.
        cleanup_policy (str | Unset): compact: the newest message of each key is kept, and age and size delete nothing.
            compact,delete: both. Absent: delete.
        dead_letter_retention_seconds (int | Unset): Seconds after which a dead letter is deleted. Absent: never.
        delete_retention_seconds (int | Unset): Seconds for which compaction keeps the message that deletes a key.
            Absent: 86400.
        group_idle_seconds (int | Unset): Seconds without a pop, ack, lease extension or seek anywhere on the queue
            after which a group no longer holds back completedRetentionSeconds. Absent: never.
        min_compaction_lag_seconds (int | Unset): Age in seconds below which compaction leaves a message alone. Absent:
            0.
        retention_bytes (int | Unset): Bytes a partition may keep, as sent, before its oldest segments are deleted,
            consumed or not; the newest segment stays. Needs retentionEnabled. Absent: no limit.
        retention_messages (int | Unset): Messages a partition may keep before its oldest segments are deleted, consumed
            or not; the newest segment stays. Needs retentionEnabled. Absent: no limit.
    """

    completed_retention_seconds: int
    dead_letter_queue: bool
    dedup_window_seconds: int
    delayed_processing: int
    dlq_after_max_retries: bool
    encryption_enabled: bool
    lease_time: int
    max_size: int
    max_wait_time_seconds: int
    min_pop_wait_time: int
    namespace: str
    priority: int
    retention_enabled: bool
    retention_seconds: int
    retention_sink_hold: str
    retention_sink_hold_max_seconds: int
    retry_delay: int
    retry_limit: int
    task: str
    ttl: int
    window_buffer: int
    cleanup_policy: str | Unset = UNSET
    dead_letter_retention_seconds: int | Unset = UNSET
    delete_retention_seconds: int | Unset = UNSET
    group_idle_seconds: int | Unset = UNSET
    min_compaction_lag_seconds: int | Unset = UNSET
    retention_bytes: int | Unset = UNSET
    retention_messages: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        completed_retention_seconds = self.completed_retention_seconds

        dead_letter_queue = self.dead_letter_queue

        dedup_window_seconds = self.dedup_window_seconds

        delayed_processing = self.delayed_processing

        dlq_after_max_retries = self.dlq_after_max_retries

        encryption_enabled = self.encryption_enabled

        lease_time = self.lease_time

        max_size = self.max_size

        max_wait_time_seconds = self.max_wait_time_seconds

        min_pop_wait_time = self.min_pop_wait_time

        namespace = self.namespace

        priority = self.priority

        retention_enabled = self.retention_enabled

        retention_seconds = self.retention_seconds

        retention_sink_hold = self.retention_sink_hold

        retention_sink_hold_max_seconds = self.retention_sink_hold_max_seconds

        retry_delay = self.retry_delay

        retry_limit = self.retry_limit

        task = self.task

        ttl = self.ttl

        window_buffer = self.window_buffer

        cleanup_policy = self.cleanup_policy

        dead_letter_retention_seconds = self.dead_letter_retention_seconds

        delete_retention_seconds = self.delete_retention_seconds

        group_idle_seconds = self.group_idle_seconds

        min_compaction_lag_seconds = self.min_compaction_lag_seconds

        retention_bytes = self.retention_bytes

        retention_messages = self.retention_messages

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "completedRetentionSeconds": completed_retention_seconds,
                "deadLetterQueue": dead_letter_queue,
                "dedupWindowSeconds": dedup_window_seconds,
                "delayedProcessing": delayed_processing,
                "dlqAfterMaxRetries": dlq_after_max_retries,
                "encryptionEnabled": encryption_enabled,
                "leaseTime": lease_time,
                "maxSize": max_size,
                "maxWaitTimeSeconds": max_wait_time_seconds,
                "minPopWaitTime": min_pop_wait_time,
                "namespace": namespace,
                "priority": priority,
                "retentionEnabled": retention_enabled,
                "retentionSeconds": retention_seconds,
                "retentionSinkHold": retention_sink_hold,
                "retentionSinkHoldMaxSeconds": retention_sink_hold_max_seconds,
                "retryDelay": retry_delay,
                "retryLimit": retry_limit,
                "task": task,
                "ttl": ttl,
                "windowBuffer": window_buffer,
            }
        )
        if cleanup_policy is not UNSET:
            field_dict["cleanupPolicy"] = cleanup_policy
        if dead_letter_retention_seconds is not UNSET:
            field_dict["deadLetterRetentionSeconds"] = dead_letter_retention_seconds
        if delete_retention_seconds is not UNSET:
            field_dict["deleteRetentionSeconds"] = delete_retention_seconds
        if group_idle_seconds is not UNSET:
            field_dict["groupIdleSeconds"] = group_idle_seconds
        if min_compaction_lag_seconds is not UNSET:
            field_dict["minCompactionLagSeconds"] = min_compaction_lag_seconds
        if retention_bytes is not UNSET:
            field_dict["retentionBytes"] = retention_bytes
        if retention_messages is not UNSET:
            field_dict["retentionMessages"] = retention_messages

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        completed_retention_seconds = d.pop("completedRetentionSeconds")

        dead_letter_queue = d.pop("deadLetterQueue")

        dedup_window_seconds = d.pop("dedupWindowSeconds")

        delayed_processing = d.pop("delayedProcessing")

        dlq_after_max_retries = d.pop("dlqAfterMaxRetries")

        encryption_enabled = d.pop("encryptionEnabled")

        lease_time = d.pop("leaseTime")

        max_size = d.pop("maxSize")

        max_wait_time_seconds = d.pop("maxWaitTimeSeconds")

        min_pop_wait_time = d.pop("minPopWaitTime")

        namespace = d.pop("namespace")

        priority = d.pop("priority")

        retention_enabled = d.pop("retentionEnabled")

        retention_seconds = d.pop("retentionSeconds")

        retention_sink_hold = d.pop("retentionSinkHold")

        retention_sink_hold_max_seconds = d.pop("retentionSinkHoldMaxSeconds")

        retry_delay = d.pop("retryDelay")

        retry_limit = d.pop("retryLimit")

        task = d.pop("task")

        ttl = d.pop("ttl")

        window_buffer = d.pop("windowBuffer")

        cleanup_policy = d.pop("cleanupPolicy", UNSET)

        dead_letter_retention_seconds = d.pop("deadLetterRetentionSeconds", UNSET)

        delete_retention_seconds = d.pop("deleteRetentionSeconds", UNSET)

        group_idle_seconds = d.pop("groupIdleSeconds", UNSET)

        min_compaction_lag_seconds = d.pop("minCompactionLagSeconds", UNSET)

        retention_bytes = d.pop("retentionBytes", UNSET)

        retention_messages = d.pop("retentionMessages", UNSET)

        queue_options = cls(
            completed_retention_seconds=completed_retention_seconds,
            dead_letter_queue=dead_letter_queue,
            dedup_window_seconds=dedup_window_seconds,
            delayed_processing=delayed_processing,
            dlq_after_max_retries=dlq_after_max_retries,
            encryption_enabled=encryption_enabled,
            lease_time=lease_time,
            max_size=max_size,
            max_wait_time_seconds=max_wait_time_seconds,
            min_pop_wait_time=min_pop_wait_time,
            namespace=namespace,
            priority=priority,
            retention_enabled=retention_enabled,
            retention_seconds=retention_seconds,
            retention_sink_hold=retention_sink_hold,
            retention_sink_hold_max_seconds=retention_sink_hold_max_seconds,
            retry_delay=retry_delay,
            retry_limit=retry_limit,
            task=task,
            ttl=ttl,
            window_buffer=window_buffer,
            cleanup_policy=cleanup_policy,
            dead_letter_retention_seconds=dead_letter_retention_seconds,
            delete_retention_seconds=delete_retention_seconds,
            group_idle_seconds=group_idle_seconds,
            min_compaction_lag_seconds=min_compaction_lag_seconds,
            retention_bytes=retention_bytes,
            retention_messages=retention_messages,
        )

        queue_options.additional_properties = d
        return queue_options

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
