-- The text of many events of one transaction, packed together (see repository/blocks.rs). `id` is the
-- number of the first of them; a block never changes. The row of an event in a block names it and holds
-- an empty `body`; any other row holds the text itself.
CREATE TABLE event_blocks (
    id ROWID,
    packed BLOB NOT NULL
);
ALTER TABLE event_log ADD COLUMN block BIGINT;
