-- Live records, counted in blocks of their collection's `seq` numbers (see tally.rs).
-- level 0: block = seq >> 8; level 1: block = seq >> 16; shard: 0 on SQLite, one a connection
-- on PostgreSQL. The count of a block is the sum over its shards.
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
