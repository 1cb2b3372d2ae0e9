/*
 * Purpose:     shapes of the rows about tasks that one instance runs for all. Views that are never read.
 * Source:      house style B1, S-2.
 */
CREATE OR REPLACE VIEW queen.task_claim_row AS
SELECT
    0::bigint AS fence,
    0::bigint AS lease_ms
WHERE false;
COMMENT ON VIEW queen.task_claim_row IS 'A won claim: the fence that renews and releases it, and for how many milliseconds it holds from now.';
