package db

import (
	"testing"

	"regent.local/regent/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }
