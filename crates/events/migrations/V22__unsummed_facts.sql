-- Older servers must stop: they write facts into tables that are gone.
-- Which events an actor has, by day: an index of event_log, apart from it because a summing of facts adds many entries at once
-- (see repository/facts/places.rs). A row has the event 'seq' and, packed, maybe others. They may be former versions of
-- corrected events. Days are numbered like those of event_spans.
CREATE TABLE event_places (
    actor BIGINT NOT NULL,
    day BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    others BLOB NOT NULL,
    PRIMARY KEY (actor, day, seq)
) WITHOUT ROWID;
INSERT INTO event_places (actor, day, seq, others)
SELECT actor, event_ms / 86400000, seq, CAST('' AS BLOB) FROM event_log WHERE superseded_by IS NULL ORDER BY 1, 2, 3;

-- Facts that are not in event_sums yet, packed (see repository/facts/unsummed.rs). A row has facts that one transaction wrote
-- for some actors, from the first to the last. It never waits for another row, so any number of servers write them at the same
-- time.
CREATE TABLE event_unsummed (
    id ROWID,
    first_actor BIGINT NOT NULL,
    last_actor BIGINT NOT NULL,
    count BIGINT NOT NULL,
    facts BLOB NOT NULL
);
-- Packed bytes are neither packed again nor stored apart from their row, which fits into a page.
POSTGRES ALTER TABLE event_unsummed ALTER COLUMN facts SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_unsummed SET (toast_tuple_target = 8160);

-- The facts of earlier releases: packed rows, which were not counted, and the chunks of runs, which are packed in the same way.
INSERT INTO event_unsummed (first_actor, last_actor, count, facts)
SELECT first_actor, last_actor, 1, facts FROM event_young_facts;
-- Heads of runs are no chunks. The list of runs has six numbers for each run, of 8 bytes each and with the lowest byte first.
-- The first one is the number of the head. Its lowest four bytes tell it from all others.
POSTGRES CREATE FUNCTION hex(bytea) RETURNS text LANGUAGE sql AS $$ SELECT upper(encode($1, 'hex')) $$;
INSERT INTO event_unsummed (first_actor, last_actor, count, facts)
WITH RECURSIVE heads (digits, rest) AS (
    SELECT '', hex(list) FROM event_runs WHERE name = 'facts' AND list IS NOT NULL
    UNION ALL
    SELECT substr(rest, 1, 8), substr(rest, 97) FROM heads WHERE rest <> ''
), hexadecimal (value, digit) AS (
    SELECT 0, '0' UNION ALL
    SELECT value + 1, substr('0123456789ABCDEF', value + 2, 1) FROM hexadecimal WHERE value < 15
), bytes (value, digits) AS (
    SELECT 16 * h.value + l.value, h.digit || l.digit FROM hexadecimal h, hexadecimal l
)
SELECT -9223372036854775807, 9223372036854775807, 64, c.body FROM event_fact_chunks c
JOIN bytes b0 ON b0.value = c.id & 255
JOIN bytes b1 ON b1.value = (c.id >> 8) & 255
JOIN bytes b2 ON b2.value = (c.id >> 16) & 255
JOIN bytes b3 ON b3.value = (c.id >> 24) & 255
WHERE b0.digits || b1.digits || b2.digits || b3.digits NOT IN (SELECT digits FROM heads);
POSTGRES DROP FUNCTION hex(bytea);

-- Facts that were rows of their own, and what corrections subtracted. Those with the context 0 only said where an event is.
INSERT INTO event_sums (day, actor, bucket, context, events, xp, total_questions, correct_questions, mastered_units,
    active, inactive, waste, unknown, anti_pattern)
SELECT CASE WHEN bucket >= 0 THEN bucket / 96 ELSE (bucket - 95) / 96 END, actor, bucket, context,
    CAST(SUM(events) AS BIGINT), CAST(SUM(xp) AS BIGINT), CAST(SUM(total_questions) AS BIGINT),
    CAST(SUM(correct_questions) AS BIGINT), CAST(SUM(mastered_units) AS BIGINT), CAST(SUM(active) AS BIGINT),
    CAST(SUM(inactive) AS BIGINT), CAST(SUM(waste) AS BIGINT), CAST(SUM(unknown) AS BIGINT), CAST(SUM(anti_pattern) AS BIGINT)
FROM event_facts WHERE context <> 0 GROUP BY actor, bucket, context
ON CONFLICT (day, actor, bucket, context) DO UPDATE SET
    events = event_sums.events + excluded.events,
    xp = event_sums.xp + excluded.xp,
    total_questions = event_sums.total_questions + excluded.total_questions,
    correct_questions = event_sums.correct_questions + excluded.correct_questions,
    mastered_units = event_sums.mastered_units + excluded.mastered_units,
    active = event_sums.active + excluded.active,
    inactive = event_sums.inactive + excluded.inactive,
    waste = event_sums.waste + excluded.waste,
    unknown = event_sums.unknown + excluded.unknown,
    anti_pattern = event_sums.anti_pattern + excluded.anti_pattern;
DELETE FROM event_sums WHERE events = 0;

DROP TABLE event_facts;
DROP TABLE event_young_facts;
DROP TABLE event_fact_chunks;
DROP TABLE event_place_chunks;
DELETE FROM event_runs WHERE name = 'places';
-- From now on only a lock: who changes sums holds this row.
UPDATE event_runs SET list = NULL WHERE name = 'facts';
