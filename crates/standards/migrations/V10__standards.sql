-- Older servers must stop: this is the first schema.
-- Frameworks of academic standards (see repository). A record is the JSON of its standard members
-- without `extensions`, which stand beside it, as do members that no standard knows (`beyond`, an object).
-- Instants are texts as 2026-01-15T08:00:00.000Z.

-- Frameworks. `parts` is a JSON array of the lists that the package had; `rest` an object of what
-- else its outer levels said.
CREATE TABLE case_document (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    is_public BIGINT NOT NULL,
    title TEXT NOT NULL,
    uri TEXT NOT NULL,
    changed TEXT NOT NULL,
    parts TEXT NOT NULL,
    rest TEXT,
    body TEXT NOT NULL,
    extensions TEXT,
    beyond TEXT
);

-- Items, in the order of their frameworks. `document` is the framework's `seq`.
CREATE TABLE case_item (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    document BIGINT NOT NULL,
    changed TEXT NOT NULL,
    body TEXT NOT NULL,
    extensions TEXT,
    beyond TEXT
);
CREATE INDEX case_item_document ON case_item (document, seq);

-- Associations. `origin` and `destination` are identifiers of nodes, which may lie elsewhere.
CREATE TABLE case_association (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    document BIGINT NOT NULL,
    type TEXT NOT NULL,
    origin TEXT NOT NULL,
    destination TEXT NOT NULL,
    changed TEXT NOT NULL,
    body TEXT NOT NULL,
    extensions TEXT,
    beyond TEXT
);
CREATE INDEX case_association_document ON case_association (document, seq);
CREATE INDEX case_association_origin ON case_association (origin, type);
CREATE INDEX case_association_destination ON case_association (destination, type);

-- Concepts, subjects, licences, types of items, groupings of associations, rubrics. Frameworks of one
-- publisher may share them: an identifier is unique within a framework.
CREATE TABLE case_definition (
    seq ROWID,
    class TEXT NOT NULL,
    id TEXT NOT NULL,
    document BIGINT NOT NULL,
    body TEXT NOT NULL,
    extensions TEXT,
    beyond TEXT,
    UNIQUE (class, id, document)
);
CREATE INDEX case_definition_document ON case_definition (document, seq);

-- What a search finds items by: words in small letters, and grades behind a '#'.
CREATE TABLE case_word (
    word TEXT NOT NULL,
    item BIGINT NOT NULL,
    PRIMARY KEY (word, item)
) WITHOUT ROWID;
CREATE INDEX case_word_item ON case_word (item);

-- Which records are aligned to which items. Either may be gone, and come back.
CREATE TABLE case_alignment (
    seq ROWID,
    kind TEXT NOT NULL,
    record TEXT NOT NULL,
    item TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (kind, record, item)
);
CREATE INDEX case_alignment_item ON case_alignment (item, seq);
