-- Counting rejected envelopes reads this index instead of the bodies.
CREATE INDEX event_refusals_replayed ON event_refusals (replayed_ms);
