-- People who sign in, and the keys of programs that act for a project.
-- Secrets are stored as hashes. Instants are milliseconds since 1970-01-01T00:00:00Z.

CREATE TABLE people (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    password TEXT,
    created_ms BIGINT NOT NULL,
    disabled_ms BIGINT
);

CREATE TABLE sessions (
    hash BLOB PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (id),
    sort TEXT NOT NULL,
    environment TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    used_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
);
CREATE INDEX sessions_person ON sessions (person);
CREATE INDEX sessions_expires ON sessions (expires_ms);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    environment TEXT NOT NULL,
    role TEXT NOT NULL,
    project TEXT,
    created_ms BIGINT NOT NULL,
    used_ms BIGINT,
    revoked_ms BIGINT
);

CREATE TABLE device_codes (
    hash BLOB PRIMARY KEY,
    user_code TEXT NOT NULL UNIQUE,
    environment TEXT NOT NULL,
    state TEXT NOT NULL,
    person TEXT REFERENCES people (id),
    interval_s BIGINT NOT NULL,
    polled_ms BIGINT,
    expires_ms BIGINT NOT NULL
);
CREATE INDEX device_codes_expires ON device_codes (expires_ms);

CREATE TABLE sign_in_links (
    hash BLOB PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (id),
    expires_ms BIGINT NOT NULL
);

CREATE TABLE guesses (
    subject BLOB PRIMARY KEY,
    count BIGINT NOT NULL,
    since_ms BIGINT NOT NULL
);

CREATE TABLE project_members (
    project TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (id),
    PRIMARY KEY (project, person)
);
