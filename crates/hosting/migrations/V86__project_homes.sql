-- The node that holds the files of each project: databases, keys and bucket indexes lie in one data folder.
-- Instants are milliseconds since 1970-01-01T00:00:00Z.

-- generation: one more with every start on the data folder, which has the number too. A copy of the folder
-- falls behind. address: how people reach the node.
CREATE TABLE nodes (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    generation BIGINT NOT NULL,
    started_ms BIGINT NOT NULL
);

-- mark: a random text, which the project's folder has too. kept: the JSON of what must be in that folder.
CREATE TABLE project_homes (
    slug TEXT PRIMARY KEY,
    node TEXT NOT NULL,
    mark TEXT NOT NULL,
    kept TEXT NOT NULL
);
