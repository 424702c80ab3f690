-- When a deploy last asked for it: what no version has and nobody asked for lately goes.
ALTER TABLE project_frontends ADD COLUMN used_ms BIGINT NOT NULL DEFAULT 0;
