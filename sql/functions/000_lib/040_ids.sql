/*
 * Purpose:     message ids, hashes and lease ids. A segment keeps one id_base (UUIDv7: milliseconds, the microsecond
 *              fraction in rand_a, 42 random bits, 20 zero bits); frame k has the id id_base + k. A hash is seeded by
 *              the partition, so equal ids of two partitions differ. A lease id is a UUIDv7 whose last ten digits are
 *              the first ten of the (first) leased partition's id, so that extending a lease is a key lookup.
 * Locks:       none.  Isolation: any.
 * Volatility:  IMMUTABLE where pure, STABLE where the body is (else PostgreSQL would not inline it), VOLATILE where random.
 * Bounds:      k < 2^20.
 * Idempotency: yes, but for the random ones.
 * Raises:      nothing.
 * Source:      design 3.1, 3.4, I-31, E-6, F-9.
 */
CREATE OR REPLACE FUNCTION queen._frame_id(p_id_base uuid, p_k bigint) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (left(p_id_base::text, 31) || lpad(to_hex(p_k), 5, '0'))::uuid
$$;
REVOKE ALL ON FUNCTION queen._frame_id(uuid, bigint) FROM PUBLIC;

-- The first 64 bits of a UUIDv7 in hex digits: milliseconds, version, microseconds. A float holds whole microseconds
-- until the year 2255, and costs half of what numeric does.
CREATE OR REPLACE FUNCTION queen._uuid_head(p_stamp timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT lpad(to_hex(((date_part('epoch', p_stamp) * 1000000)::bigint / 1000 << 16) | 28672
        | (date_part('epoch', p_stamp) * 1000000)::bigint % 1000), 16, '0')
$$;
REVOKE ALL ON FUNCTION queen._uuid_head(timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._id_base(p_stamp timestamptz, p_nonce bigint) RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (queen._uuid_head(p_stamp)
        || to_hex(((1::bigint << 63) | ((p_nonce & 4398046511103) << 20))))::uuid
$$;
REVOKE ALL ON FUNCTION queen._id_base(timestamptz, bigint) FROM PUBLIC;

-- random() costs a tenth of what gen_random_uuid() does. It is seeded strongly in every session; should somebody set the seed, the
-- microsecond of the stamp still tells the ids of two pushes apart.
CREATE OR REPLACE FUNCTION queen._draw_nonce() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT (random() * 4398046511103)::bigint
$$;
REVOKE ALL ON FUNCTION queen._draw_nonce() FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._draw_id_base(p_stamp timestamptz) RETURNS uuid
LANGUAGE sql VOLATILE AS $$
    SELECT queen._id_base(p_stamp, queen._draw_nonce())
$$;
REVOKE ALL ON FUNCTION queen._draw_id_base(timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._id_seed(p_partition_id uuid) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ('x' || left(p_partition_id::text, 8) || right(p_partition_id::text, 8))::bit(64)::bigint
$$;
REVOKE ALL ON FUNCTION queen._id_seed(uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._draw_lease_id(p_partition_id uuid, p_now timestamptz) RETURNS text
LANGUAGE sql VOLATILE AS $$
    SELECT (queen._uuid_head(p_now)
        || to_hex((8388608 + random() * 1048575)::integer)
        || left(replace(p_partition_id::text, '-', ''), 10))::uuid::text
$$;
REVOKE ALL ON FUNCTION queen._draw_lease_id(uuid, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._utc(p_at timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;
REVOKE ALL ON FUNCTION queen._utc(timestamptz) FROM PUBLIC;
COMMENT ON FUNCTION queen._utc(timestamptz) IS 'A time as UTC text with microseconds and a literal Z.';
