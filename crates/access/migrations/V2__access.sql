-- Who may call: clients with their secrets, and the keys that sign tokens.
-- Instants are milliseconds since 1970-01-01T00:00:00Z.

CREATE TABLE access_counter (
    id BIGINT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO access_counter (id, value) VALUES (1, 0);

CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    dialect TEXT NOT NULL,
    scopes TEXT NOT NULL,
    origins TEXT NOT NULL,
    requests_per_second BIGINT,
    created_ms BIGINT NOT NULL,
    revoked_ms BIGINT,
    changed BIGINT NOT NULL
);
CREATE INDEX clients_changed ON clients (changed);

CREATE TABLE client_secrets (
    client TEXT NOT NULL REFERENCES clients (id),
    hash BLOB NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    PRIMARY KEY (client, hash)
);

CREATE TABLE signing_keys (
    kid TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    public BLOB NOT NULL,
    sealed BLOB NOT NULL,
    created_ms BIGINT NOT NULL,
    retire_after_ms BIGINT
);
