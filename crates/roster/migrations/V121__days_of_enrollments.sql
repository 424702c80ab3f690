-- The days of enrollments in columns, so that the members of classes are found without parsing JSON. PostgreSQL needs the
-- text as JSON for ->>. The domain is JSON there; SQLite takes any type whose name contains "text" as TEXT and reads the
-- JSON itself.
ALTER TABLE enrollments ADD COLUMN begin_date TEXT;
ALTER TABLE enrollments ADD COLUMN end_date TEXT;
POSTGRES CREATE DOMAIN enrollment_text AS json;
UPDATE enrollments SET
    begin_date = CAST(body AS enrollment_text) ->> 'beginDate',
    end_date = CAST(body AS enrollment_text) ->> 'endDate'
WHERE body LIKE '%"beginDate"%' OR body LIKE '%"endDate"%';
POSTGRES DROP DOMAIN enrollment_text;

-- The enrollments with a daily goal of their own.
CREATE INDEX enrollments_own_goal ON enrollments (user_id) WHERE body LIKE '%"dailyXp"%';
