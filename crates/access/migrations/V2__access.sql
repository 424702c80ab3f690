-- Older servers must stop: this is the first schema.
-- Clients, people, sessions and keys. Secrets are stored as hashes, or sealed under the master key. Instants are milliseconds
-- since 1970-01-01T00:00:00Z.

-- One row. `value` grows with each change of clients, so that servers notice changes by others.
CREATE TABLE access_counter (
    id BIGINT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO access_counter (id, value) VALUES (1, 0);

-- changed: the value of the counter at the last change. reach: the part of the roster that the client has access to, as
-- JSON; NULL: everything.
CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    dialect TEXT NOT NULL,
    scopes TEXT NOT NULL,
    origins TEXT NOT NULL,
    requests_per_second BIGINT,
    created_ms BIGINT NOT NULL,
    revoked_ms BIGINT,
    changed BIGINT NOT NULL,
    reach TEXT
);
CREATE INDEX clients_changed ON clients (changed);

CREATE TABLE client_secrets (
    client TEXT NOT NULL REFERENCES clients (id),
    hash BLOB NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    PRIMARY KEY (client, hash)
);

-- When a client last asked for a token.
CREATE TABLE client_uses (
    client TEXT PRIMARY KEY,
    used_ms BIGINT NOT NULL
);

-- The secrets of clients that sign requests with OAuth 1.0a, sealed; the former one until it expires.
CREATE TABLE client_signing_secrets (
    client TEXT PRIMARY KEY REFERENCES clients (id),
    sealed BLOB NOT NULL,
    former BLOB,
    former_expires_ms BIGINT
);

-- The nonces of signed requests within the window of time stamps. These are seconds, as in RFC 5849.
CREATE TABLE signed_request_nonces (
    client TEXT NOT NULL,
    timestamp_s BIGINT NOT NULL,
    nonce TEXT NOT NULL,
    PRIMARY KEY (client, timestamp_s, nonce)
);
CREATE INDEX signed_request_nonces_timestamp ON signed_request_nonces (timestamp_s);

-- The keys that sign tokens.
CREATE TABLE signing_keys (
    kid TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    public BLOB NOT NULL,
    sealed BLOB NOT NULL,
    created_ms BIGINT NOT NULL,
    retire_after_ms BIGINT
);

-- The key from which other keys are derived, sealed. It stays the same when the master key is rotated, because hashes that
-- were made with derived keys cannot be made again.
CREATE TABLE derivation_key (
    id BIGINT PRIMARY KEY,
    sealed BLOB NOT NULL
);

-- The address at which the server of this data is reached. Commands beside it print links to it.
CREATE TABLE server_address (
    id BIGINT NOT NULL PRIMARY KEY,
    public_url TEXT NOT NULL
);

-- People who sign in. email: unique and never NULL; for a student without an e-mail address it holds the account's own id.
-- reach: as of clients. roster_user: the user of the roster to whom a student's account belongs. language: the language in
-- which the person reads pages, as a tag such as 'es'; NULL if the browser decides.
CREATE TABLE people (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    password TEXT,
    created_ms BIGINT NOT NULL,
    disabled_ms BIGINT,
    reach TEXT,
    roster_user TEXT,
    language TEXT
);
CREATE UNIQUE INDEX people_roster_user ON people (roster_user) WHERE disabled_ms IS NULL;
-- The console's search finds everybody but students: few among the people of a large network.
CREATE INDEX people_staff ON people (name, id) WHERE role <> 'student';

-- class_id: the class in whose sign-in a session began; NULL if the student signed in alone.
CREATE TABLE sessions (
    hash BLOB PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (id),
    sort TEXT NOT NULL,
    environment TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    used_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    class_id TEXT
);
CREATE INDEX sessions_person ON sessions (person);
CREATE INDEX sessions_expires ON sessions (expires_ms);
CREATE INDEX sessions_class_id ON sessions (class_id);

-- Keys of programs that act for a project. maker: the id of the person who made the key. reach: as of clients.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    environment TEXT NOT NULL,
    role TEXT NOT NULL,
    project TEXT,
    created_ms BIGINT NOT NULL,
    used_ms BIGINT,
    revoked_ms BIGINT,
    maker TEXT,
    reach TEXT
);

-- Sign-ins of `lyceum login`, which wait until a person confirms them in a browser.
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

-- The account that an identity at an OpenID provider opens.
CREATE TABLE person_identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (id),
    made_ms BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX person_identities_person ON person_identities (person);

-- Wrong passwords and codes, counted in a window of time.
CREATE TABLE guesses (
    subject BLOB PRIMARY KEY,
    count BIGINT NOT NULL,
    since_ms BIGINT NOT NULL
);
-- Rows that are older than the window are found without reading all.
CREATE INDEX guesses_since ON guesses (since_ms);

CREATE TABLE project_members (
    project TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (id),
    PRIMARY KEY (project, person)
);

-- Sign-in in class: the classes that are open.
CREATE TABLE class_sign_ins (
    class_id TEXT PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    opened_by TEXT NOT NULL REFERENCES people (id),
    opened_ms BIGINT NOT NULL,
    closes_ms BIGINT NOT NULL
);

-- The pictures or words with which students prove themselves in class. They are sealed and not hashed, because teachers
-- print them on cards.
CREATE TABLE class_secrets (
    person TEXT PRIMARY KEY REFERENCES people (id),
    sealed BLOB NOT NULL,
    made_ms BIGINT NOT NULL
);

-- Who changed what in the console or by a command, and when. details: JSON without secrets.
CREATE TABLE audit_log (
    seq ROWID,
    at_ms BIGINT NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL
);
CREATE INDEX audit_log_subject ON audit_log (subject, seq);
