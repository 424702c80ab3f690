-- Facts stand beside the log (V10). What was summed before keeps its sums; `lyceum events rebuild`
-- takes them apart.
INSERT INTO event_contexts SELECT id, course, subject, app FROM fact_contexts;
INSERT INTO event_facts
    SELECT actor, bucket, -1 - shard, context, events, xp, total_questions, correct_questions,
        mastered_units, active, inactive, waste, unknown, anti_pattern
    FROM facts;
DROP TABLE facts;
DROP TABLE fact_contexts;
