-- Older servers may run.
-- Which records an import wrote last: those whose version is still the one that stands here. owner is the record's
-- number in the table of its kind.
CREATE TABLE roster_imported (
    kind TEXT NOT NULL,
    owner BIGINT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (kind, owner)
);
