-- The most XP that a player has had. A level brings its credits once, even if a penalty took XP away in between.
ALTER TABLE game_players ADD COLUMN highest_xp BIGINT NOT NULL DEFAULT 0;
UPDATE game_players SET highest_xp = xp WHERE xp > 0;
