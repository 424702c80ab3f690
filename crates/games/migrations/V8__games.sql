-- Older servers must stop: this is the first schema.
-- The game platform. Instants are milliseconds since 1970-01-01T00:00:00Z, XP and units are in thousandths, metadata and states
-- are JSON texts, users are sourcedIds.

-- mock: the game of a sandbox. shares_identity: whether the game receives names and e-mail addresses of its players.
CREATE TABLE games (
    id TEXT PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL,
    description TEXT,
    emoji TEXT,
    platform TEXT NOT NULL,
    metadata TEXT NOT NULL,
    mock BIGINT NOT NULL,
    shares_identity BIGINT NOT NULL DEFAULT 0,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);

-- What a user has beside the roster's record, from the first time that it matters. highest_xp: the most XP that the player has
-- had. A level brings its credits once, even if a penalty took XP away in between.
CREATE TABLE game_players (
    user_id TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    developer_status TEXT NOT NULL,
    xp BIGINT NOT NULL,
    highest_xp BIGINT NOT NULL DEFAULT 0
);

-- Players who are not in the roster: anonymous visitors of one game's demo, and people who sign in and whom the roster does not
-- know. game_id: the one game of a demo visitor. person_id: the account of a person who signs in. ends_ms: when a demo visitor
-- is deleted, with all scores.
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

-- The best score of each user in each period of UTC: '' for all time, '2026-11', '2026-W47', '2026-11-21'. Of equal scores
-- the first counts.
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

-- Requests that were made with a key, and their answers: the same request sent again changes nothing. A key belongs to a caller,
-- player, game, method and route; scope names all of them but the player.
CREATE TABLE game_keyed_requests (
    user_id TEXT NOT NULL,
    request_key TEXT NOT NULL,
    scope TEXT NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (user_id, request_key, scope)
) WITHOUT ROWID;

-- Learning: the courses that games teach, and what players have done in them. What counts is in the log of events.
CREATE TABLE lms_courses (
    game_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    course_id TEXT NOT NULL,
    org_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    grade TEXT NOT NULL,
    title TEXT NOT NULL,
    course_code TEXT NOT NULL,
    total_xp BIGINT NOT NULL,
    masterable_units BIGINT NOT NULL,
    PRIMARY KEY (game_id, number)
) WITHOUT ROWID;

-- Records of a roster that the setup of a game created: the game may change and delete those alone. The platform is empty for the
-- roster of this server, otherwise the address of the other platform that a sandbox learns with.
CREATE TABLE lms_records (
    platform TEXT NOT NULL,
    kind TEXT NOT NULL,
    sourced_id TEXT NOT NULL,
    game_id TEXT NOT NULL,
    PRIMARY KEY (platform, kind, sourced_id)
) WITHOUT ROWID;

-- told_ms: the active time of the present attempt that the log of events has already.
CREATE TABLE lms_activities (
    user_id TEXT NOT NULL,
    course_id TEXT NOT NULL,
    activity TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    told_ms BIGINT NOT NULL,
    PRIMARY KEY (user_id, course_id, activity)
) WITHOUT ROWID;

CREATE TABLE lms_mastery (
    user_id TEXT NOT NULL,
    course_id TEXT NOT NULL,
    units BIGINT NOT NULL,
    PRIMARY KEY (user_id, course_id)
) WITHOUT ROWID;
