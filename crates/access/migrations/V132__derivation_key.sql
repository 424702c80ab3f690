-- The key from which other keys are derived, sealed under the master key. It stays the same when the master key is
-- rotated, because hashes that were made with derived keys cannot be made again.
CREATE TABLE derivation_key (
    id BIGINT PRIMARY KEY,
    sealed BLOB NOT NULL
);
