package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// accountLedger writes down, in the transaction of the push, what was stored, and
// what became a dead letter: apart from the tables of the engine, and never deleted.
const accountLedger = `
CREATE SCHEMA soak;
CREATE TABLE soak.segments (queue text, partition_id uuid, base bigint, last bigint, created_at timestamptz, bytes bigint, ids text[], keys text[], dead boolean[],
    PRIMARY KEY (partition_id, base));
CREATE TABLE soak.letters (id uuid, queue text);
CREATE TABLE soak.pointers (at timestamptz, t_end timestamptz);
CREATE TABLE soak.rules (queue text, rule text);
CREATE TABLE soak.told (queue text, id text);
CREATE TABLE soak.delivered (queue text, consumer_group text, id text);
CREATE FUNCTION soak.note_segment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO soak.segments
    SELECT q.name, NEW.partition_id, NEW.base_offset, NEW.end_offset, NEW.created_at, NEW.bytes, NEW.transaction_ids, NEW.keys,
           ARRAY(SELECT f.p = 'null' FROM unnest(NEW.payloads) WITH ORDINALITY f (p, n) ORDER BY f.n)
    FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = NEW.partition_id;
    RETURN NULL;
END $$;
CREATE TRIGGER soak AFTER INSERT ON queen.log_segments FOR EACH ROW EXECUTE FUNCTION soak.note_segment();
CREATE FUNCTION soak.note_letter() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO soak.letters SELECT NEW.id, q.name FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = NEW.partition_id;
    RETURN NULL;
END $$;
CREATE TRIGGER soak AFTER INSERT ON queen.log_dlq FOR EACH ROW EXECUTE FUNCTION soak.note_letter();
-- What is there for readers.
CREATE VIEW soak.present AS
SELECT s.* FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id AND s.base_offset >= p.log_start;
-- What was deleted as a whole segment, and by which rule.
CREATE VIEW soak.fate AS
SELECT s.*, h.retention_type AS rule, h.executed_at, h.last_offset FROM soak.segments s
LEFT JOIN queen.retention_history h ON h.partition_id = s.partition_id AND h.retention_type <> 'compaction' AND s.base BETWEEN h.first_offset AND h.last_offset;
-- The frames that were in segments which no rule deleted whole.
CREATE VIEW soak.frames AS
SELECT f.queue, f.partition_id, f.base + x.n - 1 AS "offset", f.created_at, x.key, x.dead
FROM soak.segments f CROSS JOIN LATERAL unnest(f.ids, f.keys, f.dead) WITH ORDINALITY x (id, key, dead, n)`

// accountChecks answer a row of text for each breach. $1 is the window of the
// rules in seconds, $2 when the group that goes idle was last there.
var accountChecks = []struct{ name, query string }{
	{"a segment is deleted once, whole, by one rule", `
		SELECT concat_ws(' ', queue, partition_id, base, string_agg(rule, ',')) FROM soak.fate WHERE rule IS NOT NULL
		GROUP BY queue, partition_id, base HAVING count(*) > 1 OR bool_or(last > last_offset)`},
	{"what no rule deleted is there", `
		SELECT concat_ws(' ', f.queue, f.partition_id, f.base) FROM soak.fate f
		LEFT JOIN soak.present s ON s.partition_id = f.partition_id AND s.base_offset = f.base
		WHERE f.rule IS NULL AND (s.base_offset IS NULL OR s.end_offset <> f.last OR s.created_at <> f.created_at)`},
	{"what a rule deleted is gone", `
		SELECT concat_ws(' ', f.queue, f.partition_id, f.base, f.rule) FROM soak.fate f
		JOIN soak.present s ON s.partition_id = f.partition_id AND s.base_offset = f.base WHERE f.rule IS NOT NULL`},
	{"nothing is there that was not pushed", `
		SELECT concat_ws(' ', s.partition_id, s.base_offset) FROM soak.present s
		WHERE NOT EXISTS (SELECT FROM soak.segments f WHERE f.partition_id = s.partition_id AND f.base = s.base_offset)`},
	{"frames and bytes: pushed = there + deleted, for each partition", `
		SELECT concat_ws(' ', f.queue, f.partition_id, f.frames, f.bytes, 'there', s.frames, s.bytes, 'deleted', h.frames, h.bytes)
		FROM (SELECT queue, partition_id, sum(last - base + 1) AS frames, sum(bytes) AS bytes FROM soak.segments GROUP BY 1, 2) f
		LEFT JOIN LATERAL (SELECT coalesce(sum(x.frames), 0) AS frames, coalesce(sum(x.bytes), 0) AS bytes FROM soak.present x WHERE x.partition_id = f.partition_id) s ON true
		LEFT JOIN LATERAL (SELECT coalesce(sum(x.messages_deleted), 0) AS frames, coalesce(sum(x.bytes_deleted), 0) AS bytes FROM queen.retention_history x
		                   WHERE x.partition_id = f.partition_id) h ON true
		WHERE f.frames <> s.frames + h.frames OR f.bytes <> s.bytes + h.bytes`},
	{"only the rules of the queue deleted", `
		SELECT DISTINCT concat_ws(' ', s.queue, h.retention_type) FROM queen.retention_history h
		LEFT JOIN (SELECT DISTINCT queue, partition_id FROM soak.segments) s USING (partition_id)
		WHERE NOT EXISTS (SELECT FROM soak.rules r WHERE r.queue = s.queue AND r.rule = h.retention_type)`},
	{"an age rule deleted what was old enough", `
		SELECT concat_ws(' ', f.queue, f.rule, f.partition_id, f.base, f.executed_at - f.created_at) FROM soak.fate f
		JOIN queen.queues q ON q.name = f.queue AND q.deleted_at IS NULL
		WHERE f.created_at >= f.executed_at - make_interval(secs => CASE f.rule WHEN 'retention' THEN q.retention_seconds
		    WHEN 'completed_retention' THEN q.completed_retention_seconds WHEN 'max_wait_time_eviction' THEN q.max_wait_time_seconds END)`},
	{"a size limit deleted what was over it", `
		SELECT concat_ws(' ', f.queue, f.rule, f.partition_id, f.base, r.frames, r.bytes) FROM soak.fate f
		JOIN queen.queues q ON q.name = f.queue AND q.deleted_at IS NULL AND q.cleanup_policy = 'delete'
		CROSS JOIN LATERAL (SELECT sum(x.last - x.base + 1) AS frames, sum(x.bytes) AS bytes FROM soak.segments x
		                    WHERE x.partition_id = f.partition_id AND x.base >= f.base AND x.created_at <= f.executed_at) r
		WHERE f.rule = 'retention_bytes' AND r.bytes <= q.retention_bytes OR f.rule = 'retention_messages' AND r.frames <= q.retention_messages`},
	{"a size limit never deleted the newest", `
		SELECT concat_ws(' ', f.queue, f.rule, f.partition_id, f.base) FROM soak.fate f
		WHERE f.rule IN ('retention_bytes', 'retention_messages')
		  AND NOT EXISTS (SELECT FROM soak.segments x WHERE x.partition_id = f.partition_id AND x.base > f.base AND x.created_at <= f.executed_at)`},
	{"compaction removed what a newer message of the key replaces, or an old tombstone", `
		SELECT concat_ws(' ', f.queue, f.partition_id, f."offset", f.key) FROM soak.frames f
		JOIN soak.present s ON s.partition_id = f.partition_id AND f."offset" BETWEEN s.base_offset AND s.end_offset
		WHERE s.offsets IS NOT NULL AND f."offset" <> ALL (s.offsets)
		  AND (f.key IS NULL OR NOT coalesce(f.dead AND f.created_at < clock_timestamp() - make_interval(secs => $1), false)
		       AND NOT EXISTS (SELECT FROM soak.frames n WHERE n.partition_id = f.partition_id AND n.key = f.key AND n."offset" > f."offset"))`},
	{"the latest value of a key is its newest message", `
		SELECT concat_ws(' ', f.queue, f.partition_id, f.key, f."offset", l."offset")
		FROM (SELECT DISTINCT ON (x.partition_id, x.key) x.*, p.name FROM soak.frames x
		      JOIN queen.log_partitions p ON p.id = x.partition_id AND x."offset" >= p.log_start WHERE x.key IS NOT NULL ORDER BY x.partition_id, x.key, x."offset" DESC) f
		LEFT JOIN LATERAL queen.get_latest_v1(f.queue, f.key, f.name) l ON true
		WHERE f.queue IN ('compact', 'both', 'mixed') AND NOT f.dead AND l."offset" IS DISTINCT FROM f."offset"`},
	{"dead letters: filed = there + removed, and those that went were old", `
		SELECT concat_ws(' ', f.queue, f.n, 'there', s.n, 'removed', r.removed, r.newest_failed_at, r.last_removed_at)
		FROM (SELECT queue, count(*) AS n FROM soak.letters GROUP BY 1) f
		JOIN queen.queues q ON q.name = f.queue AND q.deleted_at IS NULL
		CROSS JOIN LATERAL (SELECT count(*) AS n FROM queen.log_dlq d JOIN queen.log_partitions p ON p.id = d.partition_id WHERE p.queue_id = q.id) s
		LEFT JOIN queen.dead_letter_removals r ON r.queue_id = q.id
		WHERE f.n <> s.n + coalesce(r.removed, 0) OR r.newest_failed_at >= r.last_removed_at - make_interval(secs => q.dead_letter_retention_seconds)`},
	{"the sink held what it had not copied", `
		SELECT concat_ws(' ', f.partition_id, f.base, f.created_at, f.executed_at) FROM soak.fate f
		WHERE f.queue = 'hold' AND f.rule IS NOT NULL
		  AND f.created_at >= coalesce((SELECT max(p.t_end) FROM soak.pointers p WHERE p.at <= f.executed_at) - interval '60 seconds', '-infinity')`},
	{"a group held what it had not consumed until it was idle", `
		SELECT concat_ws(' ', f.partition_id, f.base, f.executed_at) FROM soak.fate f
		WHERE f.queue = 'idle' AND f.executed_at < $2::timestamptz + interval '300 seconds'`},
	{"nothing is said to be unread that both groups consumed", `
		SELECT concat_ws(' ', h.partition_id, h.first_offset, h.unread_deleted) FROM queen.retention_history h
		WHERE h.retention_type = 'completed_retention' AND h.unread_deleted > 0 AND h.partition_id IN (SELECT partition_id FROM soak.segments WHERE queue = 'completed')`},
	{"what counts as consumed was delivered to every group that counts", `
		SELECT concat_ws(' ', f.queue, g.name, f.partition_id, f.base, i.id) FROM soak.fate f
		JOIN LATERAL (SELECT DISTINCT d.consumer_group FROM soak.delivered d WHERE d.queue = f.queue) g (name) ON true
		CROSS JOIN LATERAL unnest(f.ids) i (id)
		WHERE f.rule = 'completed_retention' AND f.queue IN ('completed', 'idle')
		  AND NOT EXISTS (SELECT FROM soak.delivered d WHERE d.queue = f.queue AND d.consumer_group = g.name AND d.id = i.id)`},
	{"what a producer was told is stored is written down", `
		SELECT concat_ws(' ', t.queue, t.id) FROM (SELECT queue, id FROM soak.told EXCEPT SELECT queue, unnest(ids) FROM soak.segments) t`},
	{"nothing is stored twice", `
		SELECT concat_ws(' ', s.queue, i.id, count(*)) FROM soak.segments s CROSS JOIN LATERAL unnest(s.ids) i (id)
		GROUP BY s.queue, s.partition_id, i.id HAVING count(*) > 1`},
}

// audit holds the tables and the history against the ledger, in one snapshot.
func (s *accountSoak) audit() {
	s.t.Helper()
	ctx := s.t.Context()
	s.copyDown(ctx)
	_, err := s.pool.Exec(ctx, "CREATE INDEX ON soak.told (queue, id); CREATE INDEX ON soak.delivered (queue, consumer_group, id); ANALYZE")
	require.NoError(s.t, err)
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		for _, check := range accountChecks {
			var args []any
			if strings.Contains(check.query, "$1") {
				args = append(args, s.plan.window)
			}
			query := check.query
			if strings.Contains(query, "$2") {
				query = strings.ReplaceAll(query, "$2", "$1")
				args = append(args, s.lazyAt)
			}
			rows, err := tx.Query(ctx, "SELECT * FROM ("+query+") x LIMIT 5", args...)
			if err != nil {
				return fmt.Errorf("%s: %w", check.name, err)
			}
			breaches, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return fmt.Errorf("%s: %w", check.name, err)
			}
			require.Empty(s.t, breaches, check.name)
		}
		return nil
	})
	require.NoError(s.t, err)
	verified := call(s.t, "", "verify", "--dsn", s.server.dsn(s.t))
	require.Equal(s.t, 0, verified.code, "%s%s", verified.out, verified.err)
}

// copyDown gives the database what clients were told and got.
func (s *accountSoak) copyDown(ctx context.Context) {
	var told, delivered [][]any
	for _, q := range s.queues {
		for _, id := range q.pushed {
			told = append(told, []any{q.name, id})
		}
		for _, name := range q.groups {
			for id := range s.got[q.name+"/"+name] {
				delivered = append(delivered, []any{q.name, name, id})
			}
		}
	}
	_, err := s.pool.CopyFrom(ctx, pgx.Identifier{"soak", "told"}, []string{"queue", "id"}, pgx.CopyFromRows(told))
	require.NoError(s.t, err)
	_, err = s.pool.CopyFrom(ctx, pgx.Identifier{"soak", "delivered"}, []string{"queue", "consumer_group", "id"}, pgx.CopyFromRows(delivered))
	require.NoError(s.t, err)
}

func (s *accountSoak) summary(took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f s; killed or deleted: %v\n", took.Seconds(), s.said)
	rows, err := s.pool.Query(s.t.Context(), `
		SELECT format('%-10s %7s pushed, %7s there, deleted: %s', f.queue, f.n,
		    (SELECT coalesce(sum(s.frames), 0) FROM soak.present s WHERE s.partition_id = ANY (f.ids)),
		    (SELECT string_agg(concat(h.retention_type, ' ', h.n, ' in ', h.steps, ' steps'), ', ' ORDER BY h.retention_type)
		     FROM (SELECT x.retention_type, sum(x.messages_deleted) AS n, count(*) AS steps FROM queen.retention_history x WHERE x.partition_id = ANY (f.ids) GROUP BY 1) h))
		FROM (SELECT queue, sum(last - base + 1) AS n, array_agg(DISTINCT partition_id) AS ids FROM soak.segments GROUP BY 1) f ORDER BY f.queue`)
	if err != nil {
		return b.String() + err.Error()
	}
	lines, _ := pgx.CollectRows(rows, pgx.RowTo[string])
	return b.String() + strings.Join(lines, "\n")
}
