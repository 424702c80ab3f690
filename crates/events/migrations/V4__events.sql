-- The log of events (see repository). Instants are milliseconds since 1970-01-01T00:00:00Z.

-- Who sent: a client through a sensor. Who acted: the actor's IRI and e-mail ('' where there is
-- none); `person` is the sourcedId in the IRI. Events name both by number, so that their indexes
-- are narrow.
CREATE TABLE event_sources (
    id ROWID,
    client TEXT NOT NULL,
    sensor TEXT NOT NULL,
    UNIQUE (sensor, client)
);
CREATE TABLE event_actors (
    id ROWID,
    iri TEXT NOT NULL,
    email TEXT NOT NULL,
    person TEXT NOT NULL,
    UNIQUE (iri, email)
);
CREATE INDEX event_actors_email ON event_actors (lower(email));
CREATE INDEX event_actors_person ON event_actors (person);

-- One row a version of an event, in the order of arrival. `superseded_by` is NULL for the version
-- that counts.
CREATE TABLE event_log (
    seq ROWID,
    source BIGINT NOT NULL,
    actor BIGINT NOT NULL,
    event_ms BIGINT NOT NULL,
    send_ms BIGINT NOT NULL,
    received_ms BIGINT NOT NULL,
    changed_ms BIGINT NOT NULL,
    superseded_by BIGINT,
    body TEXT NOT NULL
);
CREATE INDEX event_log_time ON event_log (event_ms);
CREATE INDEX event_log_actor ON event_log (actor, event_ms);
CREATE INDEX event_log_source ON event_log (source);

-- 64 bits of the hash of an event's id, and the version that counts. Eight bytes in place of 45
-- keep the one index whose keys are random in memory.
CREATE TABLE event_ids (
    hash ROWID,
    seq BIGINT NOT NULL
);

-- Versions of corrected events that do not count, found by the one that does.
CREATE TABLE event_versions (
    hash BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (hash, seq)
) WITHOUT ROWID;

-- Entities that were described outside an event: the latest description a client sent.
CREATE TABLE event_entities (
    id TEXT NOT NULL,
    client TEXT NOT NULL,
    send_ms BIGINT NOT NULL,
    received_ms BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (id, client)
) WITHOUT ROWID;

-- Accepted envelopes, for the state of a job: `seqs` are the numbers that their events have.
CREATE TABLE event_batches (
    id ROWID,
    received_ms BIGINT NOT NULL,
    seqs TEXT NOT NULL
);

-- Refused envelopes, kept apart for inspection and replay.
CREATE TABLE event_refusals (
    id ROWID,
    client TEXT NOT NULL,
    received_ms BIGINT NOT NULL,
    replayed_ms BIGINT,
    message TEXT NOT NULL,
    faults TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX event_refusals_time ON event_refusals (received_ms);
