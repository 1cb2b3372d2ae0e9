-- +goose Up

CREATE TABLE queen.api_keys (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid DEFAULT '00000000-0000-0000-0000-000000000001' NOT NULL,
    name text NOT NULL,
    role text COLLATE "C" NOT NULL,
    sha256 bytea NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    last_used_at timestamptz,
    revoked_at timestamptz,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_sha256_key UNIQUE (sha256)
);
COMMENT ON TABLE queen.api_keys IS 'Keys that the HTTP API accepts, as their SHA-256: the secret is shown once and stored nowhere.';
