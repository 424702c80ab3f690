-- Older servers may run.
-- The fingerprint of the master key under which a node encrypts; empty for nodes that do not report it.
ALTER TABLE nodes ADD COLUMN master_key TEXT NOT NULL DEFAULT '';
