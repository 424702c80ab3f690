-- Older servers must stop: they look for the objects of the S3 bucket under keys without the id of an installation.
-- The marks that the servers of this database stored beside their replicas and in the S3 bucket. Other marks there are of
-- servers with a copy of this database.
CREATE TABLE installation_marks (
    mark TEXT PRIMARY KEY,
    made_ms BIGINT NOT NULL
);
INSERT INTO installation_marks (mark, made_ms)
    SELECT mark, marked_ms FROM installations WHERE ended_ms IS NULL AND mark <> ''
    UNION SELECT next_mark, marked_ms FROM installations WHERE ended_ms IS NULL AND next_mark <> '';
-- A new table, because SQLite checks the whole schema after each column that ALTER TABLE drops or renames: four of them
-- took as long as half of all migrations of a new database.
CREATE TEMPORARY TABLE former_installations AS SELECT id, began_ms, ended_ms FROM installations;
DROP TABLE installations;
-- adopted_ms: when an operator said that nobody else needs the objects and replicas of a former installation. Another one
-- may need the objects of the bucket whose keys have no id.
CREATE TABLE installations (
    id TEXT PRIMARY KEY,
    began_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    adopted_ms BIGINT
);
INSERT INTO installations (id, began_ms, ended_ms) SELECT id, began_ms, ended_ms FROM former_installations;
DROP TABLE former_installations;
INSERT INTO installations (id, began_ms, ended_ms)
    SELECT 'earlier', 0, 0 FROM (SELECT 1 AS is_owner FROM bucket_marks LIMIT 1) AS owners
    WHERE NOT EXISTS (SELECT 1 FROM installations WHERE id = 'earlier');
DROP TABLE bucket_marks;
