-- log_push_v1 with many groups: each group ends as it would in a call of its own.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/push_wide.sql (on a migrated database).
BEGIN;
SELECT setseed(0.4711);
SELECT queen.configure_queue_v1(q, '{"dedupWindowSeconds": 3600}') FROM unnest(ARRAY['many', 'single']) q;

-- Whatever is stored of a queue, but for what the clock and the dice decide.
CREATE FUNCTION pg_temp.stored(p_queue text) RETURNS TABLE (partition text, base bigint, line text) LANGUAGE sql AS $$
    SELECT p.name, s.base_offset, to_jsonb(s) - '{partition_id, created_at, id_base}'::text[] || jsonb_build_object(
        'repeats', x.out_of_order, 'ends', x.end_offset, 'hashes', cardinality(x.hashes), 'stamps', x.created_at = s.created_at AND (s.created_at > lag(s.created_at) OVER w) IS NOT FALSE,
        'lo', (SELECT min(coalesce(left(t.id, 64), left(s.id_base::text, 31) || lpad(to_hex(t.k - 1), 5, '0')) COLLATE "C") = x.lo
               FROM unnest(coalesce(s.transaction_ids, array_fill(NULL::text, ARRAY[s.frames]))) WITH ORDINALITY t (id, k)),
        'hi', (SELECT max(coalesce(left(t.id, 64), left(s.id_base::text, 31) || lpad(to_hex(t.k - 1), 5, '0')) COLLATE "C") = x.hi
               FROM unnest(coalesce(s.transaction_ids, array_fill(NULL::text, ARRAY[s.frames]))) WITH ORDINALITY t (id, k)),
        'high', x.high = greatest(lag(x.high) OVER w, x.hi),
        'hash', x.hashes[s.frames] = hashtextextended(
            coalesce(s.transaction_ids[s.frames], left(s.id_base::text, 31) || lpad(to_hex(s.frames - 1), 5, '0')) COLLATE "C", queen._id_seed(p.id)),
        'head', NOT p.settled AND p.oldest_live_at IS NOT NULL AND p.oldest_txn_at IS NOT NULL AND p.oldest_live_at <= s.created_at)::text
    FROM queen.queues q
    JOIN queen.log_partitions p ON p.queue_id = q.id
    JOIN queen.log_segments s ON s.partition_id = p.id
    JOIN queen.log_txns x USING (partition_id, base_offset)
    WHERE q.name = p_queue
    WINDOW w AS (PARTITION BY p.id ORDER BY s.base_offset)
$$;

DO $$
DECLARE
    v_groups integer;
    v_lanes text[];
    v_counts integer[];
    v_payloads text[];
    v_ids text[];
    v_keys text[];
    v_subs text[];
    v_from integer;
    v_told text[];
    v_each text[];
    v_wide integer := 0;
    v_kind float;
BEGIN
    FOR v_round IN 1..60 LOOP
        v_groups := 1 + floor(random() * 9);
        v_lanes := ARRAY(SELECT 'p' || floor(random() * 8 + v_round / 20) FROM generate_series(1, v_groups));
        v_counts := ARRAY(SELECT floor(random() * 4) FROM generate_series(1, v_groups));
        v_payloads := '{}'; v_ids := '{}'; v_keys := '{}'; v_subs := '{}';
        FOR v_i IN 1..v_groups LOOP
            v_kind := random();
            FOR v_k IN 1..v_counts[v_i] LOOP
                v_payloads := v_payloads || to_json(repeat('x', CASE WHEN v_kind < 0.05 THEN 700000 ELSE (random() * 20)::integer END))::text;
                v_ids := v_ids || CASE WHEN v_kind < 0.4 THEN NULL WHEN v_kind < 0.7 THEN 'c' || 100000 + v_round * 100 + v_k
                    WHEN v_kind < 0.9 THEN 'c' || floor(random() * 30) WHEN random() < 0.5 THEN 'd' || floor(random() * 30) END;
                v_keys := v_keys || CASE WHEN random() < 0.3 THEN 'k' || v_k END;
                v_subs := v_subs || CASE WHEN v_kind > 0.8 THEN 'somebody' END;
            END LOOP;
        END LOOP;
        CONTINUE WHEN v_payloads = '{}';
        -- Some heads have slept, so that the push has to write them.
        UPDATE queen.log_partitions SET last_write_at = last_write_at - interval '1 hour' WHERE hashtext(name || v_round) % 3 = 0;
        UPDATE queen.log_partitions p SET settled = true, last_offset = h.end_offset, last_stamp = h.created_at, last_cum = h.cum_bytes
        FROM (SELECT DISTINCT ON (partition_id) * FROM queen.log_segments ORDER BY partition_id, base_offset DESC) h
        WHERE p.id = h.partition_id AND hashtext(p.name || v_round) % 4 = 0;

        SELECT array_agg(format('%s %s %s %s %s %s %s %s', r.grp, r.status, r.base_offset, r.frames, r.first_item, r.items, r.item_offsets, r.error)
            ORDER BY r.grp, r.first_item, r.status)
        INTO v_told
        FROM queen.log_push_v1(array_fill('many'::text, ARRAY[v_groups]), v_lanes, v_counts, v_payloads, v_ids, v_keys,
            NULL, v_round % 2 = 0, NULL, NULL, v_subs) r;
        v_each := '{}';
        v_from := 1;
        FOR v_i IN 1..v_groups LOOP
            IF v_counts[v_i] > 0 THEN
                v_each := v_each || (
                    SELECT array_agg(format('%s %s %s %s %s %s %s %s', v_i - 1, r.status, r.base_offset, r.frames, r.first_item, r.items, r.item_offsets, r.error)
                        ORDER BY r.first_item, r.status)
                    FROM queen.log_push_v1(ARRAY['single'], v_lanes[v_i : v_i], v_counts[v_i : v_i], v_payloads[v_from : v_from + v_counts[v_i] - 1],
                        v_ids[v_from : v_from + v_counts[v_i] - 1], v_keys[v_from : v_from + v_counts[v_i] - 1],
                        NULL, false, NULL, NULL, v_subs[v_from : v_from + v_counts[v_i] - 1]) r);
            END IF;
            v_from := v_from + v_counts[v_i];
        END LOOP;
        ASSERT v_told = v_each, format('design 3.2: round %s answers %s, and one by one %s', v_round, v_told, v_each);
        v_wide := v_wide + cardinality(v_told);
    END LOOP;
    ASSERT v_wide > 200, 'the rounds pushed something';
    ASSERT NOT EXISTS ((SELECT * FROM pg_temp.stored('many') EXCEPT SELECT * FROM pg_temp.stored('single'))
        UNION ALL (SELECT * FROM pg_temp.stored('single') EXCEPT SELECT * FROM pg_temp.stored('many'))),
        'design 3.1, 3.4: the same is stored, whatever was in the call besides';
END $$;
ROLLBACK;
