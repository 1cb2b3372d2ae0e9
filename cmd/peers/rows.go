package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"regent.local/regent/testdata/bench"
)

// Names of the cells of a group.
const (
	regentCell  = "regent"
	groupedCell = "regent grouped"
	riverCell   = "river"
	plainCell   = "plain"
	oldCell     = "regent, old snapshot"
	keysCell    = "regent, 10,000 keys"
	manyCell    = "regent, 256 connections"
	threeCell   = "regent, 3 groups"
	wideCell    = "regent, taken by 100"
	countedCell = "regent, counters on"
	silentCell  = "regent, counters off"
	// bareForm is no cell: the result has it.
	bareForm = "bare form"
)

// Topics of the groups.
const (
	messagesTopic = "messages"
	upkeepTopic   = "upkeep"
	countersTopic = "counters"
)

var allTopics = []string{messagesTopic, upkeepTopic, countersTopic}

// oldSnapshot is how old a snapshot is at the end of a cell that runs under one.
const oldSnapshot = 20

// cell is one command line.
type cell struct {
	name string
	args []string
}

// group is cells that run in turns, and the rows that compare them.
type group struct {
	topic string // what it belongs to, for whoever runs a part
	cells []cell
	rows  []row
	once  bool // one turn: the preparation takes long, and the figure is absolute or compared within the cell
	turns int  // 0: as many as the suite is told
}

// row compares one figure of one cell with a peer's, or with a limit.
type row struct {
	name   string
	cell   string
	peer   string // empty: the target is absolute; bareForm: what the cell itself compares with
	figure func(*bench.Result) float64
	unit   string
	target float64
	atMost bool // the figure must not exceed the target; else it must reach it
}

func rate(r *bench.Result) float64   { return r.MessagesPerS }
func p50(r *bench.Result) float64    { return r.P50ms }
func p99(r *bench.Result) float64    { return r.P99ms }
func wal(r *bench.Result) float64    { return orZero(r.WALBytes) }
func stored(r *bench.Result) float64 { return orZero(r.StoredBytes) }
func memory(r *bench.Result) float64 { return orZero(r.ServerBytes) / 1e6 }

// cpu is in milliseconds, of whatever the cell counts.
func cpu(r *bench.Result) float64 { return orZero(r.PostgresCPUus) / 1e3 }

// cpuRate is how many of what the cell counts a second of PostgreSQL's processor time does.
func cpuRate(r *bench.Result) float64 { return 1e6 / orZero(r.PostgresCPUus) }

// bothCPU is of server and PostgreSQL, in microseconds a message.
func bothCPU(r *bench.Result) float64 { return orZero(r.PostgresCPUus) + orZero(r.ServerCPUus) }

func orZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

func push(name, op string, producers, batch int, more ...string) cell {
	args := []string{"--op", op, "--producers", strconv.Itoa(producers), "--batch", strconv.Itoa(batch)}
	if name == plainCell {
		args = append(args, "--target", plainCell)
	}
	return cell{name: name, args: append(args, more...)}
}

// underSnapshot is the cell while somebody holds an old snapshot.
func underSnapshot(c cell) cell {
	return cell{name: oldCell, args: append(slices.Clone(c.args), "--old-snapshot", strconv.Itoa(oldSnapshot))}
}

func faster(name, cell, peer string, target float64) row {
	return row{name: name, cell: cell, peer: peer, figure: rate, unit: "messages/s", target: target}
}

// groups are the rows that must be reached.
var groups = []group{
	{
		cells: []cell{push(regentCell, "push", 8, 1), push(riverCell, "push", 8, 1)},
		rows:  []row{faster("SQL push 8 x 1", regentCell, riverCell, 1.5)},
	}, {
		cells: []cell{push(regentCell, "push", 8, 100), push(riverCell, "push", 8, 100), push(plainCell, "push", 8, 100),
			push(keysCell, "push", 8, 100, "--partitions-per-producer", "1250"), underSnapshot(push(regentCell, "push", 8, 100))},
		rows: []row{
			faster("SQL push 8 x 100", regentCell, riverCell, 2.5),
			faster("SQL push 8 x 100", regentCell, plainCell, 0.75),
			{name: "WAL at 100, dedup on", cell: regentCell, peer: plainCell, figure: wal, unit: "B/message", target: 0.35, atMost: true},
			{name: "stored at 100, dedup on", cell: regentCell, peer: plainCell, figure: stored, unit: "B/message", target: 0.45, atMost: true},
			faster("SQL push 8 x 100 over 10,000 keys", keysCell, riverCell, 0.6),
			faster("SQL push 8 x 100, snapshot of 20 s", oldCell, regentCell, 0.8),
		},
	}, {
		cells: []cell{push(regentCell, "push", 8, 1000), push(groupedCell, "push-grouped", 8, 1000), push(riverCell, "push", 8, 1000), push(plainCell, "push", 8, 1000)},
		rows: []row{
			faster("SQL push 8 x 1000", regentCell, riverCell, 2.5),
			faster("SQL push 8 x 1000", regentCell, plainCell, 0.8),
			faster("SQL push 8 x 1000, grouped", groupedCell, riverCell, 3.5),
			faster("SQL push 8 x 1000, grouped", groupedCell, plainCell, 1.2),
		},
	}, {
		cells: []cell{push(regentCell, "take", 8, 100), push(plainCell, "take", 8, 100)},
		rows:  []row{faster("SQL take + ack 8 x 100", regentCell, plainCell, 2)},
	}, {
		cells: []cell{push(regentCell, "take", 8, 1000), push(plainCell, "take", 8, 1000)},
		rows:  []row{faster("SQL take + ack 8 x 1000", regentCell, plainCell, 3)},
	}, {
		cells: []cell{push(regentCell, "rest-push", 32, 1), push(riverCell, "push", 32, 1), push(manyCell, "rest-push", 256, 1)},
		rows: []row{
			faster("REST push 32 x 1", regentCell, riverCell, 1.5),
			faster("REST push 256 x 1", manyCell, riverCell, 3),
		},
	}, {
		cells: []cell{push(regentCell, "rest-push", 32, 100), push(riverCell, "push", 32, 100)},
		rows:  []row{faster("REST push 32 x 100", regentCell, riverCell, 0.8)},
	}, {
		cells: []cell{push(regentCell, "rest-push", 64, 100), push(riverCell, "push", 64, 100), push(plainCell, "push", 64, 100)},
		rows: []row{
			faster("REST push 64 x 100", regentCell, riverCell, 1.4),
			faster("REST push 64 x 100", regentCell, plainCell, 0.4),
		},
	}, {
		// River gets the number of connections that suits it better. Its workers fetch up to 1,000 jobs in one query and finish them
		// together, whatever a push has: the second row lets a consumer take up to 100 messages a call, the first only one.
		cells: []cell{push(regentCell, "rest-e2e", 256, 1, "--rate", "0"), push(riverCell, "e2e", 32, 1),
			push(wideCell, "rest-e2e", 256, 1, "--rate", "0", "--take-batch", "100")},
		rows: []row{
			faster("REST push, take, ack 256 x 1", regentCell, riverCell, 2),
			faster("REST push, take, ack 256 x 1, taken by 100", wideCell, riverCell, 2),
		},
	}, {
		cells: []cell{push(regentCell, "rest-e2e", 64, 100, "--rate", "0"), push(riverCell, "e2e", 64, 100)},
		rows:  []row{faster("REST push, take, ack 64 x 100", regentCell, riverCell, 3)},
	}, {
		cells: []cell{push(regentCell, "e2e", 8, 100), push(threeCell, "e2e", 8, 100, "--groups", "3"), underSnapshot(push(regentCell, "e2e", 8, 100))},
		rows: []row{
			faster("SQL push, take, ack 8 x 100, 3 groups", threeCell, regentCell, 2),
			faster("SQL push, take, ack 8 x 100, snapshot of 20 s", oldCell, regentCell, 0.5),
		},
	}, {
		once:  true,
		cells: []cell{{name: regentCell, args: []string{"--op", "pop-sparse"}}},
		rows:  []row{{name: "pop, 2 of 100,000 partitions pending, p99", cell: regentCell, figure: p99, unit: "ms", target: 5, atMost: true}},
	}, {
		once:  true,
		cells: []cell{{name: regentCell, args: []string{"--op", "rest-rss"}}},
		rows:  []row{{name: "memory, 256 busy connections, 1,000 parked pops", cell: regentCell, figure: memory, unit: "MB", target: 150, atMost: true}},
	}, {
		cells: []cell{{name: regentCell, args: []string{"--op", "rest-e2e", "--rate", "200"}}},
		rows: []row{
			{name: "REST end to end at 200/s, p50", cell: regentCell, figure: p50, unit: "ms", target: 3, atMost: true},
			{name: "REST end to end at 200/s, p99", cell: regentCell, figure: p99, unit: "ms", target: 10, atMost: true},
		},
	}, {
		topic: upkeepTopic, once: true,
		cells: []cell{alone("sweep")},
		rows: []row{
			{name: "deletes of 100 messages, with vacuum", cell: regentCell, peer: bareForm, figure: rate, unit: "segments/s", target: 0.67},
			{name: "deletes of 100 messages, with vacuum", cell: regentCell, peer: bareForm, figure: cpuRate, unit: "segments/CPU s", target: 0.67},
		},
	}, {
		topic: upkeepTopic, once: true,
		cells: []cell{alone("push-sweep")},
		rows:  []row{undisturbed("push p99 in a sweep of 1 M segments")},
	}, {
		topic: upkeepTopic, once: true,
		cells: []cell{alone("cycle")},
		rows:  []row{{name: "cycle over 100,000 idle partitions", cell: regentCell, figure: cpu, unit: "CPU ms", target: 20, atMost: true}},
	}, {
		topic: upkeepTopic, once: true,
		cells: []cell{alone("compact")},
		rows: []row{
			{name: "compaction, half obsolete", cell: regentCell, figure: rate, unit: "frames/s", target: 150_000},
			{name: "compaction, half obsolete", cell: regentCell, figure: cpuRate, unit: "frames/CPU s", target: 150_000},
			{name: "compaction, half obsolete", cell: regentCell, peer: bareForm, figure: cpuRate, unit: "frames/CPU s", target: 0.5},
		},
	}, {
		topic: upkeepTopic, once: true,
		cells: []cell{alone("push-compact")},
		rows:  []row{undisturbed("push p99 in a compaction")},
	}, {
		topic: countersTopic, once: true,
		cells: []cell{sized("10,000 partitions", "refresh", 10_000), sized("100,000 partitions", "refresh", 100_000), sized("1,000,000 partitions", "refresh", 1_000_000)},
		rows: append(append(append(refreshed("10,000 partitions", 1.9), refreshed("100,000 partitions", 1.5)...), refreshed("1,000,000 partitions", 1.54)...),
			row{name: "WAL of a refresh", cell: "1,000,000 partitions", peer: "10,000 partitions", figure: wal, unit: "B", target: 1.5, atMost: true}),
	}, {
		topic: countersTopic, turns: 9,
		cells: []cell{push(countedCell, "rest-cpu", 64, 100), push(silentCell, "rest-cpu", 64, 100, "--counters", "off")},
		rows:  []row{{name: "REST push 64 x 100, server + PostgreSQL", cell: countedCell, peer: silentCell, figure: bothCPU, unit: "CPU us/message", target: 1.03, atMost: true}},
	}, {
		topic: countersTopic, once: true,
		cells: []cell{alone("scrape")},
		rows:  []row{{name: "/metrics/prometheus, 10,000 queues", cell: regentCell, figure: p50, unit: "ms", target: 50, atMost: true}},
	},
}

// alone is a cell with its defaults.
func alone(op string) cell { return cell{name: regentCell, args: []string{"--op", op}} }

func sized(name, op string, size int) cell {
	return cell{name: name, args: []string{"--op", op, "--size", strconv.Itoa(size)}}
}

func undisturbed(name string) row {
	return row{name: name, cell: regentCell, peer: bareForm, figure: p99, unit: "ms", target: 1.5, atMost: true}
}

// refreshed compares a refresh with the bare aggregate. The target is what was asked for on the machine
// on which that took 13, 100 and 780 ms.
func refreshed(cell string, target float64) []row {
	return []row{
		{name: "refresh", cell: cell, peer: bareForm, figure: p50, unit: "ms", target: target, atMost: true},
		{name: "refresh", cell: cell, peer: bareForm, figure: cpu, unit: "CPU ms", target: target, atMost: true},
	}
}

// line is a judged row.
type line struct {
	row
	ours, theirs, result float64
	passed               bool
}

// judge takes the median over the turns.
func (r row) judge(turns []map[string]*bench.Result) line {
	var ours, theirs, ratios []float64
	for _, turn := range turns {
		ours = append(ours, r.figure(turn[r.cell]))
		switch r.peer {
		case "":
			continue
		case bareForm:
			theirs = append(theirs, r.figure(turn[r.cell].Bare))
		default:
			theirs = append(theirs, r.figure(turn[r.peer]))
		}
		ratios = append(ratios, ours[len(ours)-1]/theirs[len(theirs)-1])
	}
	l := line{row: r, ours: median(ours)}
	l.result = l.ours
	if r.peer != "" {
		l.theirs, l.result = median(theirs), median(ratios)
	}
	l.passed = l.result >= r.target
	if r.atMost {
		l.passed = l.result <= r.target
	}
	return l
}

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if len(v)%2 == 1 {
		return v[len(v)/2]
	}
	return (v[len(v)/2-1] + v[len(v)/2]) / 2
}

func printLines(out io.Writer, lines []line) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "row\tcell\tmedian\tpeer\tmedian\tunit\tratio\ttarget\t")
	for _, l := range lines {
		sign, verdict := ">=", "pass"
		if l.atMost {
			sign = "<="
		}
		if !l.passed {
			verdict = "FAIL"
		}
		theirs, ratio := "", ""
		if l.peer != "" {
			theirs, ratio = number(l.theirs), fmt.Sprintf("%.2f", l.result)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s %g\t%s\n", l.name, l.cell, number(l.ours), l.peer, theirs, l.unit, ratio, sign, l.target, verdict)
	}
	_ = w.Flush()
}

func number(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
