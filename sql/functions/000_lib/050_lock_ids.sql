/*
 * Purpose:     every advisory lock id of ours, in one place. Transaction scope only, but for schema apply, which
 *              db/migrate takes as a session lock (778120010).
 * Locks:       none by itself.  Isolation: any.
 * Volatility:  IMMUTABLE.
 * Bounds:      none.  Idempotency: yes.
 * Raises:      nothing; an unknown name answers NULL.
 * Source:      spec 9.3, S-10.
 */
CREATE OR REPLACE FUNCTION queen._lock_id(p_name text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE p_name
        WHEN 'schema' THEN 778120010
        WHEN 'retention' THEN 737001
        WHEN 'stats' THEN 737002
        WHEN 'retained_bytes' THEN 737003
    END::bigint
$$;
REVOKE ALL ON FUNCTION queen._lock_id(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._first_contact_lock(p_partition_id uuid, p_group text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT hashtextextended(p_partition_id::text || ':' || p_group COLLATE "C", 42)
$$;
REVOKE ALL ON FUNCTION queen._first_contact_lock(uuid, text) FROM PUBLIC;

-- Held by whoever raises the floor of a search (tried), registers the group, or moves or deletes its cursors (waited for).
CREATE OR REPLACE FUNCTION queen._floor_lock(p_queue_id uuid, p_group text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT hashtextextended(p_queue_id::text || ':' || p_group COLLATE "C", 43)
$$;
REVOKE ALL ON FUNCTION queen._floor_lock(uuid, text) FROM PUBLIC;

-- Held by whoever moves or deletes the cursors of a group (waited for), and shared by first contacts (tried).
CREATE OR REPLACE FUNCTION queen._cursors_lock(p_queue_id uuid, p_group text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT hashtextextended(p_queue_id::text || ':' || p_group COLLATE "C", 44)
$$;
REVOKE ALL ON FUNCTION queen._cursors_lock(uuid, text) FROM PUBLIC;
