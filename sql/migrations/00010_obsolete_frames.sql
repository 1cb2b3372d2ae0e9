-- +goose Up

-- So that a rewrite need not ask the map of keys about each frame. Null in rows from before: it asks then.
ALTER TABLE queen.log_dirty ADD COLUMN gone bit varying;
COMMENT ON TABLE queen.log_dirty IS 'Segments that the compactor has to rewrite: obsolete, some frame has a newer one of its key, and bit k of gone says of the frame at base_offset + k that it has; tombstones, some frame is the newest of its key and a tombstone, which goes when it is old enough.';
