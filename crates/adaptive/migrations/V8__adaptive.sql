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
