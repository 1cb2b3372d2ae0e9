package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"regent.local/regent/api"
	"regent.local/regent/db"
)

func newKeyCmd() *cobra.Command {
	return nounCmd("key", "Create, list and revoke the API keys that servers take",
		newKeyCreateCmd(), newKeyListCmd(), newKeyRevokeCmd())
}

var keyRoles = []string{"admin", "read-write", "read-only", "write-only"}

// keyFlags say which database, and whose keys.
type keyFlags struct {
	dsn, tenant string
	format      outputFormat
}

func (f *keyFlags) addFlags(cmd *cobra.Command) {
	dsnFlag(cmd, &f.dsn)
	cmd.Flags().StringVar(&f.tenant, "tenant", "", "id of the tenant whose key it is (default: that of the database role)")
	f.format.addFlag(cmd)
}

// with calls do with the database and the tenant.
func (f *keyFlags) with(cmd *cobra.Command, do func(ctx context.Context, q *db.Queries, tenant *uuid.UUID) error) error {
	var tenant *uuid.UUID
	if f.tenant != "" {
		id, err := uuid.Parse(f.tenant)
		if err != nil {
			return fmt.Errorf("--tenant %q is no UUID", f.tenant)
		}
		tenant = &id
	}
	dsn, err := databaseOf(cmd, f.dsn)
	if err != nil {
		return err
	}
	c, err := openSQL(cmd.Context(), dsn, newRetrier(0, cmd))
	if err != nil {
		return err
	}
	defer c.Close()
	err = do(cmd.Context(), c.queries, tenant)
	var own *codedError
	if err == nil || errors.As(err, &own) {
		return err
	}
	return &sqlError{err: err}
}

// apiKey is a key as commands show it.
type apiKey struct {
	Name     string     `json:"name"`
	ID       uuid.UUID  `json:"id"`
	Role     string     `json:"role"`
	Tenant   uuid.UUID  `json:"tenant"`
	Created  time.Time  `json:"createdAt"`
	LastUsed *time.Time `json:"lastUsedAt"`
	Revoked  *time.Time `json:"revokedAt"`
	Key      string     `json:"key,omitempty"` // once, when it is made
}

func keyOf(r db.APIKeyRow) apiKey {
	return apiKey{Name: r.Name, ID: r.ID, Role: r.Role, Tenant: r.TenantID, Created: r.CreatedAt.UTC(), LastUsed: inUTC(r.LastUsedAt), Revoked: inUTC(r.RevokedAt)}
}

func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}

func newKeyCreateCmd() *cobra.Command {
	var flags keyFlags
	var role string
	cmd := &cobra.Command{
		Use:   "create NAME --role ROLE",
		Short: "Create an API key and show it, once",
		Long: `Create makes an API key and prints it. It is shown this once: the database keeps
its SHA-256 only. Clients send it as "Authorization: Bearer KEY".

Roles: read-only looks, write-only pushes, read-write does both and consumes and
configures, admin also deletes and switches. A key works for one tenant.`,
		Example: `  regent key create shop --role write-only`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(keyRoles, role) {
				return fmt.Errorf("--role %q is none of %s", role, strings.Join(keyRoles, ", "))
			}
			key, hash, err := api.NewKey()
			if err != nil {
				return err
			}
			var made apiKey
			err = flags.with(cmd, func(ctx context.Context, q *db.Queries, tenant *uuid.UUID) error {
				row, err := q.CreateAPIKey(ctx, db.CreateAPIKeyParams{Name: args[0], Role: role, Sha256: hash, TenantID: tenant})
				made = keyOf(row)
				return err
			})
			if err != nil {
				return err
			}
			made.Key = key
			return flags.format.print(cmd, made, func() table {
				return table{rows: [][]string{{"key", key}, {"name", made.Name}, {"role", made.Role}, {"tenant", made.Tenant.String()}}}
			})
		},
	}
	flags.addFlags(cmd)
	cmd.Flags().StringVar(&role, "role", "", "admin, read-write, read-only or write-only")
	if err := cmd.MarkFlagRequired("role"); err != nil {
		panic(err)
	}
	return cmd
}

func newKeyListCmd() *cobra.Command {
	var flags keyFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List API keys, without their secrets",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys := []apiKey{}
			err := flags.with(cmd, func(ctx context.Context, q *db.Queries, tenant *uuid.UUID) error {
				rows, err := q.ListAPIKeys(ctx, tenant)
				for _, r := range rows {
					keys = append(keys, keyOf(r))
				}
				return err
			})
			if err != nil {
				return err
			}
			items := make([]any, len(keys))
			for i, k := range keys {
				items[i] = k
			}
			return flags.format.printList(cmd, keys, items, func() table { return keyTable(keys) })
		},
	}
	flags.addFlags(cmd)
	return cmd
}

func keyTable(keys []apiKey) table {
	t := table{header: []string{"NAME", "ROLE", "CREATED", "LAST USED", "REVOKED", "ID"}}
	for _, k := range keys {
		t.rows = append(t.rows, []string{k.Name, k.Role, stamp(&k.Created), stamp(k.LastUsed), stamp(k.Revoked), k.ID.String()})
	}
	return t
}

func stamp(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.Format(time.RFC3339)
}

func newKeyRevokeCmd() *cobra.Command {
	var flags keyFlags
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "revoke NAME|ID",
		Short: "Revoke an API key",
		Long: `Revoke ends an API key for good. Servers take it for up to ten more seconds.
--dry-run shows which key it would be; --yes is needed to do it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var gone apiKey
			err := flags.with(cmd, func(ctx context.Context, q *db.Queries, tenant *uuid.UUID) (err error) {
				if yes && !dryRun {
					row, err := q.RevokeAPIKey(ctx, args[0], tenant)
					gone = keyOf(row)
					return err
				}
				gone, err = liveKey(ctx, q, args[0], tenant)
				return err
			})
			switch {
			case err != nil:
				return err
			case !yes && !dryRun:
				return fmt.Errorf("this would revoke key %q; --yes does it", gone.Name)
			}
			return flags.format.print(cmd, gone, func() table { return keyTable([]apiKey{gone}) })
		},
	}
	flags.addFlags(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the key and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "really revoke")
	return cmd
}

// liveKey finds the key that revoke would revoke.
func liveKey(ctx context.Context, q *db.Queries, name string, tenant *uuid.UUID) (apiKey, error) {
	rows, err := q.ListAPIKeys(ctx, tenant)
	if err != nil {
		return apiKey{}, err
	}
	var byID *apiKey
	for _, r := range rows {
		k := keyOf(r)
		switch {
		case r.RevokedAt != nil:
		case r.Name == name:
			return k, nil
		case r.ID.String() == name:
			byID = &k
		}
	}
	if byID == nil {
		return apiKey{}, withCode(exitUser, fmt.Errorf("no key %q is in use", name))
	}
	return *byID, nil
}
