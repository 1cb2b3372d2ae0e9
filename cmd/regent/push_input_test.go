package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func readLines(t *testing.T, text string) (lines []line, bad []error) {
	t.Helper()
	r := newLineReader(strings.NewReader(text), line{})
	for {
		l, err := r.next()
		if errors.Is(err, io.EOF) {
			return lines, bad
		}
		if err != nil {
			bad = append(bad, err)
		}
		lines = append(lines, l)
	}
}

func TestLinesKeepNumbersAndOffsets(t *testing.T) {
	t.Parallel()
	text := "\xef\xbb\xbf1\r\n\n  2 \n3"
	lines, bad := readLines(t, text)
	require.Empty(t, bad)
	var data []string
	for i, l := range lines {
		require.EqualValues(t, i+1, l.no)
		data = append(data, string(l.data))
	}
	require.Equal(t, []string{"1", "", "2", "3"}, data)
	require.EqualValues(t, len(text), lines[3].end)

	rest := newLineReader(strings.NewReader(text[lines[1].end:]), lines[1])
	next, err := rest.next()
	require.NoError(t, err)
	require.Equal(t, lines[2], next, "reading may begin behind any line")
}

func TestLineLimit(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("1", maxLine)
	lines, bad := readLines(t, longest+"\n"+longest+"1\n2\n")
	require.Len(t, lines, 3)
	require.Len(t, lines[0].data, maxLine)
	require.Len(t, bad, 1)
	require.EqualError(t, bad[0], "line 2: longer than 16MiB")
	require.Equal(t, "2", string(lines[2].data))
}

func maker(t *testing.T, partitionKey, idKey string) itemMaker {
	t.Helper()
	m := itemMaker{queue: "q", partition: "Default", idPrefix: "f"}
	var err error
	m.partitionKey, err = parsePath("partition-key", partitionKey)
	require.NoError(t, err)
	m.idKey, err = parsePath("id-key", idKey)
	require.NoError(t, err)
	return m
}

func TestItemsFromLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ partitionKey, idKey, data, partition, id string }{
		{"", "", `[1.0, "\u0000"]`, "Default", "f:000000000007"},
		{"a.b", "", `{"a":{"b":"x"}}`, "x", "f:000000000007"},
		{"$.a[0]", "$['i d']", `{"a":[12345678901234567890],"i d":"k"}`, "12345678901234567890", "k"},
		{"['p']", "id", `{"p":true,"id":1.50}`, "true", "1.50"},
		{"p", "", `{"p":""}`, "", "f:000000000007"},
		{"p", "", `{"p":"\ud83d\ude00","p":"\u0041"}`, "A", "f:000000000007"},
		{"", "", strings.Repeat("[", 9900) + strings.Repeat("]", 9900), "Default", "f:000000000007"},
	} {
		it, err := maker(t, c.partitionKey, c.idKey).item(line{no: 7, data: []byte(c.data)})
		require.NoError(t, err, c.data)
		require.Equal(t, pushItem{Queue: "q", Partition: c.partition, TransactionID: c.id, Payload: []byte(c.data)}, it)
	}
}

func TestBadLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ partitionKey, idKey, data, reason string }{
		{"", "", `{"a":`, "not JSON"},
		{"", "", `{} {}`, "not JSON"},
		{"a", "", `{} {}`, "not JSON"},
		{"a", "", `{"a":1,}`, "not JSON"},
		{"", "", "\"\xff\"", "not UTF-8"},
		{"a", "", `{"b":1}`, "nothing at"},
		{"a", "", `[1]`, "nothing at"},
		{"a.*", "", `{"a":[1,2]}`, "2 values at"},
		{"a", "", `{"a":null}`, "not a string"},
		{"a", "", `{"a":{}}`, "not a string"},
		{"a", "", `{"a":"x\ny"}`, "control character"},
		{"a", "", `{"a":"` + strings.Repeat("é", 256) + `"}`, "longer than 255"},
		{"", "a", `{"a":""}`, "empty or longer"},
		{"", "a", `{"a":"` + strings.Repeat("x", maxIDBytes+1) + `"}`, "empty or longer"},
		{"", "a", `{"a":"x\u0000"}`, "transactionId holds a control character"},
		{"", "", `{"a":"\ud800"}`, "surrogate"},
		{"a", "", `{"\ud800":1,"a":"p"}`, "surrogate"},
		{"", "a", `{"a":"\ude00\ud83d"}`, "surrogate"},
		{"", "", strings.Repeat("[", 9999) + strings.Repeat("]", 9999), "nested too deep"},
		{"", "", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "exceeded max depth"},
	} {
		_, err := maker(t, c.partitionKey, c.idKey).item(line{no: 3, data: []byte(c.data)})
		var bad *badLine
		require.ErrorAs(t, err, &bad, c.data)
		require.ErrorContains(t, err, "line 3: ")
		require.ErrorContains(t, err, c.reason)
	}
}
