/*
 * Purpose:     extend every live lease under one lease id; never shortens, never revives an expired one.
 * Locks:       consumer rows in (partition, group) order, FOR UPDATE.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the partitions of the lease: one key range from the tail of the id, or the members of its row.
 * Idempotency: yes.
 * Raises:      nothing for an unknown, expired or foreign lease: renewed is 0.
 * Source:      A-28, A-29, I-31, W-18.
 */
CREATE OR REPLACE FUNCTION queen.log_extend_lease_v1(
    p_lease_id text,
    p_seconds integer DEFAULT 60,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.lease_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    r record;
    r_out queen.lease_row;
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_head text COLLATE "C" := substring(p_lease_id FROM '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{2}([0-9a-f]{10})$');
    v_lo uuid := (v_head || '0000000000000000000000')::uuid;
    v_hi uuid := (v_head || 'ffffffffffffffffffffff')::uuid;
    v_until timestamptz;
BEGIN
    PERFORM queen._require_read_committed();
    r_out.renewed := 0;
    FOR r IN
        SELECT c.partition_id, c.consumer_group FROM queen.log_consumers c
        WHERE c.partition_id BETWEEN v_lo AND v_hi AND c.worker_id = p_lease_id
        UNION
        SELECT c.partition_id, c.consumer_group
        FROM queen.log_lease_members m
        CROSS JOIN LATERAL unnest(m.partition_ids) i (id)
        JOIN queen.log_consumers c ON c.partition_id = i.id AND c.worker_id = p_lease_id
        WHERE m.lease_id = p_lease_id
        ORDER BY 1, 2
    LOOP
        CONTINUE WHEN queen._owns_partition(v_tenant, r.partition_id) IS NOT TRUE;
        PERFORM FROM queen.log_consumers c
        WHERE c.partition_id = r.partition_id AND c.consumer_group = r.consumer_group FOR UPDATE;
        UPDATE queen.log_consumers c
        SET lease_expires_at = greatest(c.lease_expires_at, clock_timestamp() + make_interval(secs => greatest(p_seconds, 1)))
        WHERE c.partition_id = r.partition_id AND c.consumer_group = r.consumer_group
          AND c.worker_id = p_lease_id AND c.lease_expires_at > clock_timestamp()
        RETURNING c.lease_expires_at INTO v_until;
        IF FOUND THEN
            PERFORM queen._touch_lanes(ARRAY[r.partition_id], ARRAY[r.consumer_group], p_seconds);
            r_out.renewed := r_out.renewed + 1;
            r_out.expires_at := least(r_out.expires_at, v_until);
        END IF;
    END LOOP;
    IF r_out.renewed > 0 THEN
        UPDATE queen.log_lease_members m SET expires_at = greatest(m.expires_at, r_out.expires_at) WHERE m.lease_id = p_lease_id;
    END IF;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_extend_lease_v1(text, integer, uuid) IS
'Extend every live lease held under a lease id to at least p_seconds from now; answers how many, and the earliest end.';
REVOKE ALL ON FUNCTION queen.log_extend_lease_v1(text, integer, uuid) FROM PUBLIC;
