-- Who made a key, by the id of the person; and when a client last asked for a token, in milliseconds
-- since 1970-01-01T00:00:00Z.

ALTER TABLE api_keys ADD COLUMN maker TEXT;

CREATE TABLE client_uses (
    client TEXT PRIMARY KEY,
    used_ms BIGINT NOT NULL
);
