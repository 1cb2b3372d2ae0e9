-- Helpers of the compaction_*.sql tests, which include this file inside their transaction.
-- A queue that compacts, its partition p.
CREATE FUNCTION pg_temp.queue(p_queue text, p_grace integer DEFAULT 1000, p_lag integer DEFAULT 0, p_policy text DEFAULT 'compact') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM queen.configure_queue_v1(p_queue, '{}');
    UPDATE queen.queues q SET cleanup_policy = p_policy, delete_retention_seconds = p_grace, min_compaction_lag_seconds = p_lag WHERE q.name = p_queue;
END $$;
CREATE FUNCTION pg_temp.lane(p_queue text) RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = 'p'
$$;
-- One segment: 'a=1 b=null =event' are the keys and payloads; p_age seconds old.
CREATE FUNCTION pg_temp.segment(p_queue text, p_frames text, p_age numeric DEFAULT 0) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_frames text[] := string_to_array(p_frames, ' ');
BEGIN
    PERFORM queen.push_many_v1(p_queue,
        ARRAY(SELECT CASE WHEN split_part(f, '=', 2) ~ '^(null|[0-9]+)$' THEN split_part(f, '=', 2) ELSE to_json(split_part(f, '=', 2))::text END::json FROM unnest(v_frames) f),
        ARRAY['p'], NULL, ARRAY(SELECT nullif(split_part(f, '=', 1), '') FROM unnest(v_frames) f));
    UPDATE queen.log_segments s SET created_at = s.created_at - make_interval(secs => p_age)
    WHERE s.partition_id = pg_temp.lane(p_queue) AND s.base_offset = (SELECT max(x.base_offset) FROM queen.log_segments x WHERE x.partition_id = s.partition_id);
END $$;
-- What a reader finds from an offset on: 'offset:key=payload' of each frame.
CREATE FUNCTION pg_temp.log(p_queue text, p_from bigint DEFAULT 0) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(m."offset" || ':' || coalesce(m.key, '') || '=' || m.payload::text, ' ' ORDER BY m."offset"), '')
    FROM queen.read_v1(p_queue, 'p', p_from, 10000) m
$$;
-- Steps until nothing is left: 'read kept' of the judged segments, together.
CREATE FUNCTION pg_temp.compact(p_queue text, p_later numeric DEFAULT 0, p_max integer DEFAULT 20000) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    r queen.compact_row;
    v_read bigint := 0;
    v_kept bigint := 0;
BEGIN
    FOR i IN 1 .. 1000 LOOP
        SELECT * INTO r FROM queen.log_compact_step_v1(pg_temp.lane(p_queue), p_max, clock_timestamp() + make_interval(secs => p_later));
        v_read := v_read + r.frames_read;
        v_kept := v_kept + r.frames_kept;
        PERFORM pg_temp.sound(p_queue);
        IF r.done THEN
            RETURN v_read || ' ' || v_kept;
        END IF;
    END LOOP;
    RAISE 'it never ends';
END $$;
-- What must hold after every step: counts, sizes, offsets, the map.
CREATE FUNCTION pg_temp.sound(p_queue text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_id uuid := pg_temp.lane(p_queue);
    v_bad text;
BEGIN
    SELECT string_agg(s.base_offset::text, ' ') INTO v_bad FROM queen.log_segments s
    WHERE s.partition_id = v_id AND (cardinality(s.payloads) <> s.frames OR cardinality(s.offsets) <> s.frames
        OR cardinality(s.keys) <> s.frames OR cardinality(s.transaction_ids) <> s.frames
        OR s.offsets <> ARRAY(SELECT DISTINCT o FROM unnest(s.offsets) o WHERE o BETWEEN s.base_offset AND s.end_offset ORDER BY o)
        OR s.bytes <> queen._frame_bytes(s.payloads, s.transaction_ids, s.keys));
    ASSERT v_bad IS NULL, 'damaged segments ' || v_bad;
    SELECT concat_ws(' ', h.head_offset, h.log_start, h.removed_frames, h.removed_bytes, x.frames, x.bytes) INTO v_bad
    FROM queen.partition_head h
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(s.frames), 0) AS frames, coalesce(sum(s.bytes), 0) AS bytes,
               coalesce(max(s.cum_bytes) - min(s.cum_bytes - s.orig_bytes), 0) AS pushed
        FROM queen.log_segments s WHERE s.partition_id = h.id AND s.base_offset >= h.log_start
    ) x
    WHERE h.id = v_id AND (h.head_offset - h.log_start + 1 - h.removed_frames <> x.frames OR x.pushed - h.removed_bytes <> x.bytes);
    ASSERT v_bad IS NULL, 'head, start, removed frames and bytes, frames and bytes there: ' || v_bad;
    SELECT string_agg(t.base_offset::text, ' ') INTO v_bad FROM queen.log_txns t JOIN queen.log_segments s USING (partition_id, base_offset)
    WHERE t.partition_id = v_id AND (t.end_offset <> s.end_offset OR cardinality(t.hashes) <> t.end_offset - t.base_offset + 1);
    ASSERT v_bad IS NULL, 'T-3 of ' || v_bad;
    SELECT string_agg(k.key, ' ') INTO v_bad
    FROM queen.log_keys k JOIN queen.log_compaction c USING (partition_id) JOIN queen.log_partitions p ON p.id = k.partition_id
    WHERE k.partition_id = v_id AND k."offset" >= p.log_start AND k."offset" IS DISTINCT FROM (
        SELECT max(coalesce(u.off, s.base_offset + u.ord - 1)) FROM queen.log_segments s
        CROSS JOIN LATERAL unnest(s.keys, s.offsets) WITH ORDINALITY u (key, off, ord)
        WHERE s.partition_id = v_id AND s.base_offset < c.keyed_to AND u.key = k.key);
    ASSERT v_bad IS NULL, 'the map is wrong for ' || v_bad;
END $$;
