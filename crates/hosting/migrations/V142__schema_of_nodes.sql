-- Older servers may run.
-- The newest migration that the server of a node knows. Older servers do not report it.
ALTER TABLE nodes ADD COLUMN schema_version BIGINT NOT NULL DEFAULT 0;
