-- Pictures, sound, films and stylesheets of items and stimuli. The bytes are blobs with this SHA-256; a path is relative
-- to the document. Instants are texts as 2026-01-15T08:00:00.000Z.
CREATE TABLE qti_file (
    seq ROWID,
    kind TEXT NOT NULL,
    identifier TEXT NOT NULL,
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size BIGINT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (kind, identifier, path)
);
CREATE INDEX qti_file_content ON qti_file (sha256);
