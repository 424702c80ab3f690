-- What stands around lessons: plans, assignments, how courses are shown.

-- A student's copy of a course's tree. tree is a JSON array of items in the order of reading, without
-- what the roster knows of them. operations counts the log; synced is the number of the last
-- operation that the tree shows.
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

-- What was asked of a plan, in order; nothing is ever changed or removed while the plan lives.
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

-- A student's tests at an outside tool, one row an attempt. finalized says that its result counted.
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

-- Tests that students were told to take. grade_value is the grade as grades compare.
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
    assigned_ms BIGINT NOT NULL
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
