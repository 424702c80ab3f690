-- Older servers may run.
-- The backups that servers made or tried to make. `due_ms` is the time of the schedule; NULL means by hand. `state` is
-- running, done or failed; a server that makes a backup reports. `check_method` says how the file was tried after it was
-- written.
CREATE TABLE backups (
    id ROWID,
    node_id TEXT NOT NULL,
    node_name TEXT NOT NULL,
    due_ms BIGINT,
    has_database BIGINT NOT NULL,
    began_ms BIGINT NOT NULL,
    reported_ms BIGINT NOT NULL,
    state TEXT NOT NULL,
    file TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    error TEXT,
    checked_ms BIGINT,
    check_method TEXT,
    check_error TEXT
);
CREATE INDEX backups_began ON backups (began_ms);
INSERT INTO backups (node_id, node_name, has_database, began_ms, reported_ms, state, file, bytes)
    SELECT '', '', 1, at_ms, at_ms, 'done', subject, 0 FROM audit_log WHERE what = 'backup.make';
