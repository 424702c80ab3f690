//! The game platform over HTTP: every effect is read back by another operation, and after a restart.

use std::thread;

use lyceum_games::limits::GAME_STATE_MAX_BYTES;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{always_both, both};
use serde_json::{Value, json};

use crate::enrolling::{get, post};
use crate::game_tokens::{both_at, code, player, playground};

#[test]
fn games_are_registered_changed_and_found_by_id_and_slug() {
    both(|server| {
        let client = playground(server);
        let sent =
            json!({"slug": "atlas", "displayName": "Atlas", "emoji": "🗺", "metadata": {"age": 8}});
        let created = post(&client, "/api/games", &sent, 201);
        assert_eq!(post(&client, "/api/games", &sent, 200), created, "sent again it stays");
        let other = json!({"slug": "atlas", "displayName": "Another"});
        assert_eq!(code(&client.post("/api/games").json(&other).expect(409)), "CONFLICT");
        let refused = client.post("/api/games").json(&json!({"slug": "-a", "displayName": "Bad"}));
        let refused: Value = refused.expect(422).json();
        assert_eq!(refused["error"]["details"][0]["path"], "slug");
        let change = json!({"description": "Maps"});
        client.patch("/api/games/atlas").json(&change).expect(200);
        client.patch("/api/games/unknown").json(&change).expect(404);
        server.restart();
        let ann = player(server, &server.client(), "ann", "rivers");
        let by_slug = get(&ann, "/api/games/atlas");
        assert_eq!((&by_slug["description"], &by_slug["emoji"]), (&json!("Maps"), &json!("🗺")));
        assert_eq!(get(&ann, &format!("/api/games/{}", created["id"].as_str().unwrap())), by_slug);
        let names: Vec<_> = get(&ann, "/api/games")
            .as_array()
            .unwrap()
            .iter()
            .map(|game| game["slug"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["atlas", "planets", "rivers"]);
        assert_eq!(get(&ann, "/api/games?limit=1&offset=1")[0]["slug"], "planets");
        ann.get("/api/games?limit=0").expect(422);
        assert_eq!(code(&ann.get("/api/games/unknown").expect(404)), "NOT_FOUND");
    });
}

#[test]
fn inventories_are_changed_by_id_and_slug() {
    both(|server| {
        let client = playground(server);
        let ann = player(server, &client, "ann", "rivers");
        assert_eq!(get(&ann, "/api/inventory"), json!([]));
        let item = json!({"slug": "boat", "displayName": "Boat", "type": "collectible", "gameId": "rivers"});
        let boat = post(&client, "/api/items", &item, 201);
        post(&client, "/api/items", &item, 200);
        let id = boat["id"].as_str().unwrap();
        let add = |item: &str, qty: Value| {
            post(&ann, "/api/inventory/add", &json!({"itemId": item, "qty": qty}), 200)
        };
        assert_eq!(add("boat", json!(2)), json!({"newTotal": 2}));
        assert_eq!(
            add(id, json!(3.0)),
            json!({"newTotal": 5}),
            "by id, and as engines send numbers"
        );
        add("LYCEUM_CREDITS", json!(10));
        let take = |qty: i64| {
            ann.post("/api/inventory/remove").json(&json!({"itemId": "boat", "qty": qty}))
        };
        assert_eq!(take(4).expect(200).json::<Value>(), json!({"newTotal": 1}));
        assert_eq!(code(&take(2).expect(409)), "CONFLICT");
        for qty in [json!(0), json!(-1), json!(1.5), json!("2"), json!(null), json!(1e30)] {
            let refused =
                ann.post("/api/inventory/add").json(&json!({"itemId": "boat", "qty": qty}));
            assert_eq!(code(&refused.expect(422)), "VALIDATION_FAILED");
        }
        ann.post("/api/inventory/add").json(&json!({"itemId": "none", "qty": 1})).expect(404);
        ann.post("/api/inventory/add").body("application/json", "{").expect(400);
        server.restart();
        let ann = player(server, &server.client(), "ann", "rivers");
        let held = get(&ann, "/api/inventory");
        assert_eq!(
            (&held[0]["item"]["slug"], &held[0]["quantity"]),
            (&json!("LYCEUM_CREDITS"), &json!(10))
        );
        assert_eq!((&held[1]["item"]["slug"], &held[1]["quantity"]), (&json!("boat"), &json!(1)));
        let of_planets = get(&server.client(), "/api/items?gameId=planets");
        assert!(of_planets.as_array().unwrap().iter().all(|item| item["slug"] != "boat"));
        assert_eq!(get(&ann, "/api/items?gameId=rivers").as_array().unwrap().len(), 2);
        let bob = player(server, &server.client(), "bob", "rivers");
        assert_eq!(get(&bob, "/api/inventory"), json!([]));
    });
}

#[test]
fn a_request_with_a_key_happens_once() {
    always_both(|server| {
        let client = playground(server);
        let ann = player(server, &client, "ann", "rivers");
        let credits = json!({"itemId": "LYCEUM_CREDITS", "qty": 7});
        let add = |client: &TestClient| {
            client
                .post("/api/inventory/add")
                .header("idempotency-key", "k-1")
                .json(&credits)
                .expect(200)
                .text()
        };
        let clients: Vec<TestClient> = (0..6).map(|_| ann.clone()).collect();
        let answers: Vec<String> = thread::scope(|scope| {
            let calls: Vec<_> = clients.iter().map(|client| scope.spawn(|| add(client))).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|answer| *answer == r#"{"newTotal":7}"#), "{answers:?}");
        let other = json!({"itemId": "LYCEUM_CREDITS", "qty": 8});
        let other = ann.post("/api/inventory/add").header("idempotency-key", "k-1").json(&other);
        assert_eq!(code(&other.expect(409)), "CONFLICT");
        server.restart();
        let ann = player(server, &server.client(), "ann", "rivers");
        assert_eq!(add(&ann), r#"{"newTotal":7}"#);
        assert_eq!(get(&ann, "/api/inventory")[0]["quantity"], 7);
        let bob = player(server, &server.client(), "bob", "rivers");
        assert_eq!(add(&bob), r#"{"newTotal":7}"#, "a key is each player's own");
        // One that was refused may be made good.
        let take = |qty: i64| {
            ann.post("/api/inventory/remove")
                .header("idempotency-key", "k-2")
                .json(&json!({"itemId": "LYCEUM_CREDITS", "qty": qty}))
        };
        take(8).expect(409);
        take(6).expect(200);
    });
}

#[test]
fn a_key_belongs_to_one_caller_player_game_and_route() {
    both(|server| {
        let client = playground(server);
        let send = |caller: &TestClient, path: &str, score: i64| {
            let call = caller.post(path).header("idempotency-key", "k");
            call.json(&json!({"score": score})).send()
        };
        let kept = |caller: &TestClient, path: &str| {
            let reply = send(caller, path, 5);
            assert_eq!(reply.status, 201, "{path}: {}", reply.text());
            reply.json::<Value>()["id"].clone()
        };
        // A second game, a second route, a second player, a second caller: each writes its own score.
        let (rivers, planets) =
            (player(server, &client, "ann", "rivers"), player(server, &client, "ann", "planets"));
        let other = server.client();
        let senders = [
            (&rivers, "/api/scores"),
            (&planets, "/api/scores"),
            (&rivers, "/api/games/rivers/scores"),
            (&client, "/api/scores?userId=ann&gameId=rivers"),
            (&client, "/api/scores?userId=ann&gameId=planets"),
            (&client, "/api/scores?userId=bob&gameId=rivers"),
            (&other, "/api/scores?userId=bob&gameId=rivers"),
        ];
        let ids = senders.map(|(caller, path)| kept(caller, path));
        let different: std::collections::HashSet<String> =
            ids.iter().map(ToString::to_string).collect();
        assert_eq!(different.len(), senders.len(), "{ids:?}");
        // Sent again each is answered as it was; with another body it is refused.
        assert_eq!(senders.map(|(caller, path)| kept(caller, path)), ids);
        for (caller, path) in senders {
            assert_eq!(send(caller, path, 6).status, 409, "{path}");
        }
        // For each name of the game, and each maker of the player's token.
        assert_eq!(
            kept(&player(server, &other, "ann", "rivers"), "/api/scores?gameId=rivers"),
            ids[0]
        );
        let id = get(&client, "/api/games/rivers")["id"].as_str().unwrap().to_owned();
        assert_eq!(kept(&client, &format!("/api/scores?userId=ann&gameId={id}")), ids[3]);
    });
}

#[test]
fn leader_boards_and_scores_are_listed_by_page_and_timeframe() {
    both_at("2026-11-01T12:00:00Z", |server, clock| {
        let client = playground(server);
        let submit = |user: &str, score: f64| {
            let path = format!("/api/games/rivers/scores?userId={user}");
            post(&client, &path, &json!({"score": score, "metadata": {"lap": 1}}), 201)
        };
        submit("bob", 50.0);
        submit("ann", 50.0);
        submit("ann", 20.5);
        let board = |client: &TestClient, query: &str| -> Vec<(i64, String, f64)> {
            let lines = get(client, &format!("/api/games/rivers/leaderboard{query}"));
            let line = |line: &Value| {
                let username = line["username"].as_str().unwrap().to_owned();
                (line["rank"].as_i64().unwrap(), username, line["score"].as_f64().unwrap())
            };
            lines.as_array().unwrap().iter().map(line).collect()
        };
        let [bob, ann] = [(1, "bob".to_owned(), 50.0), (2, "ann".to_owned(), 50.0)];
        assert_eq!(board(&client, ""), [bob, ann.clone()]);
        assert_eq!(board(&client, "?limit=1&offset=1"), [ann]);
        clock.advance_milliseconds(86_400_000);
        let client = server.client();
        assert_eq!(board(&client, "?timeframe=daily"), []);
        assert_eq!(board(&client, "?timeframe=monthly").len(), 2);
        client.get("/api/games/rivers/leaderboard?timeframe=yearly").expect(422);
        client.get("/api/leaderboard").expect(422);
        server.restart();
        let client = server.client();
        let ann = player(server, &client, "ann", "rivers");
        assert_eq!(get(&ann, "/api/leaderboard")[0]["username"], "bob");
        ann.get("/api/leaderboard?gameId=planets").expect(403);
        assert_eq!(get(&ann, "/api/users/me/scores?limit=1")[0]["score"], 20.5);
        assert_eq!(get(&ann, "/api/users/ann/scores?gameId=rivers")[0]["metadata"]["lap"], 1);
        for bad in [
            json!({}),
            json!({"score": "9"}),
            json!({"score": 1e16}),
            json!({"score": 1, "metadata": []}),
        ] {
            assert_eq!(code(&ann.post("/api/scores").json(&bad).expect(422)), "VALIDATION_FAILED");
        }
    });
}

#[test]
fn sessions_are_started_ended_and_listed() {
    both_at("2026-11-02T08:00:00Z", |server, clock| {
        let client = playground(server);
        let ann = player(server, &client, "ann", "rivers");
        let begun = post(&ann, "/api/games/rivers/sessions", &json!({}), 201);
        assert_eq!(begun["endedAt"], Value::Null);
        clock.advance_milliseconds(90_000);
        let path =
            format!("/api/games/rivers/sessions/{}/end", begun["sessionId"].as_str().unwrap());
        let ended = post(&ann, &path, &json!({}), 200);
        assert_eq!(ended["durationSeconds"], 90);
        let bob = player(server, &client, "bob", "rivers");
        assert_eq!(code(&bob.post(&path).json(&json!({})).expect(404)), "NOT_FOUND");
        server.restart();
        let ann = server.anonymous().with_token(ann.token().unwrap());
        assert_eq!(get(&ann, "/api/games/rivers/sessions"), json!([ended]));
    });
}

#[test]
fn a_state_is_saved_and_loaded() {
    both(|server| {
        let client = playground(server);
        let ann = player(server, &client, "ann", "rivers");
        let path = "/api/games/rivers/state";
        assert_eq!(get(&ann, path), json!({"state": null, "version": 0, "updatedAt": null}));
        let save = |body: Value| ann.put(path).json(&body);
        let saved: Value = save(json!({"state": [1, 2.50], "version": 0})).expect(200).json();
        assert_eq!(saved["version"], 1);
        assert_eq!(code(&save(json!({"state": {}, "version": 0})).expect(409)), "CONFLICT");
        assert_eq!(code(&save(json!({"version": 1})).expect(422)), "VALIDATION_FAILED");
        let text = |bytes: usize| json!({"state": "x".repeat(bytes - 2)});
        let most = GAME_STATE_MAX_BYTES;
        assert_eq!(code(&save(text(most + 1)).expect(413)), "PAYLOAD_TOO_LARGE");
        save(text(most)).expect(200);
        save(json!({"state": {"lap": 10}})).expect(200);
        server.restart();
        let ann = server.anonymous().with_token(ann.token().unwrap());
        let loaded = get(&ann, path);
        assert_eq!((&loaded["state"], &loaded["version"]), (&json!({"lap": 10}), &json!(3)));
    });
}

#[test]
fn achievements_levels_and_news_are_read_back() {
    both(|server| {
        let client = playground(server);
        let base = "/api/games/rivers/achievements";
        let laps = json!({"title": "Ten laps", "goal": 10, "xpReward": 60.5, "creditsReward": 25});
        client.put(&format!("{base}/laps")).json(&laps).expect(201);
        client.put(&format!("{base}/laps")).json(&laps).expect(200);
        client.put(&format!("{base}/first")).json(&json!({"title": "First"})).expect(201);
        client.put(&format!("{base}/a%20b")).json(&json!({"title": "Bad"})).expect(422);
        client.put(&format!("{base}/none")).json(&json!({"title": "Bad", "goal": 0})).expect(422);
        let ann = player(server, &client, "ann", "rivers");
        let level = get(&ann, "/api/levels/me");
        assert_eq!(
            level,
            json!({"level": 1, "totalXp": 0, "currentXp": 0, "xpToNextLevel": 50, "percent": 0})
        );
        let laps = |progress: i64| {
            post(&ann, &format!("{base}/laps/progress"), &json!({"progress": progress}), 200)
        };
        assert_eq!(laps(4)["unlockedAt"], Value::Null);
        let at = post(&ann, &format!("{base}/laps/unlock"), &json!({}), 200)["unlockedAt"].clone();
        assert!(at.is_string());
        ann.post(&format!("{base}/laps/progress")).json(&json!({"progress": -1})).expect(422);
        assert_eq!(
            code(&ann.post(&format!("{base}/unknown/unlock")).json(&json!({})).expect(404)),
            "NOT_FOUND"
        );
        post(&ann, &format!("{base}/first/unlock"), &json!({}), 200);
        server.restart();
        let ann = server.anonymous().with_token(ann.token().unwrap());
        // 60.5 XP are level 2, which brings 50 credits beside the achievement's 25: all of it once.
        let level = get(&ann, "/api/levels/me");
        assert_eq!(
            level,
            json!({"level": 2, "totalXp": 60.5, "currentXp": 10.5, "xpToNextLevel": 89.5, "percent": 10})
        );
        assert_eq!(get(&ann, "/api/inventory")[0]["quantity"], 75);
        let reached = get(&ann, base);
        assert_eq!((&reached[0]["name"], &reached[1]["unlockedAt"]), (&json!("first"), &at));
        let news = get(&ann, "/api/notifications?unread=true");
        let kinds: Vec<_> =
            news.as_array().unwrap().iter().map(|news| news["type"].clone()).collect();
        assert_eq!(kinds, ["achievement", "level", "achievement"]);
        let id = news[1]["id"].as_str().unwrap();
        let read = post(&ann, &format!("/api/notifications/{id}/read"), &json!({}), 200);
        assert!(read["readAt"].is_string());
        assert_eq!(post(&ann, &format!("/api/notifications/{id}/read"), &json!({}), 200), read);
        assert_eq!(get(&ann, "/api/notifications?unread=true").as_array().unwrap().len(), 2);
        let bob = player(server, &server.client(), "bob", "rivers");
        assert_eq!(
            code(&bob.post(&format!("/api/notifications/{id}/read")).json(&json!({})).expect(404)),
            "NOT_FOUND"
        );
        assert_eq!(post(&ann, "/api/notifications/read", &json!({}), 200), json!({"read": 2}));
        assert_eq!(get(&ann, "/api/notifications").as_array().unwrap().len(), 3);
        ann.get("/api/notifications?unread=maybe").expect(422);
    });
}

#[test]
fn the_table_of_levels_can_be_replaced() {
    both(|server| {
        let client = playground(server);
        let row =
            |level: i64, xp: f64| json!({"level": level, "xpRequired": xp, "creditsReward": 5});
        let put =
            |rows: Vec<Value>| client.put("/api/levels/config").json(&json!({"levels": rows}));
        put(vec![row(1, 0.0), row(2, 1.5)]).expect(200);
        for bad in [vec![], vec![row(2, 0.0)]] {
            assert_eq!(code(&put(bad).expect(422)), "VALIDATION_FAILED");
        }
        server.restart();
        let ann = player(server, &server.client(), "ann", "rivers");
        let table = get(&ann, "/api/levels/config");
        assert_eq!(table["levels"][1], json!({"level": 2, "xpRequired": 1.5, "creditsReward": 5}));
        assert_eq!(get(&ann, "/api/levels/me")["xpToNextLevel"], 1.5);
    });
}

#[test]
fn only_a_browser_gets_a_page_at_the_base_path() {
    both(|server| {
        let anyone = server.anonymous();
        let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
        let page = anyone.get("/api").header("accept", browser).expect(200);
        assert!(page.header("content-type").starts_with("text/html"));
        assert!(page.text().contains("base of an API"));
        for accept in ["application/json", "*/*"] {
            let answer = anyone.get("/api/").header("accept", accept).expect(200);
            assert_eq!(answer.json::<Value>()["name"], "Lyceum");
        }
        let inside = anyone.get("/api/users/me").header("accept", browser).expect(401);
        assert_eq!(code(&inside), "UNAUTHORIZED");
        let nowhere = anyone.get("/api/no/such").header("accept", browser).expect(404);
        assert_eq!(code(&nowhere), "NOT_FOUND");
    });
}
