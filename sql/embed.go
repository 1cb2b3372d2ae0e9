// Package sql holds Regent's SQL, embedded into the binary: goose migrations for
// tables, and the stored functions that are the source of truth. It holds files
// only and never runs anything; db/migrate applies them.
package sql

import "embed"

// Migrations holds the goose migration files under "migrations".
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Functions holds the function files under "functions", applied in path order.
//
//go:embed functions/*/*.sql
var Functions embed.FS
