/*
 * Purpose:     push a piece of a server's spool file and note in the same transaction how far the file was replayed: a kill at
 *              any instant leaves both or neither. A file that stands elsewhere than p_from (an earlier, unanswered replay
 *              did happen) is left alone, and the answer says where it stands. Without groups the piece is only passed over.
 * Locks:       the file's row, then as log_push_v1. Only the file's own server comes here, so the order is safe.
 * Isolation:   READ COMMITTED only: the position must be read after the lock.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the call given; the server sends at most 4 MiB, or one record.
 * Idempotency: by (spool, file, position), whatever the dedup window.
 * Raises:      QN400 for a position or a file that cannot be; as log_push_v1, and what a group is refused with: then nothing of the piece is stored.
 * Source:      P-34, issue 3 item 7, design 3.1.
 */
CREATE OR REPLACE FUNCTION queen.log_replay_spool_v1(
    p_spool_id uuid,
    p_file bigint,
    p_from bigint,
    p_to bigint,
    p_queues text[],
    p_partitions text[],
    p_counts integer[],
    p_payloads text[],
    p_transaction_ids text[] DEFAULT NULL,
    p_keys text[] DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL,
    p_sealed boolean[] DEFAULT NULL,
    p_producer_subs text[] DEFAULT NULL
) RETURNS SETOF queen.spool_step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    r_out queen.spool_step_row;
    r_row queen.push_row;
    v_at integer;
BEGIN
    PERFORM queen._require_read_committed();
    IF p_spool_id IS NULL OR p_file IS NULL THEN
        PERFORM queen._raise('QN400', 'p_spool_id and p_file must not be null', 'p_file');
    ELSIF p_from IS NULL OR p_to IS NULL OR p_from < 0 OR p_to <= p_from THEN
        PERFORM queen._raise('QN400', 'p_to must be above p_from', 'p_to');
    END IF;
    INSERT INTO queen.spool_files (spool_id, file, position) VALUES (p_spool_id, p_file, 0) ON CONFLICT (spool_id, file) DO NOTHING;
    SELECT f.position INTO r_out.position FROM queen.spool_files f WHERE f.spool_id = p_spool_id AND f.file = p_file FOR UPDATE;
    r_out.replayed := r_out.position IS NOT DISTINCT FROM p_from;
    r_out.groups := '{}';
    r_out.frames := '{}';
    IF r_out.replayed THEN
        FOREACH r_row IN ARRAY coalesce(queen._push(p_queues, p_partitions, p_counts, p_payloads, p_transaction_ids, p_keys,
            NULL, false, queen._tenant(p_tenant_id), NULL, p_producer_subs, p_sealed), '{}')
        LOOP
            IF r_row.status = 'failed' THEN
                PERFORM queen._raise(r_row.code, r_row.error);
            ELSIF r_row.status = 'queued' AND NOT r_row.grp = ANY (r_out.groups) THEN
                r_out.groups := r_out.groups || r_row.grp;
                r_out.frames := r_out.frames || r_row.frames;
            ELSIF r_row.status = 'queued' THEN
                v_at := array_position(r_out.groups, r_row.grp);
                r_out.frames[v_at] := r_out.frames[v_at] + r_row.frames;
            END IF;
        END LOOP;
        UPDATE queen.spool_files SET position = p_to, updated_at = clock_timestamp() WHERE spool_id = p_spool_id AND file = p_file;
        r_out.position := p_to;
    END IF;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_replay_spool_v1(uuid, bigint, bigint, bigint, text[], text[], integer[], text[], text[], text[], uuid, boolean[], text[]) IS
'Store a piece of a server''s disk spool exactly once: the position in the file is written by the same transaction.';
REVOKE ALL ON FUNCTION queen.log_replay_spool_v1(uuid, bigint, bigint, bigint, text[], text[], integer[], text[], text[], text[], uuid, boolean[], text[]) FROM PUBLIC;
