-- Older servers must stop: this is the first schema.
-- Erasures of persons. `subject` holds the person's strings, sealed under the master key, until the erasure is done.
CREATE TABLE erasures (
    id ROWID,
    pseudonym TEXT NOT NULL UNIQUE,
    asked_by TEXT NOT NULL,
    asked_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    subject BLOB,
    progress TEXT NOT NULL,
    report TEXT
);

-- Keyed hashes of the ids and addresses of erased persons, so that a delayed event or import does not bring one back.
CREATE TABLE erased_ids (
    hash TEXT PRIMARY KEY,
    erasure BIGINT NOT NULL REFERENCES erasures (id)
);
