-- Adaptive lessons (see repository). Instants are texts as 2026-01-15T08:00:00.000Z.

-- Every version of the policy of a type of lessons, from 1, appended and never changed: attempts that
-- began under a version go on under it. Version 0 is compiled in and has no row.
CREATE TABLE lesson_policy (
    lesson_type TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (lesson_type, version)
);

-- The questions of attempts as they stood when the attempts began: a JSON array. The id is the hash
-- of the text; a row is never changed.
CREATE TABLE lesson_bank (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL
) WITHOUT ROWID;

-- A student's attempts of a lesson. `era` is 0 for those that count; attempts that were set back with
-- the progress of a course have their own id there. `round` is how often the attempt was begun anew.
-- `served` and `answered` count the rows of its round in lesson_question. `event_ms` is the sendTime
-- of the newest version of the event that tells of its credit.
CREATE TABLE lesson_attempt (
    id ROWID,
    student TEXT NOT NULL,
    lesson TEXT NOT NULL,
    era BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    course TEXT NOT NULL,
    lesson_type TEXT NOT NULL,
    policy BIGINT NOT NULL,
    bank TEXT NOT NULL,
    seed BIGINT NOT NULL,
    round BIGINT NOT NULL,
    served BIGINT NOT NULL,
    answered BIGINT NOT NULL,
    score REAL NOT NULL,
    correct BIGINT NOT NULL,
    total BIGINT NOT NULL,
    xp REAL,
    multiplier REAL,
    mastered BIGINT NOT NULL,
    started_ms BIGINT NOT NULL,
    completed_ms BIGINT,
    event_ms BIGINT,
    UNIQUE (student, lesson, era, attempt)
);
CREATE INDEX lesson_attempt_course ON lesson_attempt (student, course);

-- The log of attempts: every question that was served and why, every answer and what came of it. A
-- question of a test that is shown whole has a row for each answer. `question` is its place in the
-- bank, `points` the score of the attempt after the answer.
CREATE TABLE lesson_question (
    attempt BIGINT NOT NULL,
    round BIGINT NOT NULL,
    number BIGINT NOT NULL,
    question BIGINT NOT NULL,
    item TEXT NOT NULL,
    served_ms BIGINT NOT NULL,
    reason TEXT NOT NULL,
    answered_ms BIGINT,
    responses TEXT,
    result TEXT,
    correct BIGINT,
    score REAL,
    points BIGINT,
    PRIMARY KEY (attempt, round, number)
) WITHOUT ROWID;
