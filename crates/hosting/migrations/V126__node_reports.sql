-- What the server of a node last reported: its release, its public address as the settings name it (empty: they do not),
-- whether it serves, is stopping or stopped, and when.
ALTER TABLE nodes ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN public_url TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN state TEXT NOT NULL DEFAULT 'stopped';
ALTER TABLE nodes ADD COLUMN seen_ms BIGINT NOT NULL DEFAULT 0;
