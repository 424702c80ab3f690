-- 1: a person was erased while the file was being read, so its files are removed when the reading ends.
ALTER TABLE imports ADD COLUMN is_forgotten BIGINT NOT NULL DEFAULT 0;
