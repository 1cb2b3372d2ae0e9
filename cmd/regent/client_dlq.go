package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"regent.local/regent/api/sdk/go/rest"
	"regent.local/regent/db"
)

// deadLetter is one dead letter in the words of the HTTP API.
type deadLetter struct {
	ID            string          `json:"id"`
	TransactionID string          `json:"transactionId"`
	PartitionID   string          `json:"partitionId"`
	Queue         string          `json:"queue"`
	Partition     string          `json:"partition"`
	ConsumerGroup string          `json:"consumerGroup"`
	ErrorMessage  *string         `json:"errorMessage"`
	RetryCount    int             `json:"retryCount"`
	FailedAt      time.Time       `json:"failedAt"`
	Data          json.RawMessage `json:"data"`
}

// letterFilter chooses dead letters; an empty field chooses all.
type letterFilter struct {
	queue, group, partition, reason string
	since, until                    *time.Time
}

// outcome is what became of one dead letter: moved, movable (in a dry run),
// duplicate, failed or busy (it is kept), or gone. What an answer over HTTP does
// not tell is left out.
type outcome struct {
	DlqID         string    `json:"dlqId"`
	Result        string    `json:"result"`
	Queue         string    `json:"queue,omitempty"`
	Partition     string    `json:"partition,omitempty"`
	ConsumerGroup string    `json:"consumerGroup,omitempty"`
	TransactionID string    `json:"transactionId,omitempty"`
	FailedAt      time.Time `json:"failedAt,omitzero"`
	Offset        *int64    `json:"offset"`
	Error         string    `json:"error,omitempty"`
}

// maxPage is the longest page that the API answers.
const maxPage = 1000

func (c *httpClient) DeadLetters(ctx context.Context, f letterFilter, limit, offset int) ([]deadLetter, error) {
	rows, skip := int32(limit), int32(offset)
	params := &rest.ListDeadLettersParams{Queue: optional(f.queue), ConsumerGroup: optional(f.group), Limit: &rows, Offset: &skip}
	body, err := c.call(ctx, repeatAny, func(ctx context.Context) (*http.Response, error) { return c.ListDeadLetters(ctx, params) })
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	var list struct {
		Messages []deadLetter `json:"messages"`
	}
	return list.Messages, decode(body, &list)
}

func (c *httpClient) DeleteDeadLetters(ctx context.Context, f letterFilter) (int, error) {
	params := &rest.DeleteDeadLettersParams{Queue: &f.queue, ConsumerGroup: optional(f.group)}
	body, err := c.call(ctx, repeatUnsent, func(ctx context.Context) (*http.Response, error) { return c.Client.DeleteDeadLetters(ctx, params) })
	if err != nil {
		return 0, fmt.Errorf("delete dead letters of %q: %w", f.queue, err)
	}
	var answer struct {
		Deleted int `json:"deleted"`
	}
	return answer.Deleted, decode(body, &answer)
}

// Replay is not repeated when the answer was lost: the second would say gone of
// what the first moved.
func (c *httpClient) Replay(ctx context.Context, id, queue, partition string) (outcome, error) {
	if err := addressable(id); err != nil {
		return outcome{DlqID: id, Result: "gone"}, nil
	}
	request := rest.ReplayRequest{Queue: optional(queue), Partition: optional(partition)}
	body, err := c.call(ctx, repeatUnsent, func(ctx context.Context) (*http.Response, error) {
		return c.ReplayDeadLetter(lingering(ctx, answerLinger), id, request)
	})
	return replayed(id, "replay "+id, body, err)
}

// replayed reads the answer to a replay of a dead letter.
func replayed(id, verb string, body []byte, err error) (outcome, error) {
	var status *statusError
	switch {
	case errors.As(err, &status) && status.status == http.StatusNotFound:
		return outcome{DlqID: id, Result: "gone"}, nil
	case errors.As(err, &status) && status.result == "failed":
		return outcome{DlqID: id, Result: "failed", Error: status.text}, nil
	case err != nil:
		return outcome{}, fmt.Errorf("%s: %w", verb, err)
	}
	var answer struct {
		outcome
		OriginalTransactionID string `json:"originalTransactionId"`
		ReplayedAs            struct {
			Offset *int64 `json:"offset"`
		} `json:"replayedAs"`
	}
	err = decode(body, &answer)
	answer.TransactionID, answer.Offset = answer.OriginalTransactionID, answer.ReplayedAs.Offset
	return answer.explained(), err
}

// explained adds a reason where the API's answer has only the result.
func (o outcome) explained() outcome {
	if o.Result == "duplicate" && o.Error == "" {
		o.Error = "the partition already has a message with this transactionId; the dead letter is kept"
	}
	return o
}

// Redrive lists all that the filter chooses, then replays each by a call of its own,
// oldest first: the API has no other way.
func (c *httpClient) Redrive(ctx context.Context, f letterFilter, step int, dryRun bool, each func(done []outcome, of int) error) error {
	letters, err := allLetters(ctx, c, f)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(letters, step) {
		done, err := c.replayAll(ctx, part, dryRun)
		if err := errors.Join(err, each(done, len(letters))); err != nil {
			return err
		}
	}
	return nil
}

// redriveInFlight is how many replays may wait for their answers at a time.
const redriveInFlight = 8

// replayAll replays dead letters of several partitions side by side, those of one
// partition one after the other, which keeps their order. The outcomes come in the
// order of the letters. After a failure nothing is begun any more; what was under
// way is waited for, and told.
func (c *httpClient) replayAll(ctx context.Context, letters []deadLetter, dryRun bool) ([]outcome, error) {
	outcomes := make([]outcome, len(letters))
	lanes := map[string][]int{}
	for i, l := range letters {
		lanes[l.PartitionID] = append(lanes[l.PartitionID], i)
		if dryRun {
			outcomes[i] = l.movable()
		}
	}
	if dryRun {
		return outcomes, nil
	}
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(redriveInFlight)
	for i, l := range letters {
		if lane := lanes[l.PartitionID]; lane[0] == i {
			group.Go(func() error { return c.replayLane(ctx, going, letters, lane, outcomes) })
		}
	}
	err := group.Wait()
	return slices.DeleteFunc(outcomes, func(o outcome) bool { return o.Result == "" }), err
}

// movable is the outcome of a dry run. The list shows a payload that was lost as
// null; whether it is one, a replay finds out.
func (l deadLetter) movable() outcome {
	o := outcome{DlqID: l.ID, Result: "movable"}.of(l)
	if string(l.Data) == "null" {
		o.Error = "its payload is null, or was lost before it failed: then it will be kept"
	}
	return o
}

// replayLane replays the letters of one partition as long as the others go on.
func (c *httpClient) replayLane(ctx, going context.Context, letters []deadLetter, lane []int, outcomes []outcome) error {
	for _, i := range lane {
		if going.Err() != nil {
			return going.Err()
		}
		o, err := c.Replay(ctx, letters[i].ID, "", "")
		if err != nil {
			return err
		}
		outcomes[i] = o.of(letters[i])
	}
	return nil
}

// of fills in what only the list knows.
func (o outcome) of(l deadLetter) outcome {
	o.Queue, o.Partition, o.ConsumerGroup, o.TransactionID, o.FailedAt = l.Queue, l.Partition, l.ConsumerGroup, l.TransactionID, l.FailedAt
	return o
}

// allLetters are the dead letters that a filter chooses, oldest first, without
// their payloads but for null. What is filed or moved meanwhile may be missed: ask again.
func allLetters(ctx context.Context, c client, f letterFilter) (all []deadLetter, err error) {
	known := map[string]bool{}
	for offset := 0; ; offset += maxPage {
		page, err := c.DeadLetters(ctx, f, maxPage, offset)
		if err != nil {
			return nil, err
		}
		for _, l := range page {
			if string(l.Data) != "null" {
				l.Data = nil
			}
			if f.chooses(l) && !known[l.ID] {
				known[l.ID] = true
				all = append(all, l)
			}
		}
		if len(page) < maxPage {
			slices.Reverse(all)
			return all, nil
		}
	}
}

// chooses judges what the API's list does not.
func (f letterFilter) chooses(l deadLetter) bool {
	return (f.partition == "" || l.Partition == f.partition) && strings.Contains(text(l.ErrorMessage), f.reason) &&
		(f.since == nil || !l.FailedAt.Before(*f.since)) && (f.until == nil || l.FailedAt.Before(*f.until))
}

func (c *sqlClient) DeadLetters(ctx context.Context, f letterFilter, limit, offset int) ([]deadLetter, error) {
	arg := db.ListDeadLettersParams{Queue: optional(f.queue), ConsumerGroup: optional(f.group), MaxRows: int32(limit), Skip: int32(offset), TenantID: ownTenant()}
	var rows []db.DeadLetterRow
	err := c.run(ctx, repeatAny, func() (err error) {
		rows, err = c.queries.ListDeadLetters(ctx, arg)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	letters := make([]deadLetter, len(rows))
	for i, r := range rows {
		letters[i] = deadLetter{ID: r.ID.String(), TransactionID: r.TransactionID, PartitionID: r.PartitionID.String(), Queue: r.Queue, Partition: r.Partition,
			ConsumerGroup: r.ConsumerGroup, ErrorMessage: r.Error, RetryCount: int(r.RetryCount), FailedAt: r.FailedAt.UTC(), Data: json.RawMessage("null")}
		if r.Payload != nil && json.Valid([]byte(*r.Payload)) {
			letters[i].Data = json.RawMessage(*r.Payload)
		} else if r.Payload != nil {
			letters[i].Data = jsonText(*r.Payload)
		}
	}
	return letters, nil
}

func (c *sqlClient) DeleteDeadLetters(ctx context.Context, f letterFilter) (total int, err error) {
	const step = 10_000
	for deleted := int32(step); deleted == step; total += int(deleted) {
		err = c.run(ctx, repeatUnsent, func() (err error) {
			deleted, err = c.queries.DeleteDeadLetters(ctx, db.DeleteDeadLettersParams{Queue: f.queue, ConsumerGroup: optional(f.group), MaxRows: step, TenantID: ownTenant()})
			return err
		})
		if err != nil {
			return total, fmt.Errorf("delete dead letters of %q: %w", f.queue, err)
		}
	}
	return total, nil
}

func (c *sqlClient) Replay(ctx context.Context, id, queue, partition string) (outcome, error) {
	letter, err := uuid.Parse(id)
	if err != nil {
		return outcome{DlqID: id, Result: "gone"}, nil
	}
	var row db.ReplayRow
	err = c.run(ctx, repeatUnsent, func() (err error) {
		row, err = c.queries.ReplayDeadLetter(ctx, db.ReplayDeadLetterParams{ID: letter, Queue: optional(queue), Partition: optional(partition), TenantID: ownTenant()})
		return err
	})
	if err != nil {
		return outcome{}, fmt.Errorf("replay %s: %w", id, err)
	}
	return sqlOutcome(row), nil
}

func sqlOutcome(r db.ReplayRow) outcome {
	return outcome{DlqID: r.DlqID.String(), Result: r.Result, Queue: r.Queue, Partition: r.Partition, ConsumerGroup: r.ConsumerGroup,
		TransactionID: r.TransactionID, FailedAt: r.FailedAt.UTC(), Offset: r.Offset, Error: text(r.Error)}
}

// Redrive goes step by step; each is a transaction of its own. What a step found
// in somebody's hands is replayed alone, which waits.
func (c *sqlClient) Redrive(ctx context.Context, f letterFilter, step int, dryRun bool, each func(done []outcome, of int) error) error {
	arg := db.RedriveDeadLettersStepParams{Queue: optional(f.queue), ConsumerGroup: optional(f.group), Partition: optional(f.partition), Error: optional(f.reason),
		Since: f.since, Until: f.until, MaxRows: int32(step), DryRun: dryRun, TenantID: ownTenant()}
	for {
		var rows []db.ReplayRow
		err := c.run(ctx, repeatUnsent, func() (err error) {
			rows, err = c.queries.RedriveDeadLettersStep(ctx, arg)
			return err
		})
		if err != nil {
			return fmt.Errorf("redrive: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		done, err := c.settleBusy(ctx, rows)
		if err := errors.Join(err, each(done, 0)); err != nil {
			return err
		}
		last := rows[len(rows)-1]
		arg.AfterFailedAt, arg.AfterID = &last.FailedAt, &last.DlqID
	}
}

func (c *sqlClient) settleBusy(ctx context.Context, rows []db.ReplayRow) ([]outcome, error) {
	done := make([]outcome, 0, len(rows))
	for _, r := range rows {
		o := sqlOutcome(r)
		if o.Result == "busy" {
			alone, err := c.Replay(ctx, o.DlqID, "", "")
			if err != nil {
				return done, err
			}
			o.Result, o.Error, o.Offset = alone.Result, alone.Error, alone.Offset
		}
		done = append(done, o)
	}
	return done, nil
}
