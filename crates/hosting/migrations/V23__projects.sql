-- Hosted projects. What people see of them is their game's; instants are milliseconds since
-- 1970-01-01T00:00:00Z.

-- active: the version that is served; latest: the last number that was given.
CREATE TABLE projects (
    slug TEXT PRIMARY KEY,
    revision BIGINT NOT NULL,
    active BIGINT NOT NULL,
    latest BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);

-- A zip that was unpacked: manifest is the JSON of its files by path.
CREATE TABLE project_frontends (
    sha256 TEXT PRIMARY KEY,
    size BIGINT NOT NULL,
    manifest TEXT NOT NULL
);

-- backend and uses are JSON.
CREATE TABLE deployments (
    slug TEXT NOT NULL,
    version BIGINT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    frontend TEXT REFERENCES project_frontends (sha256),
    backend TEXT,
    uses TEXT NOT NULL,
    made_by TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    PRIMARY KEY (slug, version)
);

-- sealed: the value under the server's master key.
CREATE TABLE deployment_secrets (
    slug TEXT NOT NULL,
    version BIGINT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (slug, version, name)
);

CREATE TABLE project_audit (
    seq ROWID,
    slug TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    details TEXT NOT NULL
);
CREATE INDEX project_audit_of ON project_audit (slug, seq);
