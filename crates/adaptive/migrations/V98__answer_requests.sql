-- The requests by which students answered: the number of the entry in lesson_question that each one answered. A browser
-- that sends an answer again, because it did not learn whether the first arrived, repeats the id of the request.
CREATE TABLE lesson_answer_request (
    attempt BIGINT NOT NULL,
    round BIGINT NOT NULL,
    request TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (attempt, round, request)
) WITHOUT ROWID;
