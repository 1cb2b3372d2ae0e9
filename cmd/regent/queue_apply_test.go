package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestManifestIsRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"documents": "# ours\nqueue: a\nnamespace: shop\noptions:\n  leaseTime: 30\n  retentionEnabled: true\n  cleanupPolicy: 'compact,delete'\n  ttl: null\n---\n---\nqueue: b\nmode: replace\n",
		"a list":    "- &a\n  queue: a\n  options: &o {leaseTime: 30, retentionEnabled: true, cleanupPolicy: 'compact,delete', ttl: ~, namespace: shop}\n- queue: b\n",
		"aliases":   "- queue: a\n  namespace: &n shop\n  options:\n    <<: {leaseTime: 30, retentionEnabled: true}\n    cleanupPolicy: compact,delete\n    ttl:\n- {queue: b, options: }\n",
		"json": "[{\"queue\":\"a\",\"namespace\":\"shop\",\t\"options\":{\n\t\"leaseTime\":30,\"retentionEnabled\":true,\"cleanupPolicy\":\"compact,delete\",\"ttl\":null}}," +
			"{\"queue\":\"b\"}]",
	} {
		queues, err := readManifest("m", []byte(text))
		require.NoError(t, err, name)
		require.Len(t, queues, 2, name)
		for _, q := range queues {
			require.Equal(t, "replace", q.req.Mode, name)
		}
		options, err := json.Marshal(queues[0].req.Options)
		require.NoError(t, err)
		require.JSONEq(t, `{"namespace":"shop","leaseTime":30,"retentionEnabled":true,"cleanupPolicy":"compact,delete","ttl":null}`, string(options), name)
		require.Equal(t, "b", queues[1].req.Queue, name)
		require.Empty(t, queues[1].req.Options, name)
	}
}

func TestManifestFaultsAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                                "m names no queue",
		"---\n":                                           "m names no queue",
		"a: [":                                            "m: yaml: line 1",
		"7":                                               "m:1: want the fields of a queue, not the number 7",
		"- queue: a\n- b":                                 `m:2: want the fields of a queue, not the text "b"`,
		"options: {}":                                     "m:1: queue: the name is missing",
		"queue: 7":                                        "m:1: queue: want text, not the number 7",
		"options: {}\nqueue: ''":                          "m:2: queue: the name is missing",
		"- namespace: a\n  queue: \"x\\0y\"":              "m:2: queue: it holds a control character",
		"{\"queue\":\n\"x\\u0000y\"}":                     "m:2: queue: it holds a control character",
		"queue: a\nnamespace: \"x\\0\"":                   "m:2: namespace: it holds a control character",
		"queue: a\noptions:\n  task: \"\\n\"":             "m:3: options.task: it holds a control character",
		"queue: " + strings.Repeat("é", 256):              "m:1: queue: it is longer than 255 characters",
		"queue: a\nqueue: b":                              `m:2: mapping key "queue" already defined at line 1`,
		"queue: ~":                                        "m:1: queue: want text, not nothing",
		"queue: a\nnamspace: x":                           "m:2: namspace: there is no such field; there are queue, namespace, task, options and mode",
		"queue: a\nmode: merge":                           "m:2: mode: a manifest is the whole configuration of its queues: want replace, not \"merge\"",
		"queue: a\ntask: 1\noptions: {task: b}":           "m:2: task: it stands in options, too",
		"queue: a\noptions: []":                           "m:2: want the fields of options, not a list",
		"queue: a\noptions:\n  leasTime: 1":               "m:3: options.leasTime: there is no such option; did you mean leaseTime?",
		"queue: a\noptions:\n  leaseTime: 30s":            `m:3: options.leaseTime: want a whole number, not the text "30s"`,
		"queue: a\noptions:\n  leaseTime: 1.5":            "m:3: options.leaseTime: want a whole number, not the number 1.5",
		`{"queue":"a","options":{"ttl":"1"}}`:             `m:1: options.ttl: want a whole number, not the text "1"`,
		"queue: a\noptions:\n  retentionEnabled: yes":     `m:3: options.retentionEnabled: want true or false, not the text "yes"`,
		"queue: a\noptions:\n  task: 7":                   "m:3: options.task: want text, not the number 7",
		"queue: a\noptions:\n  task: {a: 1}":              "m:3: options.task: want text, not fields",
		"queue: a\noptions:\n  ttl: 99999999999999999999": "m:3: options.ttl: want a whole number, not the number 99999999999999999999",
		"queue: a\noptions:\n  ttl: 1\n  ttl: 2":          `m:4: mapping key "ttl" already defined at line 3`,
		"queue: a\n---\nqueue: b\n---\nqueue: a":          `m:5: queue: "a" stands at line 1 already`,
		"queue: a\noptions: {ttl: x}\nbogus: 1\n---\nqueue: 1": "m:2: options.ttl: want a whole number, not the text \"x\"; m:3: bogus: there is no such field; there are queue, namespace, task, options and mode; m:5: queue: want text, not the number 1",
	} {
		_, err := readManifest("m", []byte(text))
		require.Error(t, err, text)
		require.Contains(t, errorLine(err, ""), want, text)
		require.Equal(t, exitUser, exitCode(err), text)
	}
}

// Of two manifests none is dropped.
func TestQueueApplyTakesOneManifest(t *testing.T) {
	t.Parallel()
	got := call(t, "", "queue", "apply", "-f", "a", "-f", "b")
	require.Equal(t, exitUser, got.code)
	require.Contains(t, got.err, "it is given twice")
}

// What apply says is the same on both faces, byte for byte, but for the clock.
func TestQueueApply(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	said := map[string]string{}
	for name, face := range faces(t, s) {
		suffix := "-" + rand.Text()[:8] // of one length, for the tables
		a, b, c := "apply-a"+suffix, "apply-b"+suffix, "apply-c"+suffix
		file := filepath.Join(t.TempDir(), "queues.yaml")
		record := ""
		apply := func(code int, manifest string, args ...string) result {
			t.Helper()
			require.NoError(t, os.WriteFile(file, []byte(strings.NewReplacer("qa", a, "qb", b, "qc", c).Replace(manifest)), 0o600))
			got := call(t, "", with(face, append([]string{"queue", "apply", "-f", file, "-o", "table"}, args...)...)...)
			require.Equal(t, code, got.code, "%s%s", got.out, got.err)
			record += strings.NewReplacer(suffix, "", file, "FILE").Replace(fmt.Sprintf("$ %v\n%s%s", args, got.out, got.err))
			return got
		}
		options := func(queue string) string {
			got := call(t, "", with(face, "queue", "show", queue)...)
			require.Equal(t, 0, got.code, got.err)
			var q queueInfo
			require.NoError(t, json.Unmarshal([]byte(got.out), &q))
			return fmt.Sprintf("%s %s %s %s", q.Options["leaseTime"], q.Options["retryLimit"], q.Options["retentionMessages"], q.Options["namespace"])
		}
		require.Equal(t, 0, call(t, "", with(face, "queue", "configure", a, "--retry-limit", "9")...).code)
		two := "queue: qa\nnamespace: shop\noptions: {leaseTime: 30}\n---\nqueue: qb\n"

		got := apply(0, two, "--dry-run")
		require.Contains(t, got.out, "would be changed")
		require.Contains(t, got.out, "would be created")
		require.Equal(t, `300 9  ""`, options(a), "a dry run changes nothing")
		require.Equal(t, exitUser, call(t, "", with(face, "queue", "show", b)...).code)

		apply(0, two)
		require.Equal(t, `30 3  "shop"`, options(a), "what is not named goes back to its default")
		require.Equal(t, `300 3  ""`, options(b))
		got = apply(exitNothing, two)
		require.Contains(t, got.out, "unchanged")
		apply(exitNothing, two, "--dry-run")

		// One fault, wherever, and nothing is changed: what the manifest's reader knows, and what the server knows.
		apply(exitUser, "queue: qa\n---\nqueue: qb\noptions: {leasetime: 1}")
		got = apply(exitUser, "queue: qa\n---\nqueue: qc\n---\nqueue: qb\noptions: {groupIdleSeconds: 10}")
		require.Contains(t, got.err, file+":5: configure ")
		require.Contains(t, got.err, "groupIdleSeconds")
		require.Contains(t, got.err, "; nothing was changed")
		require.Equal(t, `30 3  "shop"`, options(a))
		require.Equal(t, exitUser, call(t, "", with(face, "queue", "show", c)...).code)

		// What would delete more than goes anyway needs --yes.
		for range 2 { // a segment each
			require.Equal(t, 0, call(t, `{"n":1}`, with(face, "push", b)...).code)
		}
		sizes := "queue: qb\noptions: {retentionEnabled: true, retentionMessages: 1}"
		got = apply(exitUser, sizes)
		require.Contains(t, got.err, "would then delete 1 message more of queue")
		require.Contains(t, apply(0, sizes, "--dry-run").out, "the next sweep would delete 1 message (1 unread, ")
		require.Equal(t, `300 3  ""`, options(b))
		apply(0, sizes, "--yes")
		require.Equal(t, `300 3 1 ""`, options(b))

		// Standard input, and the form that scripts read.
		got = call(t, `[{"queue":"`+a+`","options":{"leaseTime":31}},{"queue":"`+b+`","options":null}]`, with(face, "queue", "apply", "-f", "-", "-o", "ndjson")...)
		require.Equal(t, 0, got.code, got.err)
		require.Equal(t, `{"queue":"`+a+`","result":"changed","dryRun":false,"changes":[{"option":"leaseTime","from":30,"to":31},{"option":"namespace","from":"shop","to":""}]}`+"\n"+
			`{"queue":"`+b+`","result":"changed","dryRun":false,"changes":[{"option":"retentionEnabled","from":true,"to":false},{"option":"retentionMessages","from":1,"to":null}]}`+"\n", got.out)
		said[name] = record
	}
	require.Equal(t, said["sql"], said["http"])
	require.Equal(t, exitUser, call(t, "", "queue", "apply").code)
	require.Equal(t, exitUser, call(t, "", "queue", "apply", "-f", "no-such-file").code)
}

// When a queue fails that was fine before, the message says what is changed.
func TestQueueApplyThatFailsHalfway(t *testing.T) {
	t.Parallel()
	dsn, conn := ownDatabase(t, "apply_halfway")
	require.Equal(t, 0, call(t, "", "migrate", "up", "--dsn", dsn).code)
	execAll(t, conn, `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.name = 'b' AND NEW.lease_time = 30 AND (SELECT count(*) FROM queen.queues) > 1 THEN RAISE 'not now'; END IF;
			RETURN NEW;
		END $$`, `CREATE TRIGGER fail BEFORE UPDATE ON queen.queues FOR EACH ROW EXECUTE FUNCTION fail()`)
	manifest := "queue: a\n---\nqueue: b\noptions: {leaseTime: 30}\n---\nqueue: c\n"
	got := call(t, manifest, "queue", "apply", "-f", "-", "--dsn", dsn)
	require.Equal(t, exitServer, got.code, got.err)
	require.Empty(t, got.out)
	require.Contains(t, got.err, "standard input:3: configure \"b\": ")
	require.Contains(t, got.err, `; changed before that: "a"; not tried: "c"; the same command goes on from there`)
	execAll(t, conn, `DROP TRIGGER fail ON queen.queues`)
	got = call(t, manifest, "queue", "apply", "-f", "-", "--dsn", dsn, "-o", "ndjson")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.out, `{"queue":"a","result":"unchanged"`)
	require.Contains(t, got.out, `{"queue":"c","result":"created"`)
}
