-- Imports of rosters that somebody asked for in a browser. The file and the refused rows are blobs, by
-- their SHA-256; instants are texts in UTC of one width.
CREATE TABLE imports (
    id ROWID,
    name TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    file TEXT NOT NULL,
    who TEXT NOT NULL,
    begun TEXT NOT NULL,
    ended TEXT,
    state TEXT NOT NULL,
    keep_going BIGINT NOT NULL,
    report TEXT,
    rejects TEXT,
    error TEXT
);
