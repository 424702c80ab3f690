-- Older servers must stop: this is the first schema.
-- Subject tracks: the course to which a subject leads in a grade, at one organization or everywhere. subject_value and
-- grade_value are what is compared: small letters, and grades by value (K and KG are 0, PK is -1). org_id is empty for a track
-- that holds everywhere.
CREATE TABLE subject_track (
    id TEXT PRIMARY KEY,
    subject TEXT NOT NULL,
    grade TEXT NOT NULL,
    subject_value TEXT NOT NULL,
    grade_value TEXT NOT NULL,
    org_id TEXT NOT NULL,
    course_id TEXT NOT NULL
);
CREATE INDEX subject_track_grade ON subject_track (grade_value);

-- The users whom a track led to a course: that happens once, so that unenrolling lasts.
CREATE TABLE subject_track_led (
    user_id TEXT NOT NULL,
    track_id TEXT NOT NULL,
    course_id TEXT NOT NULL,
    PRIMARY KEY (user_id, track_id, course_id)
) WITHOUT ROWID;
CREATE INDEX subject_track_led_track ON subject_track_led (track_id);

-- When an organization and those below it have school. `weekdays` has the digits 1 (Monday) to 7 (Sunday), `begins` and
-- `ends` are local times such as 08:00, `days_off` is a JSON array of days.
CREATE TABLE school_hours (
    org TEXT PRIMARY KEY,
    weekdays TEXT NOT NULL,
    begins TEXT NOT NULL,
    ends TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    days_off TEXT NOT NULL
);
