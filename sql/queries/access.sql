-- name: CreateAPIKey :one
-- Add an API key; SHA256 is the hash of the key as it is sent.
SELECT * FROM queen.create_api_key_v1(
    p_name => @name::text,
    p_role => @role::text,
    p_sha256 => @sha256::bytea,
    p_tenant_id => sqlc.narg('tenant_id')::uuid);

-- name: ListAPIKeys :many
-- The API keys of a tenant, without their secrets.
SELECT * FROM queen.list_api_keys_v1(p_tenant_id => sqlc.narg('tenant_id')::uuid);

-- name: RevokeAPIKey :one
-- Revoke an API key by its name or id.
SELECT * FROM queen.revoke_api_key_v1(
    p_name => @name::text,
    p_tenant_id => sqlc.narg('tenant_id')::uuid);

-- name: UseAPIKey :many
-- The live key with this hash, or nothing.
SELECT * FROM queen.log_use_api_key_v1(p_sha256 => @sha256::bytea);
