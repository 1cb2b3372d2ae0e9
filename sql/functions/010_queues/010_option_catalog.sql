/*
 * Purpose:     the options of a queue, one line each: everything that parses, defaults or shows an option reads this.
 *              A new option is a column, a line here and a name in _store_options.
 * Locks:       none.  Isolation: any.
 * Volatility:  IMMUTABLE: constants.
 * Bounds:      28 rows.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      spec 8.2, C-10, C-11, design 5 and 7.
 */
CREATE OR REPLACE FUNCTION queen._option_catalog() RETURNS SETOF queen.option_row
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH kind (name, json_type, low, high, pattern, demand) AS (
        VALUES
            ('int', 'number', -2147483648, 2147483647, NULL, 'a whole number of 32 bits'),
            ('age', 'number', 0, 2147483647, NULL, 'a whole number of seconds from 0 to 2147483647'),
            ('size', 'number', 0, 9223372036854775807, NULL, 'a whole number from 0 to 9223372036854775807'),
            -- A group that waits at a long poll says so well within five minutes, so that less cannot tell idle from waiting.
            ('idle', 'number', 0, 2147483647, '^(0|[3-9][0-9]{2}|[1-9][0-9]{3,})$', '0 or a whole number of seconds from 300 to 2147483647'),
            ('cap', 'number', 60, 31536000, NULL, 'a whole number from 60 to 31536000'),
            ('bool', 'boolean', NULL, NULL, NULL, 'true or false'),
            ('label', 'string', NULL, NULL, '^[^\x01-\x1f\x7f]{0,255}$', 'text of at most 255 characters, none of them a control character'),
            ('policy', 'string', NULL, NULL, '^(delete|compact|compact,delete)$', '"delete", "compact" or "compact,delete"'),
            ('sink', 'string', NULL, NULL, '^[A-Za-z0-9._-]{0,64}$', 'text of at most 64 letters, digits, dots, underscores or hyphens')
    )
    SELECT
        o.pos, o.key, o.column_name, k.json_type, o.default_value::jsonb,
        k.low::bigint, k.high::bigint, o.clamp_below::bigint, o.clamp_above::bigint, k.pattern, k.demand, o.pos > 21
    FROM (VALUES
        (1, 'namespace', 'namespace', 'label', '""', NULL, NULL),
        (2, 'task', 'task', 'label', '""', NULL, NULL),
        (3, 'priority', 'priority', 'int', '0', NULL, NULL),
        (4, 'leaseTime', 'lease_time', 'int', '300', NULL, NULL),
        (5, 'retryLimit', 'retry_limit', 'int', '3', NULL, NULL),
        (6, 'retryDelay', 'retry_delay', 'int', '1000', NULL, NULL),
        (7, 'maxSize', 'max_queue_size', 'int', '0', NULL, NULL),
        (8, 'ttl', 'ttl', 'int', '3600', NULL, NULL),
        (9, 'deadLetterQueue', 'dead_letter_queue', 'bool', 'true', NULL, NULL),
        (10, 'dlqAfterMaxRetries', 'dlq_after_max_retries', 'bool', 'true', NULL, NULL),
        (11, 'delayedProcessing', 'delayed_processing', 'int', '0', NULL, NULL),
        (12, 'windowBuffer', 'window_buffer', 'int', '0', NULL, NULL),
        (13, 'retentionSeconds', 'retention_seconds', 'int', '0', NULL, NULL),
        (14, 'completedRetentionSeconds', 'completed_retention_seconds', 'int', '0', NULL, NULL),
        (15, 'retentionEnabled', 'retention_enabled', 'bool', 'false', NULL, NULL),
        (16, 'encryptionEnabled', 'encryption_enabled', 'bool', 'false', NULL, NULL),
        (17, 'maxWaitTimeSeconds', 'max_wait_time_seconds', 'int', '0', NULL, NULL),
        (18, 'minPopWaitTime', 'min_pop_wait_time', 'int', '0', 0, 60000),
        (19, 'dedupWindowSeconds', 'dedup_window_seconds', 'int', '3600', 0, NULL),
        (20, 'retentionSinkHold', 'retention_sink_hold', 'sink', '""', NULL, NULL),
        (21, 'retentionSinkHoldMaxSeconds', 'retention_sink_hold_max_seconds', 'cap', '604800', NULL, NULL),
        -- Those beyond the 21 of the wire are shown only when they are not at their default (design 5).
        (22, 'deadLetterRetentionSeconds', 'dead_letter_retention_seconds', 'age', '0', NULL, NULL),
        (23, 'retentionBytes', 'retention_bytes', 'size', '0', NULL, NULL),
        (24, 'retentionMessages', 'retention_messages', 'size', '0', NULL, NULL),
        (25, 'cleanupPolicy', 'cleanup_policy', 'policy', '"delete"', NULL, NULL),
        (26, 'deleteRetentionSeconds', 'delete_retention_seconds', 'age', '86400', NULL, NULL),
        (27, 'minCompactionLagSeconds', 'min_compaction_lag_seconds', 'age', '0', NULL, NULL),
        (28, 'groupIdleSeconds', 'group_idle_seconds', 'idle', '0', NULL, NULL)
    ) AS o (pos, key, column_name, kind, default_value, clamp_below, clamp_above)
    JOIN kind k ON k.name = o.kind
$$;
REVOKE ALL ON FUNCTION queen._option_catalog() FROM PUBLIC;
