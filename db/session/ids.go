package session

import (
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// PlainIDs makes a connection write and read ids as the 16 bytes that they are, and
// write lists of ids and of optional texts without reflection. Left alone pgx goes
// through the text of each id, which costs more than the rest of a call of many small
// messages.
func PlainIDs(types *pgtype.Map) {
	plain := &pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: plainIDs{}}
	types.RegisterType(plain)
	types.RegisterType(&pgtype.Type{Name: "_uuid", OID: pgtype.UUIDArrayOID, Codec: &pgtype.ArrayCodec{ElementType: plain}})
	types.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapList}, types.TryWrapEncodePlanFuncs...)
}

// plainIDs is the codec of uuid.
type plainIDs struct{ pgtype.UUIDCodec }

func (c plainIDs) PlanEncode(types *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(uuid.UUID); ok && format == pgtype.BinaryFormatCode {
		return encodeID{}
	}
	return c.UUIDCodec.PlanEncode(types, oid, format, value)
}

func (c plainIDs) PlanScan(types *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*uuid.UUID); ok && format == pgtype.BinaryFormatCode {
		return scanID{}
	}
	return c.UUIDCodec.PlanScan(types, oid, format, target)
}

type encodeID struct{}

func (encodeID) Encode(value any, buf []byte) ([]byte, error) {
	id := value.(uuid.UUID)
	return append(buf, id[:]...), nil
}

type scanID struct{}

// Scan leaves the target as it is for NULL, as an id itself does.
func (scanID) Scan(src []byte, target any) error {
	if src == nil {
		return nil
	}
	id := target.(*uuid.UUID)
	if len(src) != len(id) {
		return fmt.Errorf("an id has %d bytes", len(src))
	}
	copy(id[:], src)
	return nil
}

func wrapList(value any) (plan pgtype.WrappedEncodePlanNextSetter, next any, ok bool) {
	switch value := value.(type) {
	case []uuid.UUID:
		return &encodeList[uuid.UUID]{}, pgtype.FlatArray[uuid.UUID](value), true
	case []*string:
		return &encodeList[*string]{}, pgtype.FlatArray[*string](value), true
	}
	return nil, nil, false
}

type encodeList[T any] struct{ pgtype.EncodePlan }

func (p *encodeList[T]) SetNext(next pgtype.EncodePlan) { p.EncodePlan = next }

func (p *encodeList[T]) Encode(value any, buf []byte) ([]byte, error) {
	return p.EncodePlan.Encode(pgtype.FlatArray[T](value.([]T)), buf)
}
