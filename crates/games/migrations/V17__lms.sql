-- Learning: which courses games teach, and what players have done in them. XP and units are in
-- thousandths; what counts is in the log of events.

CREATE TABLE lms_courses (
    game_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    course_id TEXT NOT NULL,
    org_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    grade TEXT NOT NULL,
    title TEXT NOT NULL,
    course_code TEXT NOT NULL,
    total_xp BIGINT NOT NULL,
    masterable_units BIGINT NOT NULL,
    PRIMARY KEY (game_id, number)
) WITHOUT ROWID;

-- told_ms: active time of the present attempt that was told already.
CREATE TABLE lms_activities (
    user_id TEXT NOT NULL,
    course_id TEXT NOT NULL,
    activity TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    told_ms BIGINT NOT NULL,
    PRIMARY KEY (user_id, course_id, activity)
) WITHOUT ROWID;

CREATE TABLE lms_mastery (
    user_id TEXT NOT NULL,
    course_id TEXT NOT NULL,
    units BIGINT NOT NULL,
    PRIMARY KEY (user_id, course_id)
) WITHOUT ROWID;
