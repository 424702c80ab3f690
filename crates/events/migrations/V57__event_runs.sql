-- Runs: what many rows of event_ids and event_facts said, sorted, in chunks of bytes (see
-- repository/runs). The rows that remain in those tables are the young ones, which are not yet in a run.

-- The runs of each kind, in one value: whoever writes runs, or counts on none being written, holds this
-- row. NULL where there is none.
CREATE TABLE event_runs (
    name TEXT PRIMARY KEY,
    list BLOB
) WITHOUT ROWID;
INSERT INTO event_runs (name) VALUES ('ids'), ('facts');

-- Of each run its head, and behind it, number by number, its chunks.
CREATE TABLE event_id_chunks (
    id ROWID,
    body BLOB NOT NULL
);
CREATE TABLE event_fact_chunks (
    id ROWID,
    body BLOB NOT NULL
);
