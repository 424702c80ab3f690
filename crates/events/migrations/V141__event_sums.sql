-- Older servers may run.
-- Facts, summed by actor, quarter hour of UTC and context (see repository/facts/sums.rs). What arrived in the last seconds
-- is in event_facts, event_young_facts and the runs of facts; older servers write there, and sums are only written once
-- no older server is live. `day` and `bucket` are numbered since 1970-01-01T00:00:00Z, sums are thousandths as in
-- event_facts. The day comes first, because what arrives together nearly always has the same day.
CREATE TABLE event_sums (
    day BIGINT NOT NULL,
    actor BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    context BIGINT NOT NULL,
    events BIGINT NOT NULL,
    xp BIGINT NOT NULL,
    total_questions BIGINT NOT NULL,
    correct_questions BIGINT NOT NULL,
    mastered_units BIGINT NOT NULL,
    active BIGINT NOT NULL,
    inactive BIGINT NOT NULL,
    waste BIGINT NOT NULL,
    unknown BIGINT NOT NULL,
    anti_pattern BIGINT NOT NULL,
    PRIMARY KEY (day, actor, bucket, context)
) WITHOUT ROWID;
-- Room for the next version of a row in its page, so that its entry in the index stays.
POSTGRES ALTER TABLE event_sums SET (fillfactor = 80);

-- Where the events of the sums are, in runs: actor, quarter hour and number of the event.
CREATE TABLE event_place_chunks (
    id ROWID,
    body BLOB NOT NULL
);
POSTGRES ALTER TABLE event_place_chunks ALTER COLUMN body SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_place_chunks SET (toast_tuple_target = 8160);
INSERT INTO event_runs (name) VALUES ('places');
