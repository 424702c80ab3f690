-- What actors did, found by actor and time: of each event that counts one row a quarter hour of UTC
-- in which it has a part, and one at its own time. Each row is written once, and is place and sum in
-- one: an event dirties one page of this table, and no further index by actor. Sums are thousandths: of
-- XP, questions and units; of seconds (so milliseconds). `seq` is the number in the log; negative
-- where events were summed together before V10. Quarter hours are numbered since
-- 1970-01-01T00:00:00Z.
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
INSERT INTO event_facts
    SELECT actor, (event_ms - ((event_ms % 900000) + 900000) % 900000) / 900000, seq, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM event_log WHERE superseded_by IS NULL;

-- What was worked on: sourcedId of the course, subject, name of the app ('' where an event names
-- none). The number is a hash of the three; 0 stands for nothing that is summed.
CREATE TABLE event_contexts (
    id BIGINT PRIMARY KEY,
    course TEXT NOT NULL,
    subject TEXT NOT NULL,
    app TEXT NOT NULL
) WITHOUT ROWID;

-- By day, so that events of one day that come together stand together in the index.
DROP INDEX event_log_actor;
DROP INDEX event_log_time;
CREATE INDEX event_log_day ON event_log ((event_ms / 86400000));
