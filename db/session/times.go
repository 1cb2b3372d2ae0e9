package session

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Earliest and Latest are the times that stand for all before and after them,
// infinity among these: RFC 3339 knows years of four digits only. The functions
// show the same (queen._shown_time).
var (
	Earliest = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
	Latest   = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// HoldTimes makes a connection read every stored time as one between Earliest
// and Latest. Somebody may have written another into a row by hand; that must
// fail no call.
func HoldTimes(types *pgtype.Map) {
	held := &pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &heldTimes{}}
	types.RegisterType(held)
	types.RegisterType(&pgtype.Type{Name: "_timestamptz", OID: pgtype.TimestamptzArrayOID, Codec: &pgtype.ArrayCodec{ElementType: held}})
}

// heldTimes is the codec of timestamptz with times held.
type heldTimes struct{ pgtype.TimestamptzCodec }

func (c *heldTimes) PlanScan(types *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(pgtype.TimestamptzScanner); !ok {
		return nil // pgx comes again with one that wraps the target
	}
	return holdScan{c.TimestamptzCodec.PlanScan(types, oid, format, &pgtype.Timestamptz{})}
}

type holdScan struct{ pgtype.ScanPlan }

func (p holdScan) Scan(src []byte, target any) error {
	var read pgtype.Timestamptz
	if err := p.ScanPlan.Scan(src, &read); err != nil {
		return err
	}
	switch {
	case !read.Valid:
	case read.InfinityModifier == pgtype.Infinity, read.InfinityModifier == pgtype.Finite && read.Time.After(Latest):
		read = pgtype.Timestamptz{Time: Latest.Local(), Valid: true}
	case read.InfinityModifier == pgtype.NegativeInfinity, read.Time.Before(Earliest):
		read = pgtype.Timestamptz{Time: Earliest.Local(), Valid: true}
	}
	return target.(pgtype.TimestamptzScanner).ScanTimestamptz(read)
}
