-- Older servers must stop: this is the first schema.
-- Live records, counted in blocks of their collection's `seq` numbers (see tally.rs).
-- level 0: block = seq >> 8; level 1: block = seq >> 16. shard: 0 on SQLite, one per connection on PostgreSQL. The count of
-- a block is the sum over its shards.
CREATE TABLE tally (
    collection TEXT NOT NULL,
    level BIGINT NOT NULL,
    block BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    live BIGINT NOT NULL,
    PRIMARY KEY (collection, level, block, shard)
) WITHOUT ROWID;

-- Work that outlives a request (see jobs.rs).
CREATE TABLE jobs (
    id ROWID,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due TEXT NOT NULL,
    error TEXT
);
CREATE INDEX jobs_due ON jobs (state, due);

-- Each try of a job: when it began, when it ended and what failed. If a try that is not the last has no end, its worker
-- was lost.
CREATE TABLE job_tries (
    job BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    began TEXT NOT NULL,
    ended TEXT,
    error TEXT,
    PRIMARY KEY (job, attempt)
);

-- Changes on their way to webhooks (see outbox.rs). A row is written by the transaction that made the change.
CREATE TABLE outbox (
    seq ROWID,
    topic TEXT NOT NULL,
    object TEXT NOT NULL,
    sensor TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    data TEXT NOT NULL
);

-- The topics that an active webhook wants. `sensor` is empty for changes of every sensor.
CREATE TABLE outbox_topics (
    topic TEXT NOT NULL,
    sensor TEXT NOT NULL,
    PRIMARY KEY (topic, sensor)
) WITHOUT ROWID;
