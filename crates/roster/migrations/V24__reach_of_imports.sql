-- Older servers must stop: they would store rows outside of the reach of the client that sent them.
-- The part of the roster that an import may change, as JSON.
ALTER TABLE imports ADD COLUMN reach TEXT NOT NULL DEFAULT '"everything"';
