/*
 * Purpose:     shape of the rows about API keys. A view that is never read.
 * Source:      house style B1.
 */
CREATE OR REPLACE VIEW queen.api_key_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS id,
    '00000000-0000-0000-0000-000000000000'::uuid AS tenant_id,
    ''::text AS name,
    ''::text AS role,
    'epoch'::timestamptz AS created_at,
    NULL::timestamptz AS last_used_at,
    NULL::timestamptz AS revoked_at
WHERE false;
COMMENT ON VIEW queen.api_key_row IS 'An API key without its secret; last_used_at is up to a minute behind.';
