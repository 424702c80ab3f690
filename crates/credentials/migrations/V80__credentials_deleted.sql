-- Definitions and learner records can be deleted, learner records revoked. A deleted one keeps its row: its id
-- means nothing else later, and it can be restored.

ALTER TABLE badge_definitions ADD COLUMN deleted TEXT;
ALTER TABLE learner_records ADD COLUMN deleted TEXT;
ALTER TABLE learner_records ADD COLUMN revoked TEXT;
ALTER TABLE learner_records ADD COLUMN reason TEXT;

-- The place of a record in a status list of each issuer that signed a version of it. It is taken before the
-- record is signed, and so before the record is stored.
CREATE TABLE learner_record_places (
    record TEXT NOT NULL,
    issuer TEXT NOT NULL,
    list BIGINT NOT NULL,
    place BIGINT NOT NULL,
    PRIMARY KEY (record, issuer)
);
CREATE INDEX learner_record_places_list ON learner_record_places (issuer, list);
