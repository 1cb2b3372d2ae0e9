"""Contains all the data models used in inputs/outputs"""

from .ack_batch_request import AckBatchRequest
from .ack_item import AckItem
from .ack_request import AckRequest
from .ack_result import AckResult
from .browsed_message import BrowsedMessage
from .browsed_message_queue_status import BrowsedMessageQueueStatus
from .browsed_message_status import BrowsedMessageStatus
from .buffer_stats import BufferStats
from .buffers import Buffers
from .bus_status import BusStatus
from .changed_entry import ChangedEntry
from .changed_entry_error import ChangedEntryError
from .changed_partition import ChangedPartition
from .changed_query import ChangedQuery
from .changed_request import ChangedRequest
from .changed_response import ChangedResponse
from .configure_options import ConfigureOptions
from .configure_request import ConfigureRequest
from .configure_request_mode import ConfigureRequestMode
from .configure_response import ConfigureResponse
from .configure_response_storage import ConfigureResponseStorage
from .consumed_cursor import ConsumedCursor
from .consumed_queue import ConsumedQueue
from .consumer_group import ConsumerGroup
from .consumer_group_partition import ConsumerGroupPartition
from .consumer_group_queue import ConsumerGroupQueue
from .consumer_group_state import ConsumerGroupState
from .consumer_group_storage import ConsumerGroupStorage
from .day_count import DayCount
from .dead_letter import DeadLetter
from .dead_letter_list import DeadLetterList
from .dead_letter_signatures import DeadLetterSignatures
from .delete_dead_letters_response import DeleteDeadLettersResponse
from .delete_group_response import DeleteGroupResponse
from .delete_message_response import DeleteMessageResponse
from .delete_queue_response import DeleteQueueResponse
from .delivered_lag import DeliveredLag
from .error import Error
from .error_signature import ErrorSignature
from .extend_request import ExtendRequest
from .extend_response import ExtendResponse
from .failed_files import FailedFiles
from .fetch_entry import FetchEntry
from .fetch_request import FetchRequest
from .fetch_response import FetchResponse
from .fetched_entry import FetchedEntry
from .fetched_entry_error import FetchedEntryError
from .fetched_record import FetchedRecord
from .get_consumer_group_response_200 import GetConsumerGroupResponse200
from .group_count import GroupCount
from .health import Health
from .health_database import HealthDatabase
from .health_status import HealthStatus
from .label_messages import LabelMessages
from .lag_numbers import LagNumbers
from .lagging_partition import LaggingPartition
from .latest_message import LatestMessage
from .leaf import Leaf
from .letter_error import LetterError
from .logged_out import LoggedOut
from .maintenance_status import MaintenanceStatus
from .me import Me
from .memory_metrics import MemoryMetrics
from .message_consumer import MessageConsumer
from .message_detail import MessageDetail
from .message_detail_status import MessageDetailStatus
from .message_list import MessageList
from .message_mode import MessageMode
from .message_mode_type import MessageModeType
from .message_point import MessagePoint
from .message_series import MessageSeries
from .message_series_interval import MessageSeriesInterval
from .missing_dead_letter import MissingDeadLetter
from .missing_dead_letter_result import MissingDeadLetterResult
from .missing_message import MissingMessage
from .my_cluster import MyCluster
from .named_trace import NamedTrace
from .named_trace_list import NamedTraceList
from .namespace_list import NamespaceList
from .namespace_numbers import NamespaceNumbers
from .overview import Overview
from .overview_lag import OverviewLag
from .overview_messages import OverviewMessages
from .overview_throughput import OverviewThroughput
from .pagination import Pagination
from .parked_point import ParkedPoint
from .parked_replicas import ParkedReplicas
from .partition_depth import PartitionDepth
from .partition_liveness import PartitionLiveness
from .partition_status import PartitionStatus
from .pool_metrics import PoolMetrics
from .pop_response import PopResponse
from .pop_switch import PopSwitch
from .popped_message import PoppedMessage
from .postgres_stats import PostgresStats
from .postgres_stats_active_queries_item import PostgresStatsActiveQueriesItem
from .postgres_stats_autovacuum_status_item import PostgresStatsAutovacuumStatusItem
from .postgres_stats_buffer_config import PostgresStatsBufferConfig
from .postgres_stats_buffer_usage import PostgresStatsBufferUsage
from .postgres_stats_cache_summary import PostgresStatsCacheSummary
from .postgres_stats_database import PostgresStatsDatabase
from .postgres_stats_database_cache import PostgresStatsDatabaseCache
from .postgres_stats_dead_tuples_item import PostgresStatsDeadTuplesItem
from .postgres_stats_hot_updates_item import PostgresStatsHotUpdatesItem
from .postgres_stats_index_cache_item import PostgresStatsIndexCacheItem
from .postgres_stats_table_cache_item import PostgresStatsTableCacheItem
from .postgres_stats_table_sizes_item import PostgresStatsTableSizesItem
from .probe import Probe
from .probe_status import ProbeStatus
from .process_metrics import ProcessMetrics
from .processor_shares import ProcessorShares
from .push_item import PushItem
from .push_request import PushRequest
from .push_result import PushResult
from .push_result_status import PushResultStatus
from .push_switch_result import PushSwitchResult
from .queue_counts import QueueCounts
from .queue_depth import QueueDepth
from .queue_detail import QueueDetail
from .queue_identity import QueueIdentity
from .queue_lag_point import QueueLagPoint
from .queue_list import QueueList
from .queue_liveness import QueueLiveness
from .queue_ops import QueueOps
from .queue_ops_point import QueueOpsPoint
from .queue_options import QueueOptions
from .queue_partition import QueuePartition
from .queue_segments import QueueSegments
from .queue_settings import QueueSettings
from .queue_status import QueueStatus
from .queue_status_config import QueueStatusConfig
from .queue_status_item import QueueStatusItem
from .queue_status_list import QueueStatusList
from .queue_status_totals_doc import QueueStatusTotalsDoc
from .queue_summary import QueueSummary
from .queue_totals_list import QueueTotalsList
from .replay_failure import ReplayFailure
from .replay_failure_result import ReplayFailureResult
from .replay_request import ReplayRequest
from .replay_response import ReplayResponse
from .replay_response_result import ReplayResponseResult
from .replayed_as import ReplayedAs
from .replayed_as_status import ReplayedAsStatus
from .replica import Replica
from .request_counts import RequestCounts
from .request_efficiency import RequestEfficiency
from .retention_bucket import RetentionBucket
from .retention_bucket_rules import RetentionBucketRules
from .retention_cut import RetentionCut
from .retention_deleted import RetentionDeleted
from .retention_deleted_rules import RetentionDeletedRules
from .retention_grouped import RetentionGrouped
from .retention_grouped_rules import RetentionGroupedRules
from .retention_hashes import RetentionHashes
from .retention_preview import RetentionPreview
from .retention_range import RetentionRange
from .retention_rule_done import RetentionRuleDone
from .retention_rule_sum import RetentionRuleSum
from .retention_rules import RetentionRules
from .retention_series import RetentionSeries
from .retention_sums import RetentionSums
from .retry_count import RetryCount
from .seek_partition_response import SeekPartitionResponse
from .seek_request import SeekRequest
from .seek_response import SeekResponse
from .segment_place import SegmentPlace
from .server_status import ServerStatus
from .server_status_status import ServerStatusStatus
from .shared_state import SharedState
from .stats_summary import StatsSummary
from .stats_summary_engine import StatsSummaryEngine
from .stats_summary_namespaces_struct import StatsSummaryNamespacesStruct
from .stats_summary_system_struct import StatsSummarySystemStruct
from .stats_summary_tasks_struct import StatsSummaryTasksStruct
from .status import Status
from .status_errors import StatusErrors
from .status_leases import StatusLeases
from .status_letters import StatusLetters
from .status_messages import StatusMessages
from .status_worker import StatusWorker
from .stored_counts import StoredCounts
from .subscription_request import SubscriptionRequest
from .subscription_response import SubscriptionResponse
from .switch import Switch
from .system_metrics import SystemMetrics
from .system_point import SystemPoint
from .system_replica import SystemReplica
from .system_values import SystemValues
from .system_values_cpu_struct import SystemValuesCPUStruct
from .system_values_database_struct import SystemValuesDatabaseStruct
from .system_values_memory_struct import SystemValuesMemoryStruct
from .system_values_shared_state_struct import SystemValuesSharedStateStruct
from .task_list import TaskList
from .task_numbers import TaskNumbers
from .throughput import Throughput
from .throughput_point import ThroughputPoint
from .time_range import TimeRange
from .trace import Trace
from .trace_list import TraceList
from .trace_name import TraceName
from .trace_name_list import TraceNameList
from .trace_refusal import TraceRefusal
from .trace_request import TraceRequest
from .trace_response import TraceResponse
from .transaction_item import TransactionItem
from .transaction_operation import TransactionOperation
from .transaction_operation_type import TransactionOperationType
from .transaction_request import TransactionRequest
from .transaction_response import TransactionResponse
from .transaction_response_reason import TransactionResponseReason
from .transaction_result import TransactionResult
from .transaction_result_type import TransactionResultType
from .worker_metrics import WorkerMetrics
from .worker_point import WorkerPoint
from .worker_status import WorkerStatus
from .worker_summary import WorkerSummary
from .workload import Workload
from .workload_now import WorkloadNow
from .workload_row import WorkloadRow
from .workload_series import WorkloadSeries
from .workload_sums import WorkloadSums
from .workload_window import WorkloadWindow

__all__ = (
    "AckBatchRequest",
    "AckItem",
    "AckRequest",
    "AckResult",
    "BrowsedMessage",
    "BrowsedMessageQueueStatus",
    "BrowsedMessageStatus",
    "Buffers",
    "BufferStats",
    "BusStatus",
    "ChangedEntry",
    "ChangedEntryError",
    "ChangedPartition",
    "ChangedQuery",
    "ChangedRequest",
    "ChangedResponse",
    "ConfigureOptions",
    "ConfigureRequest",
    "ConfigureRequestMode",
    "ConfigureResponse",
    "ConfigureResponseStorage",
    "ConsumedCursor",
    "ConsumedQueue",
    "ConsumerGroup",
    "ConsumerGroupPartition",
    "ConsumerGroupQueue",
    "ConsumerGroupState",
    "ConsumerGroupStorage",
    "DayCount",
    "DeadLetter",
    "DeadLetterList",
    "DeadLetterSignatures",
    "DeleteDeadLettersResponse",
    "DeleteGroupResponse",
    "DeleteMessageResponse",
    "DeleteQueueResponse",
    "DeliveredLag",
    "Error",
    "ErrorSignature",
    "ExtendRequest",
    "ExtendResponse",
    "FailedFiles",
    "FetchedEntry",
    "FetchedEntryError",
    "FetchedRecord",
    "FetchEntry",
    "FetchRequest",
    "FetchResponse",
    "GetConsumerGroupResponse200",
    "GroupCount",
    "Health",
    "HealthDatabase",
    "HealthStatus",
    "LabelMessages",
    "LaggingPartition",
    "LagNumbers",
    "LatestMessage",
    "Leaf",
    "LetterError",
    "LoggedOut",
    "MaintenanceStatus",
    "Me",
    "MemoryMetrics",
    "MessageConsumer",
    "MessageDetail",
    "MessageDetailStatus",
    "MessageList",
    "MessageMode",
    "MessageModeType",
    "MessagePoint",
    "MessageSeries",
    "MessageSeriesInterval",
    "MissingDeadLetter",
    "MissingDeadLetterResult",
    "MissingMessage",
    "MyCluster",
    "NamedTrace",
    "NamedTraceList",
    "NamespaceList",
    "NamespaceNumbers",
    "Overview",
    "OverviewLag",
    "OverviewMessages",
    "OverviewThroughput",
    "Pagination",
    "ParkedPoint",
    "ParkedReplicas",
    "PartitionDepth",
    "PartitionLiveness",
    "PartitionStatus",
    "PoolMetrics",
    "PoppedMessage",
    "PopResponse",
    "PopSwitch",
    "PostgresStats",
    "PostgresStatsActiveQueriesItem",
    "PostgresStatsAutovacuumStatusItem",
    "PostgresStatsBufferConfig",
    "PostgresStatsBufferUsage",
    "PostgresStatsCacheSummary",
    "PostgresStatsDatabase",
    "PostgresStatsDatabaseCache",
    "PostgresStatsDeadTuplesItem",
    "PostgresStatsHotUpdatesItem",
    "PostgresStatsIndexCacheItem",
    "PostgresStatsTableCacheItem",
    "PostgresStatsTableSizesItem",
    "Probe",
    "ProbeStatus",
    "ProcessMetrics",
    "ProcessorShares",
    "PushItem",
    "PushRequest",
    "PushResult",
    "PushResultStatus",
    "PushSwitchResult",
    "QueueCounts",
    "QueueDepth",
    "QueueDetail",
    "QueueIdentity",
    "QueueLagPoint",
    "QueueList",
    "QueueLiveness",
    "QueueOps",
    "QueueOpsPoint",
    "QueueOptions",
    "QueuePartition",
    "QueueSegments",
    "QueueSettings",
    "QueueStatus",
    "QueueStatusConfig",
    "QueueStatusItem",
    "QueueStatusList",
    "QueueStatusTotalsDoc",
    "QueueSummary",
    "QueueTotalsList",
    "ReplayedAs",
    "ReplayedAsStatus",
    "ReplayFailure",
    "ReplayFailureResult",
    "ReplayRequest",
    "ReplayResponse",
    "ReplayResponseResult",
    "Replica",
    "RequestCounts",
    "RequestEfficiency",
    "RetentionBucket",
    "RetentionBucketRules",
    "RetentionCut",
    "RetentionDeleted",
    "RetentionDeletedRules",
    "RetentionGrouped",
    "RetentionGroupedRules",
    "RetentionHashes",
    "RetentionPreview",
    "RetentionRange",
    "RetentionRuleDone",
    "RetentionRules",
    "RetentionRuleSum",
    "RetentionSeries",
    "RetentionSums",
    "RetryCount",
    "SeekPartitionResponse",
    "SeekRequest",
    "SeekResponse",
    "SegmentPlace",
    "ServerStatus",
    "ServerStatusStatus",
    "SharedState",
    "StatsSummary",
    "StatsSummaryEngine",
    "StatsSummaryNamespacesStruct",
    "StatsSummarySystemStruct",
    "StatsSummaryTasksStruct",
    "Status",
    "StatusErrors",
    "StatusLeases",
    "StatusLetters",
    "StatusMessages",
    "StatusWorker",
    "StoredCounts",
    "SubscriptionRequest",
    "SubscriptionResponse",
    "Switch",
    "SystemMetrics",
    "SystemPoint",
    "SystemReplica",
    "SystemValues",
    "SystemValuesCPUStruct",
    "SystemValuesDatabaseStruct",
    "SystemValuesMemoryStruct",
    "SystemValuesSharedStateStruct",
    "TaskList",
    "TaskNumbers",
    "Throughput",
    "ThroughputPoint",
    "TimeRange",
    "Trace",
    "TraceList",
    "TraceName",
    "TraceNameList",
    "TraceRefusal",
    "TraceRequest",
    "TraceResponse",
    "TransactionItem",
    "TransactionOperation",
    "TransactionOperationType",
    "TransactionRequest",
    "TransactionResponse",
    "TransactionResponseReason",
    "TransactionResult",
    "TransactionResultType",
    "WorkerMetrics",
    "WorkerPoint",
    "WorkerStatus",
    "WorkerSummary",
    "Workload",
    "WorkloadNow",
    "WorkloadRow",
    "WorkloadSeries",
    "WorkloadSums",
    "WorkloadWindow",
)
