/*
 * Purpose:     the one way to raise an error of ours; codes are those of the error table (QN400, QN404, QN409 ...).
 * Locks:       none.  Isolation: any.
 * Volatility:  VOLATILE, so that no caller folds it away.
 * Bounds:      none.  Idempotency: none.
 * Raises:      always, with SQLSTATE p_code; p_detail names the
 *              field of an argument error (sent as the error's column too).
 * Source:      house style B3.
 */
CREATE OR REPLACE FUNCTION queen._raise(
    p_code text,
    p_message text,
    p_detail text DEFAULT NULL,
    p_hint text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- An empty DETAIL or HINT is one for psql too, which prints it as an empty line.
    IF p_detail IS NULL AND p_hint IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = p_code, MESSAGE = p_message;
    ELSIF p_hint IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = p_code, MESSAGE = p_message, DETAIL = p_detail, COLUMN = p_detail;
    END IF;
    RAISE EXCEPTION USING
        ERRCODE = p_code,
        MESSAGE = p_message,
        DETAIL = coalesce(p_detail, ''),
        COLUMN = coalesce(p_detail, ''),
        HINT = p_hint;
END $$;
REVOKE ALL ON FUNCTION queen._raise(text, text, text, text) FROM PUBLIC;
