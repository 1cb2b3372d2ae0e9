/*
 * Purpose:     every partition with its numbers as they are now, of all queues or of one.
 * Locks:       none.  Isolation: any; one statement, so every number is of one moment.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      as _partition_standing.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      S-11 to S-18.
 */
CREATE OR REPLACE FUNCTION queen.list_partition_status_v1(
    p_queue text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.partition_status_row
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
    SELECT p.* FROM queen._partition_standing(queen._tenant(p_tenant_id), p_queue) p ORDER BY p.queue, p.partition
$$;
COMMENT ON FUNCTION queen.list_partition_status_v1(text, uuid) IS
'Partitions with their numbers as they are now, of all queues or of the one that is named: the rows of the view queen.partition_status.';
REVOKE ALL ON FUNCTION queen.list_partition_status_v1(text, uuid) FROM PUBLIC;
