-- CLR 2.0: learner records. A record is its versions; each is kept as it was sent and as it was signed.
-- Instants are texts in UTC of one width.

CREATE TABLE learner_records (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    learner TEXT,
    compiled_for TEXT UNIQUE,
    version BIGINT NOT NULL,
    valid_from TEXT NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL
);
CREATE INDEX learner_records_valid_from ON learner_records (valid_from, seq);

CREATE TABLE learner_record_versions (
    record BIGINT NOT NULL REFERENCES learner_records (seq),
    version BIGINT NOT NULL,
    valid_from TEXT NOT NULL,
    given TEXT NOT NULL,
    form TEXT NOT NULL,
    body TEXT NOT NULL,
    created TEXT NOT NULL,
    PRIMARY KEY (record, version)
);
