-- Subject tracks: the course to which a subject leads in a grade, at one organization or anywhere.
-- subject_value and grade_value are what is compared: small letters, grades by value. org_id is
-- empty for a track that holds anywhere.
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

-- Whom a track led to which course: that happens once, so that unenrolling lasts.
CREATE TABLE subject_track_led (
    user_id TEXT NOT NULL,
    track_id TEXT NOT NULL,
    course_id TEXT NOT NULL,
    PRIMARY KEY (user_id, track_id, course_id)
) WITHOUT ROWID;
CREATE INDEX subject_track_led_track ON subject_track_led (track_id);
