-- Older servers may run.
-- The epoch that the next holder of a project must find in the store of replicas. A holder records its own token here
-- before it acknowledges anything; until then, it is that of an earlier holder. It counts while `replicated_of` is the token
-- of the project. Otherwise an older server has moved the project, or the columns are NULL: the next holder must
-- then find the token of the project itself.
ALTER TABLE project_homes ADD COLUMN replicated_token BIGINT;
ALTER TABLE project_homes ADD COLUMN replicated_of BIGINT;

-- replaced_ms: when an operator said that the servers of a former installation never run again; NULL if nobody did. Nothing of
-- other installations is deleted.
ALTER TABLE installations ADD COLUMN replaced_ms BIGINT;

-- The marks that the servers of this database stored in the S3 bucket as its owner. If the bucket has another one, servers
-- with a copy of this database use it, too.
CREATE TABLE bucket_marks (
    mark TEXT PRIMARY KEY,
    made_ms BIGINT NOT NULL
);
