-- The lease by which a node holds its projects. Only nodes that share a PostgreSQL database have one.

-- lease_until_ms: until then, no other node takes the node's projects; milliseconds since 1970-01-01T00:00:00Z by the
-- clock of the database. moves: one more each time that a project comes to the node or leaves it.
ALTER TABLE nodes ADD COLUMN lease_until_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN moves BIGINT NOT NULL DEFAULT 0;

-- token: rises with each node that becomes the holder.
ALTER TABLE project_homes ADD COLUMN token BIGINT NOT NULL DEFAULT 1;
