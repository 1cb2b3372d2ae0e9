package api

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"

	"regent.local/regent/db"
)

type groupInput struct {
	Group string `path:"group" doc:"Name of the consumer group, percent-encoded." example:"billing"`
}

type laggingInput struct {
	MinLagSeconds string `query:"minLagSeconds" doc:"Seconds behind at least, 0 or more; 3600 when absent." example:"3600"`
}

type subscriptionInput struct {
	Group   string `path:"group" doc:"Name of the consumer group, percent-encoded." example:"billing"`
	RawBody []byte `contentType:"application/json"`
}

type seekInput struct {
	Group   string `path:"group" doc:"Name of the consumer group, percent-encoded." example:"billing"`
	Queue   string `path:"queue" doc:"Name of the queue, percent-encoded." example:"orders"`
	RawBody []byte `contentType:"application/json"`
}

type seekPartitionInput struct {
	Group     string `path:"group" doc:"Name of the consumer group, percent-encoded." example:"billing"`
	Queue     string `path:"queue" doc:"Name of the queue, percent-encoded." example:"orders"`
	RawBody   []byte `contentType:"application/json"`
	Partition string `path:"partition" doc:"Name of the partition, percent-encoded." example:"customer-17"`
}

type deleteGroupInput struct {
	Group          string `path:"group" doc:"Name of the consumer group, percent-encoded." example:"billing"`
	DeleteMetadata string `query:"deleteMetadata" doc:"Whether the subscription goes, too: true, false, 1, 0, yes or no. True when absent." example:"true"`
}

type deleteGroupOnQueueInput struct {
	Group          string `path:"group" doc:"Name of the consumer group, percent-encoded." example:"billing"`
	DeleteMetadata string `query:"deleteMetadata" doc:"Whether the subscription goes, too: true, false, 1, 0, yes or no. True when absent." example:"true"`
	Queue          string `path:"queue" doc:"Name of the queue, percent-encoded." example:"orders"`
}

// registerGroups adds the routes about consumer groups.
func (s *Server) registerGroups(api huma.API) {
	const root = "/api/v1/consumer-groups"
	where := jsonBody[SeekRequest](api, "Where to.", seekExample())
	huma.Register(api, s.groupsOp(huma.Operation{
		OperationID: "list-consumer-groups", Method: http.MethodGet, Path: root,
		Summary:     "List all consumer groups, once for each queue",
		Description: "Every group that has a cursor on a partition, with how far it is behind. All numbers are of this moment.",
		Responses:   map[string]*huma.Response{"200": jsonReply[[]ConsumerGroup](api, "By group and queue.", []ConsumerGroup{groupExample()})},
	}), s.listGroups)
	huma.Register(api, s.groupsOp(huma.Operation{
		OperationID: "list-lagging-partitions", Method: http.MethodGet, Path: root + "/lagging",
		Summary:     "List the partitions on which a group is far behind",
		Description: "Of all groups: partitions whose oldest unfinished message is older than minLagSeconds.",
		Responses:   map[string]*huma.Response{"200": jsonReply[[]LaggingPartition](api, "The longest lag first.", nil)},
	}, http.StatusBadRequest), s.listLagging)
	huma.Register(api, s.groupsOp(huma.Operation{
		OperationID: "get-consumer-group", Method: http.MethodGet, Path: root + "/{group}",
		Summary:     "One consumer group in detail, by queue and partition",
		Description: "Where the group stands on each partition that it has a cursor on, and who holds the lease. A group that nobody knows is an empty object, no 404.",
		Responses:   map[string]*huma.Response{"200": jsonReply[ConsumerGroupDetail](api, "By queue; empty for a group without a cursor.", nil)},
	}, http.StatusBadRequest), s.getGroup)
	huma.Register(api, s.groupsOp(huma.Operation{
		OperationID: "update-subscription", Method: http.MethodPost, Path: root + "/{group}/subscription",
		Summary:     "Change where a group begins on partitions it has not touched yet",
		Description: "Moves no cursor; seek does.",
		RequestBody: jsonBody[SubscriptionRequest](api, "The instant.", SubscriptionRequest{SubscriptionTimestamp: "2026-07-30T09:00:00Z"}),
		Responses:   map[string]*huma.Response{"200": jsonReply[SubscriptionResponse](api, "What was moved.", nil)},
	}, http.StatusBadRequest), s.updateSubscription)
	huma.Register(api, s.groupsOp(huma.Operation{
		OperationID: "seek-queue", Method: http.MethodPost, Path: root + "/{group}/queues/{queue}/seek",
		Summary:     "Move a group on all partitions of a queue, to the end or to a time",
		Description: "The one thing that moves cursors back. Leases end: what was in flight may be delivered again, and its acknowledgment is refused.",
		RequestBody: jsonBody[SeekRequest](api, "Where to.", seekExample()),
		Responses: map[string]*huma.Response{"200": jsonReply[SeekResponse](api, "What was moved.",
			SeekResponse{Success: true, ConsumerGroup: "billing", QueueName: "orders", TargetTimestamp: exampleTime(), PartitionsUpdated: 8})},
	}, http.StatusBadRequest, http.StatusNotFound), s.seekQueue)
	huma.Register(api, s.groupsOp(huma.Operation{
		OperationID: "seek-partition", Method: http.MethodPost, Path: root + "/{group}/queues/{queue}/partitions/{partition}/seek",
		Summary:     "Move a group on one partition, to the end or to a time",
		Description: "Without a body: to the end.",
		RequestBody: where,
		Responses:   map[string]*huma.Response{"200": jsonReply[SeekPartitionResponse](api, "What was moved.", nil)},
	}, http.StatusBadRequest, http.StatusNotFound), s.seekPartition)
	where.Required = false
	huma.Register(api, s.groupsOp(huma.Operation{
		OperationID: "delete-consumer-group", Method: http.MethodDelete, Path: root + "/{group}",
		Summary:     "Forget a consumer group on every queue",
		Description: "Also 200 when there is no such group. If it pops again it begins as a new one.",
		Responses:   map[string]*huma.Response{"200": jsonReply[DeleteGroupResponse](api, "What was forgotten.", nil)},
	}, http.StatusBadRequest), s.deleteGroup)
	huma.Register(api, s.groupsOp(huma.Operation{
		OperationID: "delete-consumer-group-on-queue", Method: http.MethodDelete, Path: root + "/{group}/queues/{queue}",
		Summary:     "Forget a consumer group on one queue",
		Description: "Also 200 when there is no such group or queue.",
		Responses:   map[string]*huma.Response{"200": jsonReply[DeleteGroupResponse](api, "What was forgotten.", nil)},
	}, http.StatusBadRequest), s.deleteGroupOnQueue)
}

// groupsOp adds what the operations on groups share.
func (s *Server) groupsOp(op huma.Operation, errors ...int) huma.Operation {
	op.Tags = []string{"groups"}
	op.DefaultStatus = http.StatusOK
	op.Errors = append(errors, http.StatusInternalServerError)
	op.SkipValidateBody = true
	return s.op(op)
}

func (s *Server) listGroups(ctx context.Context, _ *struct{}) (*documentReply, error) {
	return s.shown(ctx, "list", func(ctx context.Context, q querier) ([]byte, error) {
		return q.ListConsumerGroups(ctx, s.tenant(ctx))
	})
}

func (s *Server) listLagging(ctx context.Context, in *laggingInput) (*documentReply, error) {
	seconds := int64(3600)
	if in.MinLagSeconds != "" {
		var err error
		if seconds, err = strconv.ParseInt(in.MinLagSeconds, 10, 64); err != nil {
			return nil, badField("minLagSeconds", "must be an integer")
		}
	}
	return s.shown(ctx, "list", func(ctx context.Context, q querier) ([]byte, error) {
		return q.ListLaggingPartitions(ctx, int32(min(max(seconds, -1), math.MaxInt32)), s.tenant(ctx))
	})
}

func (s *Server) getGroup(ctx context.Context, in *groupInput) (*documentReply, error) {
	if refusal := checkName("consumerGroup", in.Group); refusal != nil {
		return nil, refusal
	}
	return s.shown(ctx, "get", func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetConsumerGroup(ctx, in.Group, s.tenant(ctx))
	})
}

func (s *Server) updateSubscription(ctx context.Context, in *subscriptionInput) (*documentReply, error) {
	if refusal := checkName("consumerGroup", in.Group); refusal != nil {
		return nil, refusal
	}
	var body struct {
		SubscriptionTimestamp *string `json:"subscriptionTimestamp"`
	}
	if err := jsonv2.Unmarshal(in.RawBody, &body); err != nil {
		return nil, badRequest("bad body: " + reasonOf(err))
	}
	if body.SubscriptionTimestamp == nil || *body.SubscriptionTimestamp == "" {
		return nil, badField("subscriptionTimestamp", "is required")
	}
	if fault := textFault(*body.SubscriptionTimestamp); fault != "" {
		return nil, badField("subscriptionTimestamp", fault)
	}
	args := db.UpdateSubscriptionParams{ConsumerGroup: in.Group, Since: *body.SubscriptionTimestamp, TenantID: s.tenant(ctx)}
	return s.document(ctx, "subscription", func(ctx context.Context, q querier) ([]byte, error) {
		return q.UpdateSubscription(ctx, args)
	})
}

func (s *Server) seekQueue(ctx context.Context, in *seekInput) (*documentReply, error) {
	return s.seek(ctx, in, nil, in.RawBody)
}

func (s *Server) seekPartition(ctx context.Context, in *seekPartitionInput) (*documentReply, error) {
	if refusal := checkName("partition", in.Partition); refusal != nil {
		return nil, refusal
	}
	body := in.RawBody
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte(`{"toEnd":true}`)
	}
	return s.seek(ctx, &seekInput{Group: in.Group, Queue: in.Queue}, &in.Partition, body)
}

// seekFailure is a seek that found nothing to move.
type seekFailure struct {
	*failure
	Success           bool   `json:"success"`
	ConsumerGroup     string `json:"consumerGroup,omitempty"`
	QueueName         string `json:"queueName,omitempty"`
	PartitionsUpdated *int64 `json:"partitionsUpdated,omitempty"`
}

// seek moves the cursors and wakes whoever may now find something.
func (s *Server) seek(ctx context.Context, in *seekInput, partition *string, raw []byte) (*documentReply, error) {
	for field, name := range map[string]string{"consumerGroup": in.Group, "queue": in.Queue} {
		if refusal := checkName(field, name); refusal != nil {
			return nil, refusal
		}
	}
	args, refusal := readSeek(raw)
	if refusal != nil {
		return nil, refusal
	}
	args.Queue, args.ConsumerGroup, args.Partition, args.TenantID = in.Queue, in.Group, partition, s.tenant(ctx)
	reply, err := s.document(ctx, "seek", func(ctx context.Context, q querier) ([]byte, error) {
		return q.SeekConsumerGroup(ctx, args)
	})
	if err == nil {
		s.room.moved(args.TenantID, &in.Queue, in.Group)
		s.teller.tell(args.TenantID, in.Queue)
		return reply, nil
	}
	var failed *Error
	if errors.As(err, &failed) && failed.status == http.StatusNotFound {
		missing := &seekFailure{failure: failed}
		if partition == nil {
			missing.ConsumerGroup, missing.QueueName, missing.PartitionsUpdated = in.Group, in.Queue, new(int64)
		}
		return nil, missing
	}
	return nil, err
}

// readSeek reads the body of a seek.
func readSeek(raw []byte) (args db.SeekConsumerGroupParams, refusal *Error) {
	var body SeekRequest
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := jsonv2.Unmarshal(raw, &body); err != nil {
			return args, badRequest("bad body: " + reasonOf(err))
		}
	}
	args.ToEnd = body.ToEnd != nil && *body.ToEnd
	switch {
	case args.ToEnd:
	case body.Timestamp == nil || *body.Timestamp == "":
		refusal = badRequest("Must specify toEnd=true or a timestamp")
	default:
		args.Since = body.Timestamp
		if fault := textFault(*body.Timestamp); fault != "" {
			refusal = badField("timestamp", fault)
		}
	}
	return args, refusal
}

func (s *Server) deleteGroup(ctx context.Context, in *deleteGroupInput) (*documentReply, error) {
	return s.forget(ctx, in, nil)
}

func (s *Server) deleteGroupOnQueue(ctx context.Context, in *deleteGroupOnQueueInput) (*documentReply, error) {
	if refusal := checkName("queue", in.Queue); refusal != nil {
		return nil, refusal
	}
	return s.forget(ctx, &deleteGroupInput{Group: in.Group, DeleteMetadata: in.DeleteMetadata}, &in.Queue)
}

// forget removes a group; a pop that waits for it begins anew.
func (s *Server) forget(ctx context.Context, in *deleteGroupInput, queue *string) (*documentReply, error) {
	if refusal := checkName("consumerGroup", in.Group); refusal != nil {
		return nil, refusal
	}
	args := db.DeleteConsumerGroupParams{ConsumerGroup: in.Group, Queue: queue, TenantID: s.tenant(ctx)}
	switch strings.ToLower(in.DeleteMetadata) {
	case "", "true", "1", "yes":
		args.DeleteMetadata = true
	case "false", "0", "no":
	default:
		return nil, badField("deleteMetadata", "must be true or false")
	}
	reply, err := s.document(ctx, "delete", func(ctx context.Context, q querier) ([]byte, error) {
		return q.DeleteConsumerGroup(ctx, args)
	})
	if err == nil {
		s.room.moved(args.TenantID, queue, in.Group)
	}
	return reply, err
}
