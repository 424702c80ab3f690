-- Changes on their way to webhooks (see outbox.rs). A row is written by the transaction that made the change.
CREATE TABLE outbox (
    seq ROWID,
    topic TEXT NOT NULL,
    object TEXT NOT NULL,
    sensor TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    data TEXT NOT NULL
);

-- The topics that an active webhook wants. `sensor` is empty for changes of every sensor.
CREATE TABLE outbox_topics (
    topic TEXT NOT NULL,
    sensor TEXT NOT NULL,
    PRIMARY KEY (topic, sensor)
) WITHOUT ROWID;
