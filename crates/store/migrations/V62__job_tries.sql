-- Each try of a job: when it began, when it ended and what failed. One that never ended, and is not the last,
-- lost its worker.
CREATE TABLE job_tries (
    job BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    began TEXT NOT NULL,
    ended TEXT,
    error TEXT,
    PRIMARY KEY (job, attempt)
);
