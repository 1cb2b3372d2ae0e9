package session

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
)

// TestPlainIDs compares with what pgx does by itself, byte for byte, in both
// formats: lists, missing ones, missing elements, and ids that are null.
func TestPlainIDs(t *testing.T) {
	t.Parallel()
	own, ours := pgtype.NewMap(), pgtype.NewMap()
	PlainIDs(ours)
	id, text := uuid.MustParse("01890a5d-ac96-7000-8000-7d9f3b1e4a52"), "naïve"
	var noID *uuid.UUID
	for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
		for _, c := range []struct {
			oid   uint32
			value any
		}{
			{pgtype.UUIDOID, id}, {pgtype.UUIDOID, &id}, {pgtype.UUIDOID, noID}, {pgtype.UUIDArrayOID, []uuid.UUID(nil)},
			{pgtype.UUIDArrayOID, []uuid.UUID{}}, {pgtype.UUIDArrayOID, []uuid.UUID{id, uuid.Nil}}, {pgtype.UUIDArrayOID, []*uuid.UUID{&id, nil}},
			{pgtype.TextArrayOID, []*string(nil)}, {pgtype.TextArrayOID, []*string{}}, {pgtype.TextArrayOID, []*string{&text, nil, new(string)}},
			{pgtype.TextOID, &text}, {pgtype.TextOID, id}, {pgtype.TextArrayOID, []string{text}},
		} {
			want, err := own.Encode(c.oid, format, c.value, nil)
			require.NoError(t, err)
			got, err := ours.Encode(c.oid, format, c.value, nil)
			require.NoError(t, err)
			require.Equal(t, want, got, "%T %v", c.value, c.value)
		}
		sent, err := own.Encode(pgtype.UUIDOID, format, id, nil)
		require.NoError(t, err)
		for _, src := range [][]byte{sent, nil} {
			for _, types := range []*pgtype.Map{own, ours} {
				var read uuid.UUID
				optional := new(uuid.UUID)
				require.NoError(t, types.Scan(pgtype.UUIDOID, format, src, &read))
				require.NoError(t, types.Scan(pgtype.UUIDOID, format, src, &optional))
				if src == nil {
					require.Zero(t, read)
					require.Nil(t, optional)
					continue
				}
				require.Equal(t, id, read)
				require.Equal(t, id, *optional)
			}
		}
		require.Error(t, ours.Scan(pgtype.UUIDOID, format, sent[:15], new(uuid.UUID)))
		list, err := own.Encode(pgtype.UUIDArrayOID, format, []uuid.UUID{id, uuid.Nil}, nil)
		require.NoError(t, err)
		var ids []uuid.UUID
		require.NoError(t, ours.Scan(pgtype.UUIDArrayOID, format, list, &ids))
		require.Equal(t, []uuid.UUID{id, uuid.Nil}, ids)
	}
}
