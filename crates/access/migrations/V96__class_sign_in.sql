-- Sign-in in class: the classes that are open, and the pictures or words with which students prove themselves there.
-- The secrets are sealed under the master key, because teachers print them on cards.

CREATE TABLE class_sign_ins (
    class_id TEXT PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    opened_by TEXT NOT NULL REFERENCES people (id),
    opened_ms BIGINT NOT NULL,
    closes_ms BIGINT NOT NULL
);

CREATE TABLE class_secrets (
    person TEXT PRIMARY KEY REFERENCES people (id),
    sealed BLOB NOT NULL,
    made_ms BIGINT NOT NULL
);
