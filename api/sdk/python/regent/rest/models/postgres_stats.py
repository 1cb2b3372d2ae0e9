from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.postgres_stats_active_queries_item import (
        PostgresStatsActiveQueriesItem,
    )
    from ..models.postgres_stats_autovacuum_status_item import (
        PostgresStatsAutovacuumStatusItem,
    )
    from ..models.postgres_stats_buffer_config import PostgresStatsBufferConfig
    from ..models.postgres_stats_buffer_usage import PostgresStatsBufferUsage
    from ..models.postgres_stats_cache_summary import PostgresStatsCacheSummary
    from ..models.postgres_stats_database import PostgresStatsDatabase
    from ..models.postgres_stats_database_cache import PostgresStatsDatabaseCache
    from ..models.postgres_stats_dead_tuples_item import PostgresStatsDeadTuplesItem
    from ..models.postgres_stats_hot_updates_item import PostgresStatsHotUpdatesItem
    from ..models.postgres_stats_index_cache_item import PostgresStatsIndexCacheItem
    from ..models.postgres_stats_table_cache_item import PostgresStatsTableCacheItem
    from ..models.postgres_stats_table_sizes_item import PostgresStatsTableSizesItem


T = TypeVar("T", bound="PostgresStats")


@_attrs_define
class PostgresStats:
    """
    Attributes:
        active_queries (list[PostgresStatsActiveQueriesItem]): Sessions by state; hidden are those of other roles that
            this one may not see.
        autovacuum_status (list[PostgresStatsAutovacuumStatusItem]):
        buffer_config (PostgresStatsBufferConfig):
        buffer_usage (PostgresStatsBufferUsage):
        cache_summary (PostgresStatsCacheSummary):
        database (PostgresStatsDatabase):
        database_cache (PostgresStatsDatabaseCache):
        dead_tuples (list[PostgresStatsDeadTuplesItem]):
        hot_updates (list[PostgresStatsHotUpdatesItem]):
        index_cache (list[PostgresStatsIndexCacheItem]):
        table_cache (list[PostgresStatsTableCacheItem]): The 20 tables that read most.
        table_sizes (list[PostgresStatsTableSizesItem]): The 20 largest tables of schema queen.
        timestamp (datetime.datetime):
    """

    active_queries: list[PostgresStatsActiveQueriesItem]
    autovacuum_status: list[PostgresStatsAutovacuumStatusItem]
    buffer_config: PostgresStatsBufferConfig
    buffer_usage: PostgresStatsBufferUsage
    cache_summary: PostgresStatsCacheSummary
    database: PostgresStatsDatabase
    database_cache: PostgresStatsDatabaseCache
    dead_tuples: list[PostgresStatsDeadTuplesItem]
    hot_updates: list[PostgresStatsHotUpdatesItem]
    index_cache: list[PostgresStatsIndexCacheItem]
    table_cache: list[PostgresStatsTableCacheItem]
    table_sizes: list[PostgresStatsTableSizesItem]
    timestamp: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        active_queries = []
        for active_queries_item_data in self.active_queries:
            active_queries_item = active_queries_item_data.to_dict()
            active_queries.append(active_queries_item)

        autovacuum_status = []
        for autovacuum_status_item_data in self.autovacuum_status:
            autovacuum_status_item = autovacuum_status_item_data.to_dict()
            autovacuum_status.append(autovacuum_status_item)

        buffer_config = self.buffer_config.to_dict()

        buffer_usage = self.buffer_usage.to_dict()

        cache_summary = self.cache_summary.to_dict()

        database = self.database.to_dict()

        database_cache = self.database_cache.to_dict()

        dead_tuples = []
        for dead_tuples_item_data in self.dead_tuples:
            dead_tuples_item = dead_tuples_item_data.to_dict()
            dead_tuples.append(dead_tuples_item)

        hot_updates = []
        for hot_updates_item_data in self.hot_updates:
            hot_updates_item = hot_updates_item_data.to_dict()
            hot_updates.append(hot_updates_item)

        index_cache = []
        for index_cache_item_data in self.index_cache:
            index_cache_item = index_cache_item_data.to_dict()
            index_cache.append(index_cache_item)

        table_cache = []
        for table_cache_item_data in self.table_cache:
            table_cache_item = table_cache_item_data.to_dict()
            table_cache.append(table_cache_item)

        table_sizes = []
        for table_sizes_item_data in self.table_sizes:
            table_sizes_item = table_sizes_item_data.to_dict()
            table_sizes.append(table_sizes_item)

        timestamp = self.timestamp.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "activeQueries": active_queries,
                "autovacuumStatus": autovacuum_status,
                "bufferConfig": buffer_config,
                "bufferUsage": buffer_usage,
                "cacheSummary": cache_summary,
                "database": database,
                "databaseCache": database_cache,
                "deadTuples": dead_tuples,
                "hotUpdates": hot_updates,
                "indexCache": index_cache,
                "tableCache": table_cache,
                "tableSizes": table_sizes,
                "timestamp": timestamp,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.postgres_stats_active_queries_item import (
            PostgresStatsActiveQueriesItem,  # noqa: PLC0415
        )
        from ..models.postgres_stats_autovacuum_status_item import (
            PostgresStatsAutovacuumStatusItem,  # noqa: PLC0415
        )
        from ..models.postgres_stats_buffer_config import (
            PostgresStatsBufferConfig,  # noqa: PLC0415
        )
        from ..models.postgres_stats_buffer_usage import (
            PostgresStatsBufferUsage,  # noqa: PLC0415
        )
        from ..models.postgres_stats_cache_summary import (
            PostgresStatsCacheSummary,  # noqa: PLC0415
        )
        from ..models.postgres_stats_database import (
            PostgresStatsDatabase,  # noqa: PLC0415
        )
        from ..models.postgres_stats_database_cache import (
            PostgresStatsDatabaseCache,  # noqa: PLC0415
        )
        from ..models.postgres_stats_dead_tuples_item import (
            PostgresStatsDeadTuplesItem,  # noqa: PLC0415
        )
        from ..models.postgres_stats_hot_updates_item import (
            PostgresStatsHotUpdatesItem,  # noqa: PLC0415
        )
        from ..models.postgres_stats_index_cache_item import (
            PostgresStatsIndexCacheItem,  # noqa: PLC0415
        )
        from ..models.postgres_stats_table_cache_item import (
            PostgresStatsTableCacheItem,  # noqa: PLC0415
        )
        from ..models.postgres_stats_table_sizes_item import (
            PostgresStatsTableSizesItem,  # noqa: PLC0415
        )

        d = dict(src_dict)
        active_queries = []
        _active_queries = d.pop("activeQueries")
        for active_queries_item_data in _active_queries:
            active_queries_item = PostgresStatsActiveQueriesItem.from_dict(
                active_queries_item_data
            )

            active_queries.append(active_queries_item)

        autovacuum_status = []
        _autovacuum_status = d.pop("autovacuumStatus")
        for autovacuum_status_item_data in _autovacuum_status:
            autovacuum_status_item = PostgresStatsAutovacuumStatusItem.from_dict(
                autovacuum_status_item_data
            )

            autovacuum_status.append(autovacuum_status_item)

        buffer_config = PostgresStatsBufferConfig.from_dict(d.pop("bufferConfig"))

        buffer_usage = PostgresStatsBufferUsage.from_dict(d.pop("bufferUsage"))

        cache_summary = PostgresStatsCacheSummary.from_dict(d.pop("cacheSummary"))

        database = PostgresStatsDatabase.from_dict(d.pop("database"))

        database_cache = PostgresStatsDatabaseCache.from_dict(d.pop("databaseCache"))

        dead_tuples = []
        _dead_tuples = d.pop("deadTuples")
        for dead_tuples_item_data in _dead_tuples:
            dead_tuples_item = PostgresStatsDeadTuplesItem.from_dict(
                dead_tuples_item_data
            )

            dead_tuples.append(dead_tuples_item)

        hot_updates = []
        _hot_updates = d.pop("hotUpdates")
        for hot_updates_item_data in _hot_updates:
            hot_updates_item = PostgresStatsHotUpdatesItem.from_dict(
                hot_updates_item_data
            )

            hot_updates.append(hot_updates_item)

        index_cache = []
        _index_cache = d.pop("indexCache")
        for index_cache_item_data in _index_cache:
            index_cache_item = PostgresStatsIndexCacheItem.from_dict(
                index_cache_item_data
            )

            index_cache.append(index_cache_item)

        table_cache = []
        _table_cache = d.pop("tableCache")
        for table_cache_item_data in _table_cache:
            table_cache_item = PostgresStatsTableCacheItem.from_dict(
                table_cache_item_data
            )

            table_cache.append(table_cache_item)

        table_sizes = []
        _table_sizes = d.pop("tableSizes")
        for table_sizes_item_data in _table_sizes:
            table_sizes_item = PostgresStatsTableSizesItem.from_dict(
                table_sizes_item_data
            )

            table_sizes.append(table_sizes_item)

        timestamp = datetime.datetime.fromisoformat(d.pop("timestamp"))

        postgres_stats = cls(
            active_queries=active_queries,
            autovacuum_status=autovacuum_status,
            buffer_config=buffer_config,
            buffer_usage=buffer_usage,
            cache_summary=cache_summary,
            database=database,
            database_cache=database_cache,
            dead_tuples=dead_tuples,
            hot_updates=hot_updates,
            index_cache=index_cache,
            table_cache=table_cache,
            table_sizes=table_sizes,
            timestamp=timestamp,
        )

        postgres_stats.additional_properties = d
        return postgres_stats

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
