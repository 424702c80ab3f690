-- The time of an attempt's event is read from the log, which has it anyway.
ALTER TABLE lesson_attempt DROP COLUMN event_ms;
