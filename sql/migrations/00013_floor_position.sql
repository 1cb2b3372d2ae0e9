-- +goose Up

-- Many partitions share a second of last_write_at: with an id the floor of a search can stop among them.
ALTER TABLE queen.consumer_watermarks ADD COLUMN last_empty_scan_id uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL;
COMMENT ON TABLE queen.consumer_watermarks IS 'Where the search for work starts, one row a (queue, group): every partition last written before last_empty_scan_at minus a second, or then and with an id up to last_empty_scan_id, that still owes the group something is in held.';

-- A search notes the clock when nobody else does. That is no sign that the heads are settled.
ALTER TABLE queen.clock_marks ADD COLUMN by_search boolean DEFAULT false NOT NULL;
