package api

import "github.com/jackc/pgx/v5/pgxpool"

// querier is every generated call of a stored function.
type querier interface{}

// newQuerier binds the generated calls to one connection.
func newQuerier(*pgxpool.Conn) querier { return nil }
