-- Older servers must stop: this is the first schema.
-- Assessment content (see repository). Instants are texts as 2026-01-15T08:00:00.000Z.

-- Items, tests and stimuli: the document as it was sent, beside it the JSON form that lists answer.
-- `words` is what a search looks into, in small letters. Small columns come first: a scan of them
-- does not read the documents.
CREATE TABLE qti_document (
    seq ROWID,
    kind TEXT NOT NULL,
    identifier TEXT NOT NULL,
    version BIGINT NOT NULL,
    type TEXT NOT NULL,
    qti_version TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    title TEXT NOT NULL,
    metadata TEXT,
    words TEXT NOT NULL,
    json TEXT NOT NULL,
    xml TEXT NOT NULL,
    UNIQUE (kind, identifier)
);
CREATE INDEX qti_document_created ON qti_document (kind, created_at, seq);
CREATE INDEX qti_document_updated ON qti_document (kind, updated_at, seq);

-- What documents were before they were replaced or deleted. A version number is never given twice.
CREATE TABLE qti_version (
    seq ROWID,
    kind TEXT NOT NULL,
    identifier TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    title TEXT NOT NULL,
    metadata TEXT,
    json TEXT NOT NULL,
    xml TEXT NOT NULL,
    UNIQUE (kind, identifier, version)
);

-- Who refers to whom: items to stimuli, tests to items, banks to tests. The target may be missing.
CREATE TABLE qti_reference (
    kind TEXT NOT NULL,
    identifier TEXT NOT NULL,
    target_kind TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (kind, identifier, target_kind, target)
) WITHOUT ROWID;
CREATE INDEX qti_reference_target ON qti_reference (target_kind, target);

-- Several variations of a test for one lesson. `tests` is a JSON array of identifiers, in the order
-- in which they take turns; `rotation` is how many users began.
CREATE TABLE assessment_bank (
    seq ROWID,
    identifier TEXT NOT NULL UNIQUE,
    version BIGINT NOT NULL,
    rotation BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    title TEXT NOT NULL,
    tests TEXT NOT NULL,
    metadata TEXT
);

-- Which test of a bank a user was served in which attempt.
CREATE TABLE assessment_bank_turn (
    bank TEXT NOT NULL,
    user_id TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    test TEXT NOT NULL,
    PRIMARY KEY (bank, user_id, attempt)
) WITHOUT ROWID;

-- What people say of lessons and questions. `kind` is LESSON or QUESTION.
CREATE TABLE assessment_feedback (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    lesson_id TEXT NOT NULL,
    question_id TEXT,
    user_id TEXT NOT NULL,
    human_approved BIGINT,
    created_at TEXT NOT NULL,
    feedback TEXT NOT NULL
);
CREATE INDEX assessment_feedback_lesson ON assessment_feedback (lesson_id, seq);

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
