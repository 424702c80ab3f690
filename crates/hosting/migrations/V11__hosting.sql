-- Older servers must stop: this is the first schema.
-- Hosted projects, the nodes that hold them, and backups. What people see of a project is its game's. Instants are
-- milliseconds since 1970-01-01T00:00:00Z.

-- active: the version that is served. latest: the last number that was given. database: the file of the project's database
-- within its folder; NULL: the first one.
CREATE TABLE projects (
    slug TEXT PRIMARY KEY,
    revision BIGINT NOT NULL,
    active BIGINT NOT NULL,
    latest BIGINT NOT NULL,
    database TEXT,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);

-- The last version number of a project that was deleted. A new project with the slug continues after it, because
-- servers remember versions by slug and number.
CREATE TABLE deleted_projects (
    slug TEXT PRIMARY KEY,
    latest BIGINT NOT NULL
);

-- Zips that were unpacked. manifest: the JSON of its files by path. used_ms: when a deploy last asked for it; a frontend that no
-- version has and nobody asked for lately is deleted.
CREATE TABLE project_frontends (
    sha256 TEXT PRIMARY KEY,
    size BIGINT NOT NULL,
    manifest TEXT NOT NULL,
    used_ms BIGINT NOT NULL DEFAULT 0
);

-- backend, uses and declared are JSON. declared: the schema that the version came with, and how it was declared.
CREATE TABLE deployments (
    slug TEXT NOT NULL,
    version BIGINT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    frontend TEXT REFERENCES project_frontends (sha256),
    backend TEXT,
    uses TEXT NOT NULL,
    declared TEXT,
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

-- Files that were a project's database before a change.
CREATE TABLE project_restore_points (
    slug TEXT NOT NULL,
    file TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    version BIGINT NOT NULL,
    what TEXT NOT NULL,
    PRIMARY KEY (slug, file)
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

-- The apps that the students of a class may open from their home. approved_by: the id of the person, key or client that
-- approved the app.
CREATE TABLE class_apps (
    class_id TEXT NOT NULL,
    slug TEXT NOT NULL,
    approved_by TEXT NOT NULL,
    approved_ms BIGINT NOT NULL,
    PRIMARY KEY (class_id, slug)
) WITHOUT ROWID;

-- Servers with their data folders, and what each last reported.
--
-- address: how people reach the node.
-- generation: one more with every start on the data folder, which has the number too. A copy of the folder falls behind.
-- version, schema_version: the release of the server, and the newest migration that it knows.
-- public_url: as the settings name it; empty: they do not.
-- state: serving, stopping or stopped, at seen_ms.
-- master_key: the fingerprint of the master key under which the node encrypts.
-- lease_until_ms: until then, no other node takes the node's projects; by the clock of the database. Only nodes that share a
-- PostgreSQL database have a lease.
-- moves: one more each time that a project comes to the node or leaves it.
CREATE TABLE nodes (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    generation BIGINT NOT NULL,
    started_ms BIGINT NOT NULL,
    version TEXT NOT NULL DEFAULT '',
    schema_version BIGINT NOT NULL DEFAULT 0,
    public_url TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'stopped',
    seen_ms BIGINT NOT NULL DEFAULT 0,
    master_key TEXT NOT NULL DEFAULT '',
    lease_until_ms BIGINT NOT NULL DEFAULT 0,
    moves BIGINT NOT NULL DEFAULT 0
);

-- The node that holds the files of each project: databases, keys and bucket indexes lie in one data folder.
--
-- mark: a random text, which the project's folder has too.
-- kept: the JSON of what must be in that folder.
-- token: rises with each node that becomes the holder.
-- replicated_token: the epoch that the next holder must find in the store of replicas. A holder records its own token here
-- before it acknowledges anything; until then, it is that of an earlier holder. It counts while `replicated_of` is the token
-- of the project. Otherwise the next holder must find the token of the project itself.
CREATE TABLE project_homes (
    slug TEXT PRIMARY KEY,
    node TEXT NOT NULL,
    mark TEXT NOT NULL,
    kept TEXT NOT NULL,
    token BIGINT NOT NULL DEFAULT 1,
    replicated_token BIGINT,
    replicated_of BIGINT
);

-- Installations: the servers that worked with this database, one after the other. A database that was copied or restored
-- begins a new one, so that it does not write into the replicas of its original. ended_ms: NULL for the present one. The
-- store of replicas has the same mark, which is replaced every few minutes; next_mark is the one that is being stored.
-- replaced_ms: when an operator said that the servers of a former installation never run again; NULL if nobody did. Nothing of
-- other installations is deleted.
CREATE TABLE installations (
    id TEXT PRIMARY KEY,
    began_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    replaced_ms BIGINT,
    mark TEXT NOT NULL,
    next_mark TEXT NOT NULL,
    marked_ms BIGINT NOT NULL
);

-- The marks that the servers of this database stored in the S3 bucket as its owner. If the bucket has another one, servers
-- with a copy of this database use it, too.
CREATE TABLE bucket_marks (
    mark TEXT PRIMARY KEY,
    made_ms BIGINT NOT NULL
);

-- The backups that servers made or tried to make. due_ms: the time of the schedule; NULL means by hand. state: running, done
-- or failed; a server that makes a backup reports at reported_ms. check_method: how the file was tried after it was written.
CREATE TABLE backups (
    id ROWID,
    node_id TEXT NOT NULL,
    node_name TEXT NOT NULL,
    due_ms BIGINT,
    has_database BIGINT NOT NULL,
    began_ms BIGINT NOT NULL,
    reported_ms BIGINT NOT NULL,
    state TEXT NOT NULL,
    file TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    error TEXT,
    checked_ms BIGINT,
    check_method TEXT,
    check_error TEXT
);
CREATE INDEX backups_began ON backups (began_ms);
