-- Facts that were written together and are not in a run yet (see repository/facts/young.rs): packed like the chunks of
-- runs, with their first and last actor and quarter hour. A row never waits for another one, so any number of servers
-- write them at the same time. SQLite has one writer, which writes runs at once, and leaves this table empty.
CREATE TABLE event_young_facts (
    id ROWID,
    first_actor BIGINT NOT NULL,
    last_actor BIGINT NOT NULL,
    first_bucket BIGINT NOT NULL,
    last_bucket BIGINT NOT NULL,
    facts BLOB NOT NULL
);
POSTGRES ALTER TABLE event_young_facts ALTER COLUMN facts SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_young_facts SET (toast_tuple_target = 8160);
