/*
 * Purpose:     let the roles of the house call what is theirs, where those roles exist: queen_reader looks,
 *              queen_writer pushes, pops and acks, queen_admin configures and deletes, queen_server does all of it for
 *              any tenant. Nobody else may call anything, and nobody needs a right on a table of messages.
 * Locks:       none.  Isolation: any.  Volatility: none.  Bounds: none.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 2 (999_grants), F189.
 */
-- The doctor reads it too.
CREATE OR REPLACE FUNCTION queen._granted_routines() RETURNS TABLE (grantee text, routine regprocedure)
LANGUAGE sql STABLE AS $$
        SELECT w.grantee, p.oid::regprocedure AS routine
        FROM (VALUES
            ('queen_reader', ARRAY['read_v1', 'partitions_changed_v1', 'list_queues_v1', 'get_queue_v1', 'log_queue_depth_v1',
                'log_queue_stats_all_v1', 'list_dead_letters_v1', 'get_dead_letter_v1', 'list_messages_v1', 'message_mode_v1', 'get_message_v1', 'list_traces_v1',
                'list_traces_by_name_v1', 'list_trace_names_v1']),
            ('queen_writer', ARRAY['push_v1', 'push_many_v1', 'pop_v1', 'ack_v1', 'record_trace_v1', 'read_v1', 'partitions_changed_v1', 'get_queue_v1',
                'log_queue_depth_v1']),
            ('queen_admin', ARRAY['configure_queue_v1', 'delete_queue_v1', 'list_queues_v1', 'get_queue_v1', 'log_queue_depth_v1',
                'log_queue_stats_all_v1', 'read_v1', 'partitions_changed_v1', 'push_v1', 'push_many_v1', 'pop_v1', 'ack_v1', 'run_maintenance_v1',
                'log_settle_heads_step_v1', 'log_mark_clock_v1', 'list_dead_letters_v1', 'get_dead_letter_v1', 'delete_dead_letters_v1', 'replay_dead_letter_v1',
                'redrive_dead_letters_step_v1', 'delete_message_v1', 'retry_message_v1', 'log_purge_dead_letters_step_v1', 'list_messages_v1', 'message_mode_v1', 'get_message_v1',
                'record_trace_v1', 'list_traces_v1', 'list_traces_by_name_v1', 'list_trace_names_v1']),
            ('queen_reader', ARRAY['get_latest_v1']),
            ('queen_writer', ARRAY['get_latest_v1']),
            ('queen_admin', ARRAY['get_latest_v1', 'log_compact_step_v1', 'log_compact_due_v1', 'log_fold_partition_events_step_v1']),
            ('queen_reader', ARRAY['list_consumer_groups_v1', 'list_lagging_partitions_v1', 'get_consumer_group_v1']),
            ('queen_reader', ARRAY['get_overview_v1', 'list_namespaces_v1', 'list_tasks_v1', 'get_status_v1', 'list_stored_queues_v1',
                'get_queue_status_v1', 'get_message_series_v1']),
            ('queen_admin', ARRAY['get_overview_v1', 'list_namespaces_v1', 'list_tasks_v1', 'get_status_v1', 'list_stored_queues_v1',
                'get_queue_status_v1', 'get_message_series_v1', 'log_oldest_pending_at_v1', 'log_refresh_all_stats_v1', 'log_refresh_retained_bytes_v1']),
            ('queen_writer', ARRAY['pop_discovery_v1', 'update_subscription_v1', 'seek_consumer_group_v1']),
            ('queen_admin', ARRAY['pop_discovery_v1', 'list_consumer_groups_v1', 'list_lagging_partitions_v1', 'get_consumer_group_v1',
                'update_subscription_v1', 'seek_consumer_group_v1', 'delete_consumer_group_v1', 'get_maintenance_v1', 'set_maintenance_v1']),
            ('queen_writer', ARRAY['kv_get_v1', 'kv_put_v1']),
            ('queen_admin', ARRAY['kv_get_v1', 'kv_put_v1', 'log_retention_step_v1', 'log_evict_max_wait_step_v1', 'log_purge_hashes_step_v1',
                'log_retention_cutoffs_v1', 'log_forget_groups_step_v1', 'list_partition_pins_v1']),
            ('queen_admin', ARRAY['log_register_task_v1', 'log_claim_task_v1', 'log_renew_task_v1', 'log_release_task_v1', 'log_reclaim_step_v1',
                'log_retention_due_v1', 'log_cleanup_partitions_step_v1', 'log_purge_metrics_step_v1', 'log_walk_watermarks_step_v1', 'get_retention_preview_v1',
                'get_retention_series_v1']),
            ('queen_reader', ARRAY['list_partition_pins_v1', 'get_retention_preview_v1', 'get_retention_series_v1']),
            ('queen_reader', ARRAY['get_queue_lag_v1', 'get_queue_ops_v1', 'get_workload_v1', 'get_queue_parked_replicas_v1', 'get_dead_letter_signatures_v1',
                'get_partition_liveness_v1']),
            ('queen_admin', ARRAY['get_queue_lag_v1', 'get_queue_ops_v1', 'get_workload_v1', 'get_queue_parked_replicas_v1', 'get_dead_letter_signatures_v1',
                'get_partition_liveness_v1', 'get_system_metrics_v1', 'get_worker_metrics_v1', 'get_postgres_stats_v1', 'get_cluster_metrics_v1',
                'list_queue_metrics_v1', 'list_lag_v1', 'list_retained_bytes_v1', 'log_fold_partition_events_step_v1']),
            ('queen_admin', ARRAY['doctor_v1', 'verify_v1', 'verify_partitions_v1', 'list_verify_ranges_v1']),
            ('queen_admin', ARRAY['create_api_key_v1', 'list_api_keys_v1', 'revoke_api_key_v1'])
        ) w (grantee, names)
        JOIN pg_catalog.pg_proc p ON p.pronamespace = 'queen'::regnamespace AND p.proname = ANY (w.names)
        UNION ALL
        SELECT 'queen_server', p.oid::regprocedure
        FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = 'queen'::regnamespace AND p.proname NOT LIKE '\_%'
$$;
REVOKE ALL ON FUNCTION queen._granted_routines() FROM PUBLIC;

DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT g.grantee, g.routine FROM queen._granted_routines() g
    LOOP
        IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = r.grantee) THEN
            EXECUTE format('GRANT USAGE ON SCHEMA queen TO %I', r.grantee);
            EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %I', r.routine, r.grantee);
        END IF;
    END LOOP;
    -- A server checks at its start that the schema is the one it was built for.
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'queen_server') THEN
        GRANT SELECT ON queen.schema_functions, queen.schema_migrations TO queen_server;
    END IF;
END $$;
