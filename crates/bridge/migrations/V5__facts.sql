-- What students did, added up from the log of events. Actors are numbered as in the log; a bucket
-- is a quarter hour of UTC, numbered since 1970-01-01T00:00:00Z.

-- What was worked on: sourcedId of the course, subject, name of the app ('' where an event names
-- none). The number is a hash of the three.
CREATE TABLE fact_contexts (
    id BIGINT PRIMARY KEY,
    course TEXT NOT NULL,
    subject TEXT NOT NULL,
    app TEXT NOT NULL
) WITHOUT ROWID;

-- Sums in thousandths: of XP, questions and units; of seconds (so milliseconds). Each connection
-- adds to rows of its own shard, so that writers do not wait for each other; readers add them up.
CREATE TABLE facts (
    actor BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    context BIGINT NOT NULL,
    shard BIGINT NOT NULL,
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
    PRIMARY KEY (actor, bucket, context, shard)
) WITHOUT ROWID;
