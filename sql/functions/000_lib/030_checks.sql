/*
 * Purpose:     argument checks shared by every public function: names, and the isolation level.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: reads a setting, never a table.
 * Bounds:      the text given.
 * Idempotency: yes.
 * Raises:      QN400; the detail names the field.
 * Source:      design 3.3 and 7, F004, F145.
 */
CREATE OR REPLACE FUNCTION queen._check_name(
    p_value text,
    p_field text
) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_value IS NULL THEN
        PERFORM queen._raise('QN400', format('%s must not be null', p_field), p_field);
    ELSIF char_length(p_value) > 255 THEN
        PERFORM queen._raise('QN400', format('%s is longer than 255 characters', p_field), p_field);
    ELSIF p_value COLLATE "C" ~ '[\x01-\x1f\x7f]' THEN
        PERFORM queen._raise('QN400', format('%s holds a control character', p_field), p_field);
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._check_name(text, text) FROM PUBLIC;

-- The same rule as a test that is inlined, for hot paths; _check_name then says what is wrong.
CREATE OR REPLACE FUNCTION queen._is_bad_name(p_value text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT p_value IS NULL OR char_length(p_value) > 255 OR p_value COLLATE "C" ~ '[\x01-\x1f\x7f]'
$$;
REVOKE ALL ON FUNCTION queen._is_bad_name(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._require_read_committed() RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM queen._raise(
            'QN400',
            format('this function needs READ COMMITTED, the transaction is %s', upper(current_setting('transaction_isolation'))),
            'transaction_isolation',
            'Call it outside of BEGIN ISOLATION LEVEL ..., or with default_transaction_isolation = ''read committed''.');
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._require_read_committed() FROM PUBLIC;
