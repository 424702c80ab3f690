-- Numbers of the log that follow each other and have one source and one day: lists by source or time go
-- over these (see repository/spans.rs). `first` and `last` are `seq` of event_log; days are
-- numbered since 1970-01-01 in UTC.
CREATE TABLE event_spans (
    first ROWID,
    last BIGINT NOT NULL,
    source BIGINT NOT NULL,
    day BIGINT NOT NULL
);
-- A server that is still writing waits.
POSTGRES LOCK TABLE event_log IN SHARE ROW EXCLUSIVE MODE;
-- What follows each other is as far from its place among those of its source and day. Spans are as short as new
-- ones: to find one event some stores read all of its span.
INSERT INTO event_spans (first, last, source, day)
    SELECT MIN(seq), MAX(seq), source, day FROM (
        SELECT seq, source, event_ms / 86400000 AS day,
            seq - ROW_NUMBER() OVER (PARTITION BY source, event_ms / 86400000 ORDER BY seq) AS ahead
        FROM event_log
        WHERE superseded_by IS NULL
    ) AS l GROUP BY source, day, ahead, seq / 1000;
CREATE INDEX event_spans_source ON event_spans (source, first);
CREATE INDEX event_spans_day ON event_spans (day, first);
DROP INDEX event_log_source;
DROP INDEX event_log_day;
