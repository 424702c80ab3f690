-- Older servers must stop: they write records without the record clock.
-- When a framework, or anything in it, changed here (see record_clock.rs in the store); what it says of itself is in changed.
ALTER TABLE case_document ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
UPDATE case_document SET stamp = changed;
CREATE INDEX case_document_stamp ON case_document (stamp, seq);
