-- Older servers must stop: this is the first schema.
-- Programs that receive changes by HTTP. `secret` is sealed under the master key. `owner` names the client, person or API key
-- that created the webhook. `owner_id` is its id and decides what the webhook receives, because it does not change with an
-- e-mail address or the name of a key.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT,
    target_url TEXT NOT NULL,
    secret BLOB NOT NULL,
    sensor TEXT,
    active BIGINT NOT NULL,
    owner TEXT NOT NULL,
    owner_id TEXT NOT NULL DEFAULT '',
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);

-- Conditions that a change must meet; all active ones of a webhook.
CREATE TABLE webhook_filters (
    id TEXT PRIMARY KEY,
    webhook TEXT NOT NULL,
    filter_key TEXT NOT NULL,
    filter_value TEXT NOT NULL,
    filter_type TEXT NOT NULL,
    filter_operator TEXT NOT NULL,
    active BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);
CREATE INDEX webhook_filters_of ON webhook_filters (webhook);

-- One row. `revision` grows with each change of webhooks and filters. `holder` is the server that sends until
-- `until_ms`.
CREATE TABLE webhook_sender (
    id BIGINT PRIMARY KEY,
    revision BIGINT NOT NULL,
    holder TEXT NOT NULL,
    until_ms BIGINT NOT NULL
);
INSERT INTO webhook_sender (id, revision, holder, until_ms) VALUES (1, 0, '', 0);

-- What is sent: the same text to each webhook that wants it.
CREATE TABLE webhook_messages (
    seq ROWID,
    id TEXT NOT NULL,
    topic TEXT NOT NULL,
    object TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    body TEXT NOT NULL
);

-- A message on its way to a webhook: waiting, delivered or dead.
CREATE TABLE webhook_deliveries (
    seq ROWID,
    message BIGINT NOT NULL,
    webhook TEXT NOT NULL,
    object TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    status BIGINT,
    error TEXT
);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook, object, seq) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (webhook, seq) WHERE state = 'dead';
CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook, seq);
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX webhook_deliveries_message ON webhook_deliveries (message);
