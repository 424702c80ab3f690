-- Players who are not in the roster: anonymous visitors of one game's demo, and people who sign in and whom
-- the roster does not know. Instants are milliseconds since 1970-01-01T00:00:00Z.

-- game_id: the one game of a demo visitor. person_id: the account of somebody who signs in. ends_ms: when a
-- demo visitor is forgotten, with all scores.
CREATE TABLE game_visitors (
    id TEXT PRIMARY KEY,
    game_id TEXT,
    person_id TEXT UNIQUE,
    username TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    ends_ms BIGINT
);
CREATE INDEX game_visitors_end ON game_visitors (ends_ms);

-- As game_scores and game_bests, of demo visitors alone.
CREATE TABLE game_demo_scores (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    game_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    score REAL NOT NULL,
    metadata TEXT NOT NULL,
    at_ms BIGINT NOT NULL
);
CREATE INDEX game_demo_scores_user ON game_demo_scores (user_id, seq);
CREATE TABLE game_demo_bests (
    game_id TEXT NOT NULL,
    period TEXT NOT NULL,
    user_id TEXT NOT NULL,
    score REAL NOT NULL,
    seq BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (game_id, period, user_id)
) WITHOUT ROWID;
CREATE INDEX game_demo_bests_rank ON game_demo_bests (game_id, period, score DESC, seq);
CREATE INDEX game_demo_bests_user ON game_demo_bests (user_id);

-- Whether the game is told names and e-mail addresses of its players. The player of a sandbox is nobody.
ALTER TABLE games ADD COLUMN shares_identity BIGINT NOT NULL DEFAULT 0;
UPDATE games SET shares_identity = 1 WHERE mock = 1;
