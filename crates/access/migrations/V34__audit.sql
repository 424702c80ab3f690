-- Who changed what in the console or by a command, and when. Instants are milliseconds since
-- 1970-01-01T00:00:00Z; details are JSON without secrets.

CREATE TABLE audit_log (
    seq ROWID,
    at_ms BIGINT NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL
);
CREATE INDEX audit_log_subject ON audit_log (subject, seq);
