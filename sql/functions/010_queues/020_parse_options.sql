/*
 * Purpose:     a bag of options as sent, turned into column values; keys that are absent stay absent, null becomes the
 *              default. With p_fill, absent keys become defaults too (create, replace).
 * Locks:       none.  Isolation: any.
 * Volatility:  IMMUTABLE parts; _parse_options is VOLATILE because it tells the session about keys it does not know.
 * Bounds:      the options, whatever the size of the bag.
 * Idempotency: yes.
 * Raises:      QN400; the detail is the option, or options when the bag is no object.
 * Source:      spec 8.1 and 8.2, C-5, C-9, C-11, F134, F135, F137.
 */
CREATE OR REPLACE FUNCTION queen._parse_option(
    p_option queen.option_row,
    p_value jsonb
) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_text text := p_value #>> '{}';
    v_ok boolean := jsonb_typeof(p_value) = p_option.json_type;
BEGIN
    IF p_value = 'null' THEN
        RETURN p_option.default_value;
    END IF;
    IF v_ok AND p_option.json_type = 'number' THEN
        v_ok := v_text::numeric = trunc(v_text::numeric)
            AND v_text::numeric BETWEEN p_option.refuse_below AND p_option.refuse_above;
        IF v_ok AND p_option.pattern IS NOT NULL THEN
            v_ok := v_text::numeric::bigint::text ~ p_option.pattern;
        END IF;
    ELSIF v_ok AND p_option.json_type = 'string' THEN
        v_ok := v_text COLLATE "C" ~ p_option.pattern;
    END IF;
    IF NOT v_ok THEN
        PERFORM queen._raise('QN400', format('%s must be %s', p_option.key, p_option.demand), p_option.key);
    END IF;
    IF p_option.json_type = 'number' THEN
        -- greatest and least pass over a bound that is NULL.
        RETURN to_jsonb(least(greatest(v_text::numeric::bigint, p_option.clamp_below), p_option.clamp_above));
    END IF;
    RETURN p_value;
END $$;
REVOKE ALL ON FUNCTION queen._parse_option(queen.option_row, jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._parse_options(
    p_options jsonb,
    p_fill boolean
) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_bag jsonb := coalesce(nullif(p_options, 'null'), '{}');
    v_unknown text;
    v_columns jsonb;
BEGIN
    IF jsonb_typeof(v_bag) <> 'object' THEN
        PERFORM queen._raise('QN400', 'options must be a JSON object', 'options');
    END IF;
    SELECT jsonb_object_agg(
        o.column_name,
        CASE WHEN v_bag ? o.key THEN queen._parse_option(o, v_bag -> o.key) ELSE o.default_value END)
    INTO v_columns
    FROM queen._option_catalog() o
    WHERE p_fill OR v_bag ? o.key;

    SELECT string_agg(k.key, ', ') INTO v_unknown
    FROM jsonb_object_keys(v_bag) AS k (key)
    WHERE k.key <> 'replace'
      AND k.key NOT IN (SELECT o.key FROM queen._option_catalog() o);
    IF v_unknown IS NOT NULL THEN
        RAISE NOTICE 'unknown options are ignored: %', left(v_unknown, 500);
    END IF;
    RETURN coalesce(v_columns, '{}');
END $$;
REVOKE ALL ON FUNCTION queen._parse_options(jsonb, boolean) FROM PUBLIC;
