-- The game platform. Instants are milliseconds since 1970-01-01T00:00:00Z, XP is in thousandths,
-- metadata and states are JSON texts, users are sourcedIds.

CREATE TABLE games (
    id TEXT PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL,
    description TEXT,
    emoji TEXT,
    platform TEXT NOT NULL,
    metadata TEXT NOT NULL,
    mock BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);

-- What a user has beside the roster's record, from the first time that it matters.
CREATE TABLE game_players (
    user_id TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    developer_status TEXT NOT NULL,
    xp BIGINT NOT NULL
);

CREATE TABLE game_items (
    id TEXT PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    game_id TEXT,
    display_name TEXT NOT NULL,
    description TEXT,
    kind TEXT NOT NULL,
    metadata TEXT NOT NULL
);
INSERT INTO game_items (id, slug, game_id, display_name, description, kind, metadata)
    VALUES ('5a1c8f6e-3b0d-4a57-9c3e-1d2f60b7a904', 'LYCEUM_CREDITS', NULL, 'Credits',
        'What players earn and spend', 'currency', '{}');

CREATE TABLE game_inventory (
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL REFERENCES game_items (id),
    quantity BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (user_id, item_id)
) WITHOUT ROWID;

CREATE TABLE game_scores (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    game_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    score REAL NOT NULL,
    metadata TEXT NOT NULL,
    at_ms BIGINT NOT NULL
);
CREATE INDEX game_scores_user ON game_scores (user_id, seq);

-- The best score of each user in each period of UTC: '' for all time, '2026-11', '2026-W47',
-- '2026-11-21'. Of equal scores the first counts.
CREATE TABLE game_bests (
    game_id TEXT NOT NULL,
    period TEXT NOT NULL,
    user_id TEXT NOT NULL,
    score REAL NOT NULL,
    seq BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (game_id, period, user_id)
) WITHOUT ROWID;
CREATE INDEX game_bests_rank ON game_bests (game_id, period, score DESC, seq);

CREATE TABLE game_sessions (
    id TEXT PRIMARY KEY,
    game_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    started_ms BIGINT NOT NULL,
    ended_ms BIGINT
);
CREATE INDEX game_sessions_user ON game_sessions (user_id, game_id, started_ms);

CREATE TABLE game_states (
    game_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    state TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (game_id, user_id)
) WITHOUT ROWID;

-- XP that a level begins at, and the credits that reaching it brings.
CREATE TABLE game_levels (
    level BIGINT PRIMARY KEY,
    xp BIGINT NOT NULL,
    credits BIGINT NOT NULL
);
INSERT INTO game_levels (level, xp, credits) VALUES
    (1, 0, 0), (2, 50000, 50), (3, 150000, 50), (4, 300000, 50), (5, 500000, 100),
    (6, 750000, 100), (7, 1050000, 100), (8, 1400000, 150), (9, 1800000, 150),
    (10, 2250000, 250), (11, 2750000, 250), (12, 3300000, 250), (13, 3900000, 250),
    (14, 4550000, 250), (15, 5250000, 500), (16, 6000000, 500), (17, 6800000, 500),
    (18, 7650000, 500), (19, 8550000, 500), (20, 9500000, 1000);

CREATE TABLE game_achievements (
    id TEXT PRIMARY KEY,
    game_id TEXT NOT NULL,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    goal BIGINT NOT NULL,
    xp BIGINT NOT NULL,
    credits BIGINT NOT NULL,
    UNIQUE (game_id, name)
);

CREATE TABLE game_progress (
    user_id TEXT NOT NULL,
    achievement_id TEXT NOT NULL REFERENCES game_achievements (id),
    progress BIGINT NOT NULL,
    unlocked_ms BIGINT,
    PRIMARY KEY (user_id, achievement_id)
) WITHOUT ROWID;

CREATE TABLE game_notifications (
    seq ROWID,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    message TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    read_ms BIGINT
);
CREATE INDEX game_notifications_user ON game_notifications (user_id, seq);

-- Requests that were made with a key and how they were answered: sent again they do nothing.
CREATE TABLE game_requests (
    user_id TEXT NOT NULL,
    request_key TEXT NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (user_id, request_key)
) WITHOUT ROWID;
