-- +goose Up

CREATE TABLE queen.api_keys (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid DEFAULT '00000000-0000-0000-0000-000000000001' NOT NULL,
    name text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    sha256 bytea NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    last_used_at timestamptz,
    revoked_at timestamptz,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_sha256_key UNIQUE (sha256),
    CONSTRAINT api_keys_role_check CHECK (role IN ('admin', 'read-write', 'read-only', 'write-only')),
    CONSTRAINT api_keys_sha256_check CHECK (octet_length(sha256) = 32)
);
-- A name is free again when its key was revoked.
CREATE UNIQUE INDEX api_keys_tenant_id_name_key ON queen.api_keys (tenant_id, name) WHERE revoked_at IS NULL;
COMMENT ON TABLE queen.api_keys IS 'Keys that the HTTP API accepts, as their SHA-256: the secret is shown once and stored nowhere.';

-- By oid, so that renaming a role moves nobody into another tenant.
CREATE TABLE queen.tenant_roles (
    role regrole NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT tenant_roles_pkey PRIMARY KEY (role)
);
COMMENT ON TABLE queen.tenant_roles IS 'Which tenant the SQL sessions of a login role work for; a role without a row works for the default tenant.';
