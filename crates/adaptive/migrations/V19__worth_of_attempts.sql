-- What a lesson is worth is kept with each attempt from its beginning. Of former attempts it is known
-- where they earned something.
ALTER TABLE lesson_attempt ADD COLUMN base_xp REAL;
UPDATE lesson_attempt SET base_xp = xp / multiplier WHERE multiplier > 0;
-- The number of entries in the log follows from the answers: the one behind them is the question that is asked.
ALTER TABLE lesson_attempt DROP COLUMN served;
-- Test assignments may end by themselves; one that is deleted is cancelled and stays for those who list them.
ALTER TABLE test_assignment ADD COLUMN expires_ms BIGINT;
ALTER TABLE test_assignment ADD COLUMN cancelled BIGINT NOT NULL DEFAULT 0;
