-- The time limit of the test in milliseconds when the attempt began, NULL where it had none; whether late answers count; and
-- the instant from which the time of the round runs, NULL until the student begins it.
ALTER TABLE lesson_attempt ADD COLUMN time_limit_ms BIGINT;
ALTER TABLE lesson_attempt ADD COLUMN allows_late BIGINT NOT NULL DEFAULT 0;
ALTER TABLE lesson_attempt ADD COLUMN clock_ms BIGINT;

-- More time for a student in all tests: the percentage of the time limit, and minutes besides.
CREATE TABLE extra_time (
    student TEXT PRIMARY KEY,
    percent BIGINT NOT NULL,
    minutes BIGINT NOT NULL
) WITHOUT ROWID;
