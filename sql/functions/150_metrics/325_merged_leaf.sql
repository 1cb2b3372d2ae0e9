/*
 * Purpose:     one value of several samples, each told as avg, min, max and last of so many looks, told the same way.
 * Locks:       none.  Isolation: any.
 * Volatility:  IMMUTABLE.
 * Bounds:      the samples given, oldest first.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      spec 5.5 of the HTTP API (system-metrics).
 */
CREATE OR REPLACE FUNCTION queen._merged_leaf(
    p_leaves jsonb[],
    p_counts bigint[]
) RETURNS json
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT json_build_object(
        'avg', sum((l.leaf ->> 'avg')::float8 * l.looks) / nullif(sum(l.looks) FILTER (WHERE l.leaf ? 'avg'), 0),
        'min', min((l.leaf ->> 'min')::float8),
        'max', max((l.leaf ->> 'max')::float8),
        'last', (array_agg((l.leaf ->> 'last')::float8 ORDER BY l.ord DESC) FILTER (WHERE l.leaf ? 'last'))[1])
    FROM unnest(p_leaves, p_counts) WITH ORDINALITY l (leaf, looks, ord)
$$;
REVOKE ALL ON FUNCTION queen._merged_leaf(jsonb[], bigint[]) FROM PUBLIC;
COMMENT ON FUNCTION queen._merged_leaf(jsonb[], bigint[]) IS 'The avg, min, max and last of samples that are told so.';
