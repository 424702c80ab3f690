-- Attempts that were completed without mastering the lesson, by time: who failed today is asked every day.
CREATE INDEX lesson_attempt_failed ON lesson_attempt (completed_ms) WHERE mastered = 0 AND completed_ms IS NOT NULL;
