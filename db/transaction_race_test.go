package db

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// transact is a transaction that pushes a message to each partition of queue q
// that $1 names, and completes for group g the first open message of each that $2
// names. Both are in the order given.
const transact = `SELECT kind FROM queen.log_transaction_v1(
	array_fill('q'::text, ARRAY[cardinality($1::text[])]), $1::text[], array_fill(1, ARRAY[cardinality($1::text[])]),
	array_fill('1'::text, ARRAY[cardinality($1::text[])]), NULL,
	ARRAY(SELECT p.id FROM unnest($2::text[]) WITH ORDINALITY u (name, ord) JOIN queen.log_partitions p USING (name) ORDER BY ord),
	array_fill('g'::text, ARRAY[cardinality($2::text[])]), array_fill(''::text, ARRAY[cardinality($2::text[])]), array_fill(1, ARRAY[cardinality($2::text[])]),
	ARRAY(SELECT (SELECT m.transaction_id FROM queen.read_v1(q.name, p.name, c.committed + 1, 1) m)
		FROM unnest($2::text[]) WITH ORDINALITY u (name, ord) JOIN queen.log_partitions p USING (name) JOIN queen.queues q ON q.id = p.queue_id
		JOIN queen.log_consumers c ON c.partition_id = p.id AND c.consumer_group = 'g' ORDER BY ord),
	array_fill('completed'::text, ARRAY[cardinality($2::text[])]))`

const (
	holdCursor = `SELECT committed FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id WHERE p.name = $1 FOR UPDATE OF c`
	heads      = `SELECT string_agg(h.name || h.head_offset || '/' || coalesce(c.committed::text, '-'), ' ' ORDER BY h.name)
		FROM queen.partition_head h LEFT JOIN queen.log_consumers c ON c.partition_id = h.id AND c.consumer_group = 'g'`
)

// lanes makes n partitions of queue q with three messages each, which group g holds
// under a lease, and names them a, b, c in the order of their ids.
func (r race) lanes(n int) {
	r.t.Helper()
	for i := range n {
		r.exec(`SELECT queen.push_many_v1('q', '{1,2,3}'::json[], ARRAY[$1])`, fmt.Sprint("new", i))
	}
	r.exec(`UPDATE queen.log_partitions p SET name = chr(96 + o.k::integer) FROM (SELECT id, row_number() OVER (ORDER BY id) AS k FROM queen.log_partitions) o WHERE o.id = p.id`)
	r.exec(`SELECT queen.pop_v1('q', 100, 'g', p_max_partitions => 0)`)
}

func ids(names ...string) []string { return append([]string{}, names...) }

// Design 3.3, A-31: a transaction locks every partition that it touches before any
// cursor, so that a delete, which goes from partition to cursor, is never met half way.
func TestTransactionAgainstQueueDelete(t *testing.T) {
	r := newRace(t)
	r.lanes(3)
	r.exec(`INSERT INTO queen.queues (name) VALUES ('apart')`)
	r.exec(`UPDATE queen.log_partitions SET queue_id = (SELECT id FROM queen.queues WHERE name = 'apart') WHERE name = 'a'`)
	c := r.db.Session(t, "c")
	c.Exec(t, begin)
	c.Exec(t, holdCursor, "a")
	r.blocked(r.a, transact, ids("c"), ids("a", "b")) // has pushed to c, waits for the cursor of a, then wants that of b
	r.b.Exec(t, deleteQ)                              // goes through b and c
	c.Exec(t, commit)
	r.done(r.a)
	r.got(r.a, "push", "ack", "ack")
	r.exec(reclaimAll)
	require.Equal(t, "a2/0", scalar[string](t, r.db, heads))
	r.check()
}

// The other way round: the delete came first. The transaction waits, is told to
// begin anew (the server does), and then pushes to a new queue of the name.
func TestTransactionAfterQueueDelete(t *testing.T) {
	r := newRace(t)
	r.lanes(2)
	r.a.Exec(t, begin)
	r.a.Exec(t, deleteQ)
	r.blocked(r.b, transact, ids("a"), ids("b"))
	r.a.Exec(t, commit)
	r.fails(r.b, "40001")
	require.Zero(t, scalar[int](t, r.db, "SELECT count(*)::int FROM queen.queues"))
	r.b.Exec(t, transact, ids("a"), ids())
	require.Equal(t, "a0/-", scalar[string](t, r.db, heads))
	r.check()
}

// The same partition pushed to and acknowledged in one transaction, with pushes,
// pops and acks of others beside it.
func TestTransactionPushesAndAcksOnePartition(t *testing.T) {
	r := newRace(t)
	r.lanes(1)
	c, d := r.db.Session(t, "c"), r.db.Session(t, "d")
	c.Exec(t, begin)
	c.Exec(t, holdCursor, "a")
	r.blocked(r.a, transact, ids("a"), ids("a"))
	r.blocked(r.b, `SELECT "offset" FROM queen.push_v1('q', '9', 'a')`)
	r.wants(d, `SELECT "offset" FROM queen.pop_v1('q', 9, 'g', 'a')`)
	r.wants(d, `SELECT "offset" FROM queen.pop_v1('q', 9, 'h', 'a')`, int64(0), int64(1), int64(2))
	c.Exec(t, commit)
	r.done(r.a)
	r.done(r.b)
	r.got(r.b, int64(4))
	require.Equal(t, "a4/0", scalar[string](t, r.db, heads))
	r.check()
}

// transactions that name the same partitions in opposite orders wait, and
// never for each other.
func TestTransactionsInOppositeOrders(t *testing.T) {
	r := newRace(t)
	r.lanes(3)
	c := r.db.Session(t, "c")
	c.Exec(t, begin)
	c.Exec(t, holdCursor, "b")
	r.blocked(r.a, transact, ids("c", "a"), ids("b"))
	r.blocked(r.b, transact, ids("b", "c"), ids("a", "c"))
	c.Exec(t, commit)
	r.done(r.a)
	r.done(r.b)
	require.Equal(t, "a3/0 b3/0 c4/0", scalar[string](t, r.db, heads))
	r.check()
}

// F029, L-10: transactions, pushes, acks, pops and deletes at random: no deadlock.
func TestTransactionsNeverDeadlock_F029(t *testing.T) {
	r := newRace(t)
	r.lanes(4)
	var happened atomic.Int64
	together(t, r.db, 6, 25, func(conn *pgx.Conn, client, round int) error {
		rng := rand.New(rand.NewPCG(uint64(client), uint64(round)))
		names := ids("a", "b", "c", "d")
		rng.Shuffle(4, func(i, j int) { names[i], names[j] = names[j], names[i] })
		var err error
		switch n := rng.IntN(10); {
		case n < 6:
			_, err = conn.Exec(context.Background(), transact, names[:rng.IntN(3)], names[1:1+rng.IntN(3)])
			if err == nil {
				happened.Add(1)
			}
		case n < 7:
			_, err = conn.Exec(context.Background(), `SELECT queen.push_many_v1('q', '{1,2,3,4}'::json[], $1)`, names)
		case n < 9:
			_, err = conn.Exec(context.Background(), `SELECT queen.pop_v1('q', 100, 'g', p_max_partitions => 0)`)
		case round%5 == 4:
			_, err = conn.Exec(context.Background(), deleteQ)
		}
		switch sqlState(err) {
		case "QN409", "QN400", "40001": // refused: somebody completed the message first, or the queue is gone
			return nil
		}
		return err
	}, nil)
	require.Greater(t, happened.Load(), int64(10))
	r.check()
}

// A-30, T-15 of the crash kind: the backend of an application's own transaction is
// ended after each of its statements. What is there is what was before it, or, once
// it has committed, all of it.
func TestOwnTransactionIsAllOrNothing(t *testing.T) {
	t.Parallel()
	steps := []string{
		begin,
		"INSERT INTO invoices (n) VALUES (1)",
		`SELECT queen.push_v1('q', '1', 'a')`,
		`SELECT queen.push_many_v1('q', '{1,2}'::json[], '{b,a}')`,
		"SAVEPOINT s",
		`SELECT queen.push_v1('q', '9', 'b')`,
		"INSERT INTO invoices (n) VALUES (2)",
		`SELECT queen.ack_v1((SELECT id FROM queen.log_partitions WHERE name = 'b'), (SELECT array_agg(transaction_id) FROM queen.read_v1('q', 'b', 0, 3)), NULL, 'g', 'dlq')`,
		"ROLLBACK TO s",
		`SELECT queen.ack_v1((SELECT id FROM queen.log_partitions WHERE name = 'a'), (SELECT array_agg(transaction_id) FROM queen.read_v1('q', 'a', 0, 2)), NULL, 'g')`,
		`SELECT queen.pop_v1('q', 9, 'h', 'a')`,
		commit,
	}
	const state = `SELECT concat_ws('; ', (` + heads + `), (SELECT count(*) FROM invoices), (SELECT count(*) FROM queen.log_dlq),
		(SELECT count(*) FROM queen.log_consumers WHERE consumer_group = 'h'))`
	for last := range steps {
		t.Run(fmt.Sprint(last), func(t *testing.T) {
			r := newRace(t, "CREATE TABLE invoices (n integer)")
			r.lanes(2)
			for _, step := range steps[:last+1] {
				r.a.Exec(t, step)
			}
			r.exec("SELECT pg_terminate_backend($1)", r.a.PID())
			want := "a2/-1 b2/-1; 0; 0; 0"
			if last == len(steps)-1 {
				want = "a4/1 b3/-1; 1; 0; 1"
			}
			r.wants(r.b, `SELECT "offset" >= 0 FROM queen.push_v1('q', '1', 'last')`, true) // the locks are gone
			r.exec("DELETE FROM queen.log_partitions WHERE name = 'last'")
			require.Eventually(t, func() bool { return scalar[string](t, r.db, state) == want }, 20*time.Second, 10*time.Millisecond)
			r.check()
		})
	}
}

// a call whose backend is ended while it waits, with its pushes done, has done nothing.
func TestTransactionCutInTheMiddle(t *testing.T) {
	r := newRace(t)
	r.lanes(2)
	r.a.Exec(t, begin)
	r.a.Exec(t, holdCursor, "b")
	r.blocked(r.b, transact, ids("a", "b"), ids("a", "b"))
	r.exec("SELECT pg_terminate_backend($1)", r.b.PID())
	require.Error(t, r.b.Wait(t))
	r.a.Exec(t, commit)
	require.Equal(t, "a2/-1 b2/-1", scalar[string](t, r.db, heads))
	r.wants(r.a, `SELECT "offset" FROM queen.push_v1('q', '1', 'a')`, int64(3))
	r.check()
}

// Design 3.3: an application that idles after its push holds up its own
// partitions: pushes of others go on, and so do pops and acks everywhere.
func TestIdleApplicationHoldsUpItsOwnPartitionsOnly(t *testing.T) {
	r := newRace(t)
	r.lanes(2)
	r.a.Exec(t, begin)
	r.a.Exec(t, `SELECT queen.push_v1('q', '1', 'a')`)
	r.wants(r.b, `SELECT "offset" FROM queen.push_v1('q', '1', 'b')`, int64(3))
	r.wants(r.b, `SELECT "offset" FROM queen.pop_v1('q', 9, 'h', 'a')`, int64(0), int64(1), int64(2))
	r.b.Exec(t, transact, ids("b"), ids("a"))
	r.got(r.b, "push", "ack")
	r.b.Exec(t, "SET lock_timeout = '50ms'")
	r.b.Go(`SELECT kind FROM queen.log_transaction_v1('{q,q}', '{b,a}', '{1,1}', '{1,1}', NULL, '{}', '{}', '{}', '{}', '{}', '{}', p_lock_timeout_ms => 20)`)
	r.fails(r.b, "55P03")
	r.a.Exec(t, commit)
	require.Equal(t, "a3/0 b4/-1", scalar[string](t, r.db, heads))
	r.check()
}

// the same transaction by two at once: one happens, the other is a duplicate,
// also when both make the queue. A rolled-back one leaves the way free.
func TestOneOfTwoEqualTransactions_A33(t *testing.T) {
	t.Parallel()
	const same = `SELECT message_id::text FROM queen.log_transaction_v1('{q,z}', '{p,p}', '{1,1}', '{1,1}', '{x,y}', '{}', '{}', '{}', '{}', '{}', '{}')`
	for name, end := range map[string]string{"committed": commit, "rolled back": rollBack} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t)
			r.a.Exec(t, begin)
			r.a.Exec(t, same)
			r.blocked(r.b, same)
			r.a.Exec(t, end)
			if end == commit {
				r.fails(r.b, "23505")
			} else {
				r.done(r.b)
			}
			require.Equal(t, 2, scalar[int](t, r.db, "SELECT count(*)::int FROM queen.log_segments"))
			r.check()
		})
	}
}

// Design 3.3: above READ COMMITTED a transaction is refused before it did anything.
func TestTransactionNeedsReadCommitted(t *testing.T) {
	r := newRace(t)
	for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
		r.a.Exec(t, "BEGIN ISOLATION LEVEL "+level)
		r.a.Go(transact, ids("p"), ids())
		var pgErr *pgconn.PgError
		require.ErrorAs(t, r.a.Wait(t), &pgErr)
		require.Equal(t, "QN400", pgErr.Code)
		require.Contains(t, pgErr.Message, level)
		r.a.Exec(t, rollBack)
	}
	require.Zero(t, scalar[int](t, r.db, "SELECT count(*)::int FROM queen.queues"))
}
