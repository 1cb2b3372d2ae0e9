package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
)

// KeyPrefix begins every API key, so that one is told from a web token, and
// found where it should not be.
const KeyPrefix = "rgk_"

// NewKey draws an API key, and the hash under which the database knows it.
func NewKey() (key string, hash []byte, err error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return "", nil, err
	}
	key = KeyPrefix + base64.RawURLEncoding.EncodeToString(secret)
	sum := sha256.Sum256([]byte(key))
	return key, sum[:], nil
}

const (
	// keyFresh is how long a key that was found is believed: a revoked one works
	// that much longer.
	keyFresh = 10 * time.Second
	// keyStale is how long it is believed while the database is away: pushes then
	// go to the spool.
	keyStale = 15 * time.Minute
	// maxKeys is how many keys are remembered.
	maxKeys = 10_000
)

// keyring remembers API keys by their hash, never the keys themselves. What was
// not found is not remembered. A secret has 256 random bits and is compared as
// its hash only, so that no time tells how much of a guess was right.
type keyring struct {
	lookup func(ctx context.Context, hash []byte) ([]db.APIKeyRow, error)

	mu    sync.Mutex
	known map[[sha256.Size]byte]knownKey
}

type knownKey struct {
	who  caller
	seen time.Time
}

func newKeyring(s *Server) *keyring {
	lookup := func(ctx context.Context, hash []byte) (rows []db.APIKeyRow, err error) {
		err = s.call(ctx, func(ctx context.Context, q querier) error {
			rows, err = q.UseAPIKey(ctx, hash)
			return err
		})
		return rows, err
	}
	return &keyring{lookup: lookup, known: map[[sha256.Size]byte]knownKey{}}
}

var errUnknownKey = unauthorized("Unknown API key")

// find tells who a key stands for.
func (k *keyring) find(ctx context.Context, key string) (*caller, error) {
	hash := sha256.Sum256([]byte(key))
	k.mu.Lock()
	old, known := k.known[hash]
	k.mu.Unlock()
	age := time.Since(old.seen)
	if known && age < keyFresh {
		return &old.who, nil
	}
	rows, err := k.lookup(ctx, hash[:])
	switch {
	case err != nil && known && age < keyStale && dberr.HTTPStatus(err) == http.StatusServiceUnavailable:
		return &old.who, nil
	case err != nil:
		return nil, err
	case len(rows) == 0:
		k.forget(hash)
		return nil, errUnknownKey
	}
	who := caller{subject: "key:" + rows[0].Name, roles: keyRoles[rows[0].Role], tenant: rows[0].TenantID, bound: true}
	k.remember(hash, who)
	return &who, nil
}

var keyRoles = map[string]roles{"admin": roleAdmin, "read-write": roleReadWrite, "read-only": roleReadOnly, "write-only": roleWriteOnly}

func (k *keyring) forget(hash [sha256.Size]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, hash)
}

func (k *keyring) remember(hash [sha256.Size]byte, who caller) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= maxKeys {
		clear(k.known)
	}
	k.known[hash] = knownKey{who, time.Now()}
}
