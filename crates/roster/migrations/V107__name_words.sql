-- Users, classes and courses are found by the words of their names. A job stores the words of the records that were
-- written before, because SQL cannot remove accents in the same way on both stores.
INSERT INTO jobs (kind, payload, state, attempts, due)
SELECT 'name-words', '', 'waiting', 0, '1970-01-01T00:00:00.000Z'
WHERE EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM classes) OR EXISTS (SELECT 1 FROM courses);
