-- Older servers must stop: this is the first schema.
-- The log of events (see repository). Instants are milliseconds since 1970-01-01T00:00:00Z. Days and quarter hours of UTC are
-- numbered from there, too.

-- The senders: a client through a sensor. Events name senders and actors by number, so that rows are narrow.
CREATE TABLE event_sources (
    id ROWID,
    client TEXT NOT NULL,
    sensor TEXT NOT NULL,
    UNIQUE (sensor, client)
);

-- The actors: IRI and e-mail ('' where there is none). `person` is the sourcedId in the IRI.
CREATE TABLE event_actors (
    id ROWID,
    iri TEXT NOT NULL,
    email TEXT NOT NULL,
    person TEXT NOT NULL,
    UNIQUE (iri, email)
);
CREATE INDEX event_actors_email ON event_actors (lower(email));
CREATE INDEX event_actors_person ON event_actors (person);

-- One row per version of an event, in the order of arrival. `superseded_by` is NULL for the version that counts. The row of
-- an event in a block names it and has an empty `body`; other rows have the text.
CREATE TABLE event_log (
    seq ROWID,
    source BIGINT NOT NULL,
    actor BIGINT NOT NULL,
    event_ms BIGINT NOT NULL,
    send_ms BIGINT NOT NULL,
    received_ms BIGINT NOT NULL,
    changed_ms BIGINT NOT NULL,
    superseded_by BIGINT,
    block BIGINT,
    body TEXT NOT NULL
);

-- The text of many events of one transaction, packed together (see repository/blocks.rs). `id` is the number of the first
-- of them; a block never changes.
CREATE TABLE event_blocks (
    id ROWID,
    packed BLOB NOT NULL
);
-- Packed bytes are neither packed again nor stored apart from their row, which fits into a page.
POSTGRES ALTER TABLE event_blocks ALTER COLUMN packed SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_blocks SET (toast_tuple_target = 8160);

-- Versions of corrected events that do not count, found by the one that does.
CREATE TABLE event_versions (
    hash BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (hash, seq)
) WITHOUT ROWID;

-- Numbers of the log that follow each other and have one source and one day: lists by source or time use these (see
-- repository/spans.rs). `first` and `last` are `seq` of event_log.
CREATE TABLE event_spans (
    first ROWID,
    last BIGINT NOT NULL,
    source BIGINT NOT NULL,
    day BIGINT NOT NULL
);
CREATE INDEX event_spans_source ON event_spans (source, first);
CREATE INDEX event_spans_day ON event_spans (day, first);

-- The runs of each kind, in one value (see the crate `runs`): a transaction that writes runs, or needs that no other does,
-- locks this row. NULL where there is no run.
CREATE TABLE event_runs (
    name TEXT PRIMARY KEY,
    list BLOB
) WITHOUT ROWID;
INSERT INTO event_runs (name) VALUES ('ids'), ('facts'), ('places');

-- 64 bits of the hash of an event's id, and the version that counts: the young ones, which are not in a run yet.
CREATE TABLE event_ids (
    hash ROWID,
    seq BIGINT NOT NULL
);
-- The runs of ids: of each run its head, and behind it, number by number, its chunks.
CREATE TABLE event_id_chunks (
    id ROWID,
    body BLOB NOT NULL
);
POSTGRES ALTER TABLE event_id_chunks ALTER COLUMN body SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_id_chunks SET (toast_tuple_target = 8160);

-- What facts are about: sourcedId of the course, subject, name of the app ('' where an event names none). The number is a hash
-- of the three; 0 stands for facts without sums.
CREATE TABLE event_contexts (
    id BIGINT PRIMARY KEY,
    course TEXT NOT NULL,
    subject TEXT NOT NULL,
    app TEXT NOT NULL
) WITHOUT ROWID;

-- Facts: what actors did. Each event that counts has a row for each quarter hour in which it has a part, and one at its own
-- time. `seq` is the event's number. Sums are thousandths: of XP, questions and units; of seconds (so milliseconds). These
-- are young facts that were written one by one.
CREATE TABLE event_facts (
    actor BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    context BIGINT NOT NULL,
    events BIGINT NOT NULL,
    xp BIGINT NOT NULL,
    total_questions BIGINT NOT NULL,
    correct_questions BIGINT NOT NULL,
    mastered_units BIGINT NOT NULL,
    active BIGINT NOT NULL,
    inactive BIGINT NOT NULL,
    waste BIGINT NOT NULL,
    unknown BIGINT NOT NULL,
    anti_pattern BIGINT NOT NULL,
    PRIMARY KEY (actor, bucket, seq, context)
) WITHOUT ROWID;

-- Young facts that were written together (see repository/facts/young.rs): packed like the chunks of runs, with their first
-- and last actor and quarter hour. A row never waits for another one, so any number of servers write them at the same time.
CREATE TABLE event_young_facts (
    id ROWID,
    first_actor BIGINT NOT NULL,
    last_actor BIGINT NOT NULL,
    first_bucket BIGINT NOT NULL,
    last_bucket BIGINT NOT NULL,
    facts BLOB NOT NULL
);
POSTGRES ALTER TABLE event_young_facts ALTER COLUMN facts SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_young_facts SET (toast_tuple_target = 8160);

-- The runs of facts, into which young facts move until they are summed.
CREATE TABLE event_fact_chunks (
    id ROWID,
    body BLOB NOT NULL
);
POSTGRES ALTER TABLE event_fact_chunks ALTER COLUMN body SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_fact_chunks SET (toast_tuple_target = 8160);

-- Facts, summed by actor, quarter hour and context (see repository/facts/sums.rs). What arrived in the last seconds is still in
-- the tables above. The day comes first, because what arrives together nearly always has the same day.
CREATE TABLE event_sums (
    day BIGINT NOT NULL,
    actor BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    context BIGINT NOT NULL,
    events BIGINT NOT NULL,
    xp BIGINT NOT NULL,
    total_questions BIGINT NOT NULL,
    correct_questions BIGINT NOT NULL,
    mastered_units BIGINT NOT NULL,
    active BIGINT NOT NULL,
    inactive BIGINT NOT NULL,
    waste BIGINT NOT NULL,
    unknown BIGINT NOT NULL,
    anti_pattern BIGINT NOT NULL,
    PRIMARY KEY (day, actor, bucket, context)
) WITHOUT ROWID;
-- Room for the next version of a row in its page, so that its entry in the index stays.
POSTGRES ALTER TABLE event_sums SET (fillfactor = 80);

-- Where the events of the sums are, in runs: actor, quarter hour and number of the event.
CREATE TABLE event_place_chunks (
    id ROWID,
    body BLOB NOT NULL
);
POSTGRES ALTER TABLE event_place_chunks ALTER COLUMN body SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_place_chunks SET (toast_tuple_target = 8160);

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

-- Rejected envelopes, for inspection and replay.
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
-- Counting rejected envelopes reads this index instead of the bodies.
CREATE INDEX event_refusals_replayed ON event_refusals (replayed_ms);
