-- The apps that the students of a class may open from their home. approved_by is the id of the person, key or client that
-- approved the app.
CREATE TABLE class_apps (
    class_id TEXT NOT NULL,
    slug TEXT NOT NULL,
    approved_by TEXT NOT NULL,
    approved_ms BIGINT NOT NULL,
    PRIMARY KEY (class_id, slug)
) WITHOUT ROWID;
