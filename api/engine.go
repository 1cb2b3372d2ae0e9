package api

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"regent.local/regent/db"
)

// querier is every generated call of a stored function.
type querier interface {
	db.Querier
	Push(context.Context, pushParams) ([]pushRow, error)
	Pop(context.Context, popParams) ([]popRow, error)
	Ack(context.Context, ackParams) ([]ackRow, error)
	ExtendLease(context.Context, extendLeaseParams) (leaseRow, error)
	Pending(context.Context, pendingParams) ([]int32, error)
	PopFill(context.Context, popFillParams) (popFillRow, error)
}

// newQuerier binds the generated calls to one connection.
func newQuerier(conn *pgxpool.Conn) querier { return unwired{db.New(conn)} }

type pushParams struct {
	Queues         []string
	Partitions     []string
	Counts         []int32
	Payloads       []string
	TransactionIds []*string
	Keys           []*string
	Nonces         []int64
	SkipLocked     bool
	TenantID       uuid.UUID
	TraceIds       []*string
	ProducerSubs   []*string
}

type pushRow struct {
	Grp         int32
	Status      string
	PartitionID *uuid.UUID
	BaseOffset  int64
	IDBase      *uuid.UUID
	CreatedAt   *time.Time
	Frames      int32
	FirstItem   int32
	Items       []int32
	ItemIds     []uuid.UUID
	ItemOffsets []int64
	Code        *string
	Error       *string
}

type popParams struct {
	Queue            string
	Partition        *string
	ConsumerGroup    *string
	Batch            int32
	MaxPartitions    int32
	LeaseSeconds     *int32
	AutoAck          bool
	SubscriptionMode *string
	SubscriptionFrom *string
	TenantID         uuid.UUID
}

type popRow struct {
	PartitionID     uuid.UUID
	Partition       string
	LeaseID         string
	LeaseExpiresAt  *time.Time
	DeliveryAttempt int32
	CreatedAt       time.Time
	IDBase          uuid.UUID
	SegmentBase     int64
	FirstOffset     int64
	LastOffset      int64
	Payloads        []string
	TransactionIds  []*string
	Keys            []*string
	TraceIds        []*string
	ProducerSubs    []*string
	Offsets         []int64
}

type ackParams struct {
	PartitionIds   []uuid.UUID
	ConsumerGroups []string
	LeaseIds       []*string
	Counts         []int32
	TransactionIds []string
	Statuses       []string
	Errors         []*string
	RequireLease   bool
	TenantID       uuid.UUID
}

type ackRow struct {
	Item          int32
	Success       bool
	Error         *string
	LeaseReleased bool
	Dlq           bool
	Noop          bool
}

type extendLeaseParams struct {
	LeaseID  string
	Seconds  int32
	TenantID uuid.UUID
}

type leaseRow struct {
	Renewed   int32
	ExpiresAt *time.Time
}

type pendingParams struct {
	Queues         []string
	Partitions     []*string
	ConsumerGroups []string
	TenantIds      []uuid.UUID
}

type popFillParams struct {
	Queue         string
	Partition     *string
	ConsumerGroup string
	Batch         int32
	TenantID      uuid.UUID
}

type popFillRow struct {
	MinPopWaitTime int32
	Available      int64
}

var errUnwired = errors.New("this call is not generated yet")

type unwired struct{ *db.Queries }

func (unwired) Push(context.Context, pushParams) ([]pushRow, error) { return nil, errUnwired }
func (unwired) Pop(context.Context, popParams) ([]popRow, error)    { return nil, errUnwired }
func (unwired) Ack(context.Context, ackParams) ([]ackRow, error)    { return nil, errUnwired }
func (unwired) ExtendLease(context.Context, extendLeaseParams) (leaseRow, error) {
	return leaseRow{}, errUnwired
}
func (unwired) Pending(context.Context, pendingParams) ([]int32, error) { return nil, errUnwired }
func (unwired) PopFill(context.Context, popFillParams) (popFillRow, error) {
	return popFillRow{}, errUnwired
}
