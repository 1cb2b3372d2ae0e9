-- The schema itself is made by package migrate before the first migration; sqlc must be told.
CREATE SCHEMA queen;
