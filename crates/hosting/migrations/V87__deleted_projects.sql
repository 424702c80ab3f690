-- The last version number of a project that was deleted. A new project with the slug continues after it, because
-- servers remember versions by slug and number.
CREATE TABLE deleted_projects (
    slug TEXT PRIMARY KEY,
    latest BIGINT NOT NULL
);
