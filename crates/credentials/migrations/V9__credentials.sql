-- Older servers must stop: this is the first schema.
-- Open Badges 3.0: issuers with their keys, what can be earned, what was issued. CLR 2.0: learner records. Instants are texts in
-- UTC of one width; those in …_ms are milliseconds since 1970-01-01T00:00:00Z.

CREATE TABLE credential_issuers (
    id TEXT PRIMARY KEY,
    client TEXT UNIQUE,
    profile TEXT NOT NULL,
    created TEXT NOT NULL
);

CREATE TABLE credential_keys (
    kid TEXT PRIMARY KEY,
    issuer TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    public BLOB NOT NULL,
    sealed BLOB,
    created_ms BIGINT NOT NULL,
    retired_ms BIGINT
);
CREATE INDEX credential_keys_issuer ON credential_keys (issuer, created_ms);
CREATE UNIQUE INDEX credential_keys_signing ON credential_keys (issuer, algorithm) WHERE retired_ms IS NULL;

-- deleted: a deleted definition keeps its row: its id means nothing else later, and it can be restored.
CREATE TABLE badge_definitions (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    achievement TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL,
    version BIGINT NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    deleted TEXT
);

-- The id is a random one of ours and part of the public address; issuer and credential are what the credential says of
-- itself. An award is what makes a repeated request the same one.
CREATE TABLE issued_credentials (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    issuer TEXT NOT NULL,
    credential TEXT NOT NULL,
    issued_by TEXT,
    learner TEXT,
    award TEXT UNIQUE,
    form TEXT NOT NULL,
    body TEXT NOT NULL,
    valid_from TEXT NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    status_list BIGINT,
    status_index BIGINT,
    revoked TEXT,
    reason TEXT,
    UNIQUE (issuer, credential)
);
CREATE INDEX issued_credentials_credential ON issued_credentials (credential);
CREATE INDEX issued_credentials_learner ON issued_credentials (learner, seq);
CREATE INDEX issued_credentials_valid_from ON issued_credentials (valid_from, seq);
CREATE INDEX issued_credentials_revoked ON issued_credentials (issued_by, status_list) WHERE revoked IS NOT NULL;

CREATE TABLE status_lists (
    issuer TEXT NOT NULL,
    list BIGINT NOT NULL,
    first_index BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (issuer, list)
);

-- A learner record is its versions. deleted: as of definitions.
CREATE TABLE learner_records (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    learner TEXT,
    compiled_for TEXT UNIQUE,
    version BIGINT NOT NULL,
    valid_from TEXT NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    revoked TEXT,
    reason TEXT,
    deleted TEXT
);
CREATE INDEX learner_records_valid_from ON learner_records (valid_from, seq);

-- Each version as it was sent and as it was signed.
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

-- The place of a record in a status list of each issuer that signed a version of it. It is taken before the record is signed,
-- and so before the record is stored.
CREATE TABLE learner_record_places (
    record TEXT NOT NULL,
    issuer TEXT NOT NULL,
    list BIGINT NOT NULL,
    place BIGINT NOT NULL,
    PRIMARY KEY (record, issuer)
);
CREATE INDEX learner_record_places_list ON learner_record_places (issuer, list);
