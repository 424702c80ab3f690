-- Older servers must stop: they write records without this clock.
-- The record clock, in milliseconds (see record_clock.rs). On SQLite it has one row. On PostgreSQL it is the sequence of the
-- column, which no snapshot hides, and the table is empty.
CREATE TABLE record_clock (
    last ROWID
);

-- Ids of records that vanished, or that an organization lost, and when. Readers of changes learn from it what no record tells
-- any more. A row without kind is the instant up to which rows were dropped, and as its id the timeline of PostgreSQL.
-- org: the organization that the record belonged to; NULL if only callers who reach everything are told.
CREATE TABLE removed_records (
    seq ROWID,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    stamp BIGINT NOT NULL,
    org TEXT
);
CREATE INDEX removed_records_stamp ON removed_records (stamp, seq);
