-- What students did, added up from the log of events: see docs/decisions on facts.
-- A bucket is a quarter hour of UTC: its number since 1970-01-01T00:00:00Z.

-- Who acted, as events name them; '' where they do not.
CREATE TABLE fact_actors (
    id ROWID,
    iri TEXT NOT NULL,
    email TEXT NOT NULL,
    user_id TEXT NOT NULL,
    UNIQUE (iri, email)
);
CREATE INDEX fact_actors_user_id ON fact_actors (user_id);
CREATE INDEX fact_actors_email ON fact_actors (email);

-- What was worked on: course and subject as events name them ('' where they do not), app's name.
CREATE TABLE fact_contexts (
    id ROWID,
    course TEXT NOT NULL,
    subject TEXT NOT NULL,
    app TEXT NOT NULL,
    UNIQUE (course, subject, app)
);

-- Sums in thousandths: of XP, questions and units; of seconds (so milliseconds).
CREATE TABLE facts (
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
    PRIMARY KEY (actor, bucket, context)
) WITHOUT ROWID;
