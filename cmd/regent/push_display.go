package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	drawEvery  = 200 * time.Millisecond
	printEvery = 5 * time.Second
)

// display shows how far a push is: a bar on a terminal, else a line now and
// then.
type display struct {
	quit, done chan struct{}
}

// stop takes the bar off the screen.
func (d *display) stop() {
	close(d.quit)
	<-d.done
}

// newDisplay watches c. total is the size of the input, 0 when unknown, and
// begin the part of it that was done before.
func newDisplay(out io.Writer, name string, total, begin int64, c *counts) *display {
	d := &display{quit: make(chan struct{}), done: make(chan struct{})}
	m := meter{name: name, total: total, begin: begin, counts: c, started: time.Now()}
	go func() {
		defer close(d.done)
		if isTerminal(out) {
			m.draw(out, d.quit)
		} else {
			m.print(out, d.quit)
		}
	}()
	return d
}

type meter struct {
	name         string
	total, begin int64
	counts       *counts
	started      time.Time
}

func (m meter) draw(out io.Writer, quit <-chan struct{}) {
	container := mpb.New(mpb.WithOutput(out), mpb.WithWidth(40))
	lines := decor.Any(func(decor.Statistics) string { return m.speed() })
	front := mpb.PrependDecorators(decor.Name(oneLine(m.name, 30) + " "))
	var bar *mpb.Bar
	if m.total > 0 {
		bar = container.AddBar(m.total, front, mpb.AppendDecorators(
			decor.CountersKibiByte("% .1f / % .1f "), lines, decor.AverageETA(decor.ET_STYLE_GO)), mpb.BarRemoveOnComplete())
		bar.SetRefill(m.begin)
		bar.SetCurrent(m.begin)
		bar.DecoratorAverageAdjust(m.started)
	} else {
		bar = container.AddSpinner(0, front, mpb.AppendDecorators(decor.CurrentKibiByte("% .1f "), lines), mpb.BarRemoveOnComplete())
	}
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			bar.Abort(true)
			container.Wait()
			return
		case <-tick.C:
			// The last byte is left to Abort, which removes the bar.
			bar.SetCurrent(min(m.position(), max(m.total-1, m.begin)+spinnerRoom(m.total)))
		}
	}
}

// spinnerRoom lifts the limit of a bar that has no end.
func spinnerRoom(total int64) int64 {
	if total > 0 {
		return 0
	}
	return math.MaxInt64 / 2
}

func (m meter) print(out io.Writer, quit <-chan struct{}) {
	tick := time.NewTicker(printEvery)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
			fmt.Fprintf(out, "regent: %s\n", m.line())
		}
	}
}

func (m meter) position() int64 { return m.begin + m.counts.bytes.Load() }

func (m meter) speed() string {
	lines := m.counts.lines.Load()
	return fmt.Sprintf("%s, %s/s ", counted(lines, "line"), grouped(int64(float64(lines)/max(time.Since(m.started).Seconds(), 1e-3))))
}

// line is what a log keeps.
func (m meter) line() string {
	at := formatSize(m.position())
	if m.total > 0 {
		at = fmt.Sprintf("%s of %s (%d%%)", at, formatSize(m.total), 100*m.position()/m.total)
	}
	text := fmt.Sprintf("%s: %s, %s", m.name, at, strings.TrimSpace(m.speed()))
	if eta, ok := m.remaining(); ok {
		text += fmt.Sprintf(", %s left", eta.Round(time.Second))
	}
	return text
}

func (m meter) remaining() (time.Duration, bool) {
	done := m.counts.bytes.Load()
	if m.total == 0 || done == 0 {
		return 0, false
	}
	perByte := float64(time.Since(m.started)) / float64(done)
	return time.Duration(perByte * float64(m.total-m.position())), true
}

func round2(f float64) float64 { return math.Round(f*100) / 100 }

// String is the report in one sentence.
func (r pushReport) String() string {
	text := fmt.Sprintf("%s in %.1f s (%s/s): %s queued, %s, %s failed", counted(r.Lines, "line"), r.Seconds,
		grouped(int64(r.PerSecond)), grouped(r.Queued), counted(r.Duplicates, "duplicate"), grouped(r.Failed))
	if r.Buffered > 0 {
		text += fmt.Sprintf(", %s buffered by the server", grouped(r.Buffered))
	}
	if r.Skipped > 0 {
		text += fmt.Sprintf(", %s skipped", counted(r.Skipped, "bad line"))
	}
	return text
}
