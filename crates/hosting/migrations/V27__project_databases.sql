-- database: the file of the project's database within its folder; none: the first one.
ALTER TABLE projects ADD COLUMN database TEXT;

-- JSON: the schema that a version came with, and how it was said.
ALTER TABLE deployments ADD COLUMN declared TEXT;

-- Files that were a project's database before something changed it.
CREATE TABLE project_restore_points (
    slug TEXT NOT NULL,
    file TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    version BIGINT NOT NULL,
    what TEXT NOT NULL,
    PRIMARY KEY (slug, file)
);
