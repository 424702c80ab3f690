-- Accounts of students belong to users of the roster. The column `email` is unique and never NULL, so for a student without
-- an e-mail address it holds the account's own id.

ALTER TABLE people ADD COLUMN roster_user TEXT;
CREATE UNIQUE INDEX people_roster_user ON people (roster_user) WHERE disabled_ms IS NULL;
-- The class in whose sign-in a session began; NULL if the student signed in alone.
ALTER TABLE sessions ADD COLUMN class_id TEXT;
CREATE INDEX sessions_class_id ON sessions (class_id);
