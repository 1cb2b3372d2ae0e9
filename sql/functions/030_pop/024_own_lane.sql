/*
 * Purpose:     the partition that this session took from last, when it is of this queue and owes the group something that
 *              is not under a lease and due by the gates of the queue. A hint: anybody may set or lose it. One with a plus was left to _pop_again, which did not want it.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: a fresh snapshot.  Bounds: four key probes, and as _is_due.  Idempotency: reads only.
 * Raises:      nothing.
 * Source:      O-6, O-20, O-23; perf 4 (take and ack).
 */
CREATE OR REPLACE FUNCTION queen._own_lane(
    p_queue_id uuid,
    p_group text
) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lane text := current_setting('queen.lane', true);
BEGIN
    IF v_lane ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
        RETURN ARRAY(
            SELECT h.id
            FROM queen.partition_head h
            JOIN queen.log_consumers c ON c.partition_id = h.id AND c.consumer_group = p_group
            JOIN queen.queues q ON q.id = h.queue_id
            WHERE h.id = v_lane::uuid AND h.queue_id = p_queue_id AND h.head_offset > c.committed
              AND (c.worker_id IS NULL OR coalesce(c.lease_expires_at <= clock_timestamp(), true))
              AND (q.window_buffer <= 0 AND q.delayed_processing <= 0
                   OR queen._is_due(q.window_buffer, q.delayed_processing, h.id, h.log_start, c.committed)));
    END IF;
    RETURN '{}';
END $$;
REVOKE ALL ON FUNCTION queen._own_lane(uuid, text) FROM PUBLIC;

-- Notes the partition that a session took from, for _own_lane; with a plus when one segment gave all, for _pop_again.
CREATE OR REPLACE FUNCTION queen._keep_lane(p_partition_id uuid, p_segments integer) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lane text := p_partition_id::text || CASE WHEN p_segments = 1 THEN '+' ELSE '' END;
BEGIN
    IF current_setting('queen.lane', true) IS DISTINCT FROM v_lane THEN
        PERFORM set_config('queen.lane', v_lane, false);
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._keep_lane(uuid, integer) FROM PUBLIC;
