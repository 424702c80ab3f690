-- Older servers must stop: they write records without the record clock.
-- For readers of changes.
CREATE INDEX badge_definitions_updated ON badge_definitions (updated, seq);
CREATE INDEX issued_credentials_updated ON issued_credentials (updated, seq);
CREATE INDEX learner_records_updated ON learner_records (updated, seq);
