package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db"
)

// RetentionPreview is what the next sweep would delete from a queue.
type RetentionPreview struct {
	Queue       string             `json:"queue" example:"orders"`
	At          string             `json:"at" format:"date-time" doc:"The reading of the clock that all times of rules come from." example:"2026-07-30T09:00:00.000Z"`
	Rules       RetentionRules     `json:"rules"`
	WouldDelete []RetentionRuleSum `json:"wouldDelete" doc:"Sums by rule; none when nothing would go."`
	Totals      RetentionSums      `json:"totals"`
	Hashes      RetentionHashes    `json:"hashes" doc:"Old transaction ids that would be forgotten; no message goes by that."`
	Partitions  []RetentionCut     `json:"partitions" doc:"At most 1000 of the runs that would go, by partition."`
	Complete    bool               `json:"complete" doc:"False when there is more than the preview looked at: 10000 partitions, 100000 segments in each."`
}

// RetentionRules are the limits in force now; null is off.
type RetentionRules struct {
	AgeBefore       *string `json:"ageBefore" nullable:"true" format:"date-time" doc:"retentionSeconds: older messages go, read or not."`
	CompletedBefore *string `json:"completedBefore" nullable:"true" format:"date-time" doc:"completedRetentionSeconds: older messages go that every group has consumed."`
	EvictBefore     *string `json:"evictBefore" nullable:"true" format:"date-time" doc:"maxWaitTimeSeconds: older messages go, whatever holds them."`
	HashesBefore    *string `json:"hashesBefore" nullable:"true" format:"date-time" doc:"Older transaction ids are forgotten."`
	MaxBytes        *int64  `json:"maxBytes" nullable:"true" doc:"retentionBytes."`
	MaxMessages     *int64  `json:"maxMessages" nullable:"true" doc:"retentionMessages."`
	HoldBefore      *string `json:"holdBefore" nullable:"true" format:"date-time" doc:"How far a sink lets the first two rules go."`
	Hold            *string `json:"hold" nullable:"true" doc:"What decides that: pointer or cap."`
}

// RetentionSums add up what would go.
type RetentionSums struct {
	Partitions int64 `json:"partitions" example:"3"`
	Segments   int64 `json:"segments" example:"12"`
	Messages   int64 `json:"messages" example:"1200"`
	Unread     int64 `json:"unread" doc:"Messages among them that some group has not consumed; all of them when there is no group." example:"0"`
	Bytes      int64 `json:"bytes" doc:"As sent." example:"240000"`
}

// RetentionRuleSum is what one rule would delete.
type RetentionRuleSum struct {
	Rule string `json:"rule" doc:"retention, completed_retention, retention_bytes, retention_messages or max_wait_time_eviction." example:"retention"`
	RetentionSums
}

// RetentionHashes are hash rows that would go.
type RetentionHashes struct {
	Partitions int64 `json:"partitions" example:"3"`
	Rows       int64 `json:"rows" example:"12"`
}

// RetentionCut is a run of whole segments that would go.
type RetentionCut struct {
	Partition   string `json:"partition" example:"customer-7"`
	PartitionID string `json:"partitionId" format:"uuid" example:"0198c0de-0000-7000-8000-000000000001"`
	Rule        string `json:"rule" example:"retention"`
	FirstOffset int64  `json:"firstOffset" example:"0"`
	LastOffset  int64  `json:"lastOffset" example:"399"`
	Segments    int64  `json:"segments" example:"4"`
	Messages    int64  `json:"messages" example:"400"`
	Unread      int64  `json:"unread" example:"0"`
	Bytes       int64  `json:"bytes" example:"80000"`
}

// RetentionSeries is what retention deleted over time.
type RetentionSeries struct {
	TimeRange     RetentionRange     `json:"timeRange"`
	BucketMinutes int32              `json:"bucketMinutes" example:"1"`
	Series        []RetentionBucket  `json:"series" doc:"Oldest bucket first; one without a deletion is left out."`
	Totals        RetentionDeleted   `json:"totals"`
	Rows          []RetentionGrouped `json:"rows,omitempty" doc:"With groupBy: most messages first."`
}

// RetentionRange is the range that an answer covers.
type RetentionRange struct {
	From string `json:"from" format:"date-time" example:"2026-07-30T08:00:00.000Z"`
	To   string `json:"to" format:"date-time" example:"2026-07-30T09:00:00.000Z"`
}

// RetentionDeleted are messages deleted, by rule.
type RetentionDeleted struct {
	RetentionMsgs          int64                        `json:"retentionMsgs" doc:"By retentionSeconds." example:"300"`
	CompletedRetentionMsgs int64                        `json:"completedRetentionMsgs" doc:"By completedRetentionSeconds." example:"0"`
	EvictionMsgs           int64                        `json:"evictionMsgs" doc:"By maxWaitTimeSeconds." example:"0"`
	TotalMsgs              int64                        `json:"totalMsgs" doc:"By all rules, limits of size and compaction included." example:"300"`
	EventCount             int64                        `json:"eventCount" doc:"Steps that deleted." example:"3"`
	Rules                  map[string]RetentionRuleDone `json:"rules" doc:"The same for each rule that deleted something: retention, completed_retention, max_wait_time_eviction, retention_bytes, retention_messages, compaction."`
}

// RetentionRuleDone is what one rule deleted.
type RetentionRuleDone struct {
	Messages int64 `json:"messages" example:"300"`
	Unread   int64 `json:"unread" doc:"Of them, those that some group had not consumed." example:"0"`
	Bytes    int64 `json:"bytes" doc:"As sent." example:"60000"`
	Rows     int64 `json:"rows" doc:"Segments." example:"3"`
}

// RetentionBucket is one bucket of the series.
type RetentionBucket struct {
	Bucket string `json:"bucket" format:"date-time" example:"2026-07-30T09:00:00Z"`
	RetentionDeleted
}

// RetentionGrouped is one namespace, task or queue.
type RetentionGrouped struct {
	Key    string `json:"key" example:"orders"`
	Queues int64  `json:"queues" example:"1"`
	RetentionDeleted
}

type retentionSeriesInput struct {
	From    string `query:"from" doc:"Begin of the range; an hour ago by default." example:"2026-07-30T08:00:00Z"`
	To      string `query:"to" doc:"End of the range; now by default."`
	Queue   string `query:"queue" doc:"Only this queue." example:"orders"`
	GroupBy string `query:"groupBy" doc:"namespace, task or queue: adds rows. Anything else is refused." example:"queue"`
}

// registerRetention adds the preview of retention and the series of what it deleted.
func (s *Server) registerRetention(api huma.API) {
	huma.Register(api, s.queuesOp(huma.Operation{
		OperationID: "get-retention-preview", Method: http.MethodGet, Path: "/api/v1/resources/queues/{queue}/retention-preview",
		Summary:     "What the next sweep would delete from a queue, and by which rule",
		Description: "Deletes nothing. What an edit would bring: configure with dryRun.",
		Responses:   map[string]*huma.Response{"200": jsonReply[RetentionPreview](api, "The preview.", nil)},
	}, http.StatusBadRequest, http.StatusNotFound), s.getRetentionPreview)
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "get-retention-series", Path: "/api/v1/analytics/retention", Summary: "Messages that retention deleted, by rule, over time",
		Description: "Counts are messages, not segments. Goes back METRICS_RETENTION_DAYS.",
		Responses:   map[string]*huma.Response{"200": jsonReply[RetentionSeries](api, "The series.", nil)},
	}, http.StatusBadRequest), s.getRetentionSeries)
}

func (s *Server) getRetentionPreview(ctx context.Context, in *queueInput) (*documentReply, error) {
	if refusal := checkName("queue", in.Queue); refusal != nil {
		return nil, refusal
	}
	return s.shown(ctx, "preview", func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetRetentionPreview(ctx, in.Queue, s.tenant(ctx))
	})
}

func (s *Server) getRetentionSeries(ctx context.Context, in *retentionSeriesInput) (*documentReply, error) {
	refusal := checkNames(named{"queue", in.Queue}, named{"groupBy", in.GroupBy})
	if refusal != nil {
		return nil, refusal
	}
	args := db.GetRetentionSeriesParams{Queue: given(in.Queue), GroupBy: given(in.GroupBy), TenantID: s.tenant(ctx)}
	if args.Since, args.Until, refusal = readRange(in.From, in.To); refusal != nil {
		return nil, refusal
	}
	return s.shown(ctx, "analytics", func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetRetentionSeries(ctx, args)
	})
}
