-- A key belongs to a caller, player, game, method and route: scope names all of them but the player. Requests of
-- before have the empty scope; sent again they are still answered as they were.
CREATE TABLE game_keyed_requests (
    user_id TEXT NOT NULL,
    request_key TEXT NOT NULL,
    scope TEXT NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (user_id, request_key, scope)
) WITHOUT ROWID;
INSERT INTO game_keyed_requests (user_id, request_key, scope, request, answer, at_ms)
    SELECT user_id, request_key, '', request, answer, at_ms FROM game_requests;
DROP TABLE game_requests;
