-- Clients that sign requests with OAuth 1.0a: their signing secrets, sealed under the master key, the former one until
-- it expires; and the nonces of signed requests within the window of time stamps.
-- Instants are milliseconds since 1970-01-01T00:00:00Z; time stamps are seconds, as RFC 5849 has them.

CREATE TABLE client_signing_secrets (
    client TEXT PRIMARY KEY REFERENCES clients (id),
    sealed BLOB NOT NULL,
    former BLOB,
    former_expires_ms BIGINT
);

CREATE TABLE signed_request_nonces (
    client TEXT NOT NULL,
    timestamp_s BIGINT NOT NULL,
    nonce TEXT NOT NULL,
    PRIMARY KEY (client, timestamp_s, nonce)
);
CREATE INDEX signed_request_nonces_timestamp ON signed_request_nonces (timestamp_s);
