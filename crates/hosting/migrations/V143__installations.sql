-- Older servers may run.
-- Installations: the servers that worked with this database, one after the other. A database that was copied or restored
-- begins a new one, so that it does not write into the replicas of its original. `ended_ms` is NULL for the present one.
-- The store of replicas has the same `mark`, which is replaced every few minutes; `next_mark` is the one that is being
-- stored. Instants are milliseconds since 1970-01-01T00:00:00Z.
CREATE TABLE installations (
    id TEXT PRIMARY KEY,
    began_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    mark TEXT NOT NULL,
    next_mark TEXT NOT NULL,
    marked_ms BIGINT NOT NULL
);
