-- Older servers must stop: this is the first schema.
-- Adaptive lessons, and what surrounds them: plans, assignments, how courses are shown (see repository). Instants are texts
-- as 2026-01-15T08:00:00.000Z; those in …_ms are milliseconds since 1970-01-01T00:00:00Z.

-- Every version of the policy of a type of lessons, from 1, appended and never changed: attempts that began under a version go
-- on under it. Version 0 is compiled in and has no row.
CREATE TABLE lesson_policy (
    lesson_type TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (lesson_type, version)
);

-- The questions of attempts as they were when the attempts began: a JSON array. The id is the hash of the text; a row is never
-- changed.
CREATE TABLE lesson_bank (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL
) WITHOUT ROWID;

-- A student's attempts at a lesson.
--
-- era: 0 for those that count; attempts that were set back with the progress of a course have their own id there.
-- seeding: how the seeds of the questions follow from `seed`.
-- base_xp: what the lesson was worth when the attempt began.
-- round: how often the attempt was begun anew. answered: the answers in its round.
-- correct, total: correct and scored answers. earned: the sum of their shares of the full score, in millionths.
-- pending: the answers that wait for a person.
-- xp, multiplier, mastered, units, completed_ms: of a complete attempt; units are those that its event names.
-- time_limit_ms: the time limit of the test when the attempt began, NULL where it had none. allows_late: whether late
-- answers count. clock_ms: the instant from which the time of the round runs, NULL until the student begins it.
-- last_ms: the last answer.
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
    seeding BIGINT NOT NULL DEFAULT 0,
    base_xp REAL,
    round BIGINT NOT NULL,
    answered BIGINT NOT NULL,
    score REAL NOT NULL,
    correct BIGINT NOT NULL,
    total BIGINT NOT NULL,
    earned BIGINT NOT NULL DEFAULT 0,
    pending BIGINT NOT NULL DEFAULT 0,
    xp REAL,
    multiplier REAL,
    mastered BIGINT NOT NULL,
    units BIGINT NOT NULL DEFAULT 0,
    time_limit_ms BIGINT,
    allows_late BIGINT NOT NULL DEFAULT 0,
    clock_ms BIGINT,
    started_ms BIGINT NOT NULL,
    last_ms BIGINT,
    completed_ms BIGINT,
    UNIQUE (student, lesson, era, attempt)
);
CREATE INDEX lesson_attempt_course ON lesson_attempt (student, course);
-- Attempts that were completed without mastering the lesson, by time: pages ask every day who failed.
CREATE INDEX lesson_attempt_failed ON lesson_attempt (completed_ms) WHERE mastered = 0 AND completed_ms IS NOT NULL;
-- Today's work shows attempts that have not earned anything yet.
CREATE INDEX lesson_attempt_running ON lesson_attempt (last_ms) WHERE xp IS NULL;

-- The log of attempts: every question that was served and why, every answer and its result. A question of a test that is
-- shown whole has a row for each answer. `question` is its place in the bank, `points` the score of the attempt after the
-- answer, `share` the part of the full score that it reaches, in millionths. An answer that waits for a person has neither
-- `correct` nor `share`.
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
    share BIGINT,
    PRIMARY KEY (attempt, round, number)
) WITHOUT ROWID;

-- The requests by which students answered: the number of the entry in lesson_question that each one answered. A browser
-- that sends an answer again, because it did not learn whether the first arrived, repeats the id of the request.
CREATE TABLE lesson_answer_request (
    attempt BIGINT NOT NULL,
    round BIGINT NOT NULL,
    request TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (attempt, round, request)
) WITHOUT ROWID;

-- More time for a student in all tests: the percentage of the time limit, and minutes besides.
CREATE TABLE extra_time (
    student TEXT PRIMARY KEY,
    percent BIGINT NOT NULL,
    minutes BIGINT NOT NULL
) WITHOUT ROWID;

-- A student's copy of a course's tree. `tree` is a JSON array of items in the order of reading, without what the roster has
-- about them. `operations` counts the log; `synced` is the number of the last operation that the tree shows.
CREATE TABLE lesson_plan (
    id TEXT PRIMARY KEY,
    course_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    class_id TEXT,
    tree TEXT NOT NULL,
    operations BIGINT NOT NULL,
    synced BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (course_id, user_id)
);

-- The changes of a plan, in order; nothing is ever changed or removed while the plan lives.
CREATE TABLE lesson_plan_operation (
    plan_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    id TEXT NOT NULL,
    operation TEXT NOT NULL,
    reason TEXT,
    created_at TEXT NOT NULL,
    created_by TEXT,
    PRIMARY KEY (plan_id, sequence)
) WITHOUT ROWID;

-- How a course's questions are shown.
CREATE TABLE render_config (
    course_id TEXT PRIMARY KEY,
    renderer_id TEXT NOT NULL,
    renderer_url TEXT NOT NULL,
    renderer_version TEXT,
    suppress_feedback BIGINT NOT NULL,
    suppress_correct_response BIGINT NOT NULL
);

-- A student's tests at an outside tool, one row per attempt. finalized: whether its result counted.
CREATE TABLE external_assignment (
    student_id TEXT NOT NULL,
    lesson_id TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    id TEXT NOT NULL,
    application TEXT,
    test_id TEXT,
    skip_enrollment BIGINT NOT NULL,
    assigned_at TEXT NOT NULL,
    finalized BIGINT NOT NULL,
    PRIMARY KEY (student_id, lesson_id, attempt)
) WITHOUT ROWID;

-- Tests that students were told to take. grade_value: the grade by value (K and KG are 0, PK is -1). expires_ms: when
-- the assignment ends by itself. cancelled: 1 if it was deleted; it stays for those who list assignments.
CREATE TABLE test_assignment (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    student_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_value TEXT NOT NULL,
    grade TEXT NOT NULL,
    grade_value TEXT NOT NULL,
    test_name TEXT,
    lesson_id TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    assigned_at TEXT NOT NULL,
    assigned_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    cancelled BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX test_assignment_student ON test_assignment (student_id, seq);

-- A student's screening: when it began, and the tests that were assigned in it.
CREATE TABLE screening_session (
    user_id TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    started_at TEXT NOT NULL
);
CREATE TABLE screening_test (
    user_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    assigned_at TEXT NOT NULL,
    PRIMARY KEY (user_id, subject)
) WITHOUT ROWID;
