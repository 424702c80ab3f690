-- Answers count by the share of the full score that they reach, in millionths. An answer that waits for a
-- person has neither `correct` nor `share`; those of before have `correct` alone.
ALTER TABLE lesson_question ADD COLUMN share BIGINT;
-- What an attempt has of that: the sum of shares, and the answers that wait.
ALTER TABLE lesson_attempt ADD COLUMN earned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE lesson_attempt ADD COLUMN pending BIGINT NOT NULL DEFAULT 0;
UPDATE lesson_attempt SET earned = correct * 1000000;
-- The mastered units that its event told, which the gradebook repeats.
ALTER TABLE lesson_attempt ADD COLUMN units BIGINT NOT NULL DEFAULT 0;
UPDATE lesson_attempt SET units = 1 WHERE mastered = 1 AND NOT EXISTS (
    SELECT 1 FROM lesson_attempt b WHERE b.student = lesson_attempt.student
    AND b.lesson = lesson_attempt.lesson AND b.era = lesson_attempt.era AND b.mastered = 1
    AND b.completed_ms < lesson_attempt.completed_ms);
-- How the seeds of its questions follow from its own: 0 for attempts that began before this version.
ALTER TABLE lesson_attempt ADD COLUMN seeding BIGINT NOT NULL DEFAULT 0;
-- When it was answered last: today's work shows attempts that have not earned anything yet.
ALTER TABLE lesson_attempt ADD COLUMN last_ms BIGINT;
UPDATE lesson_attempt SET last_ms = (
    SELECT MAX(q.answered_ms) FROM lesson_question q
    WHERE q.attempt = lesson_attempt.id AND q.round = lesson_attempt.round)
    WHERE completed_ms IS NULL;
CREATE INDEX lesson_attempt_running ON lesson_attempt (last_ms) WHERE xp IS NULL;
