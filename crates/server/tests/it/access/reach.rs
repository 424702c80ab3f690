//! The access of developers, of API keys for one project, and of clients without roster scopes to games and players.

use lyceum_access::{NewClient, Player, Role, Scope, person};
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer, both, both_as};
use serde_json::{Value, json};

use super::bound_key;
use crate::enrolling::{get, post, user};
use crate::game_tokens::{code, player, playground};
use crate::people::let_in;
use crate::play::with_email;

/// Ann has played `rivers` and `planets`, and Bob only `planets`. Each game has an item.
pub(super) fn played(server: &TestServer) -> TestClient {
    let client = playground(server);
    for (slug, game) in [("boat", "rivers"), ("rocket", "planets")] {
        let item = json!({ "slug": slug, "displayName": slug, "gameId": game });
        post(&client, "/api/items", &item, 201);
        let add = |user: &str| {
            let player = player(server, &client, user, game);
            post(&player, "/api/scores", &json!({ "score": 5 }), 201);
            post(&player, "/api/inventory/add", &json!({ "itemId": slug, "qty": 1 }), 200);
        };
        add("ann");
        if game == "planets" {
            add("bob");
        }
    }
    with_email(&client, "ann@example.org");
    client
}

/// A developer and an API key whose only project is `rivers`.
fn owners(server: &TestServer) -> [TestClient; 2] {
    let grace = let_in(server, "grace@example.org", Role::Developer);
    let join = server.db().write_blocking(|tx| {
        let grace = person::require(tx, "grace@example.org")?;
        lyceum_access::join(tx, "rivers", &grace.id)
    });
    join.unwrap();
    [grace, bound_key(server, "rivers")]
}

fn refused(client: &TestClient, paths: &[&str]) {
    for path in paths {
        assert_eq!(code(&client.get(path).expect(403)), "FORBIDDEN", "{path}");
    }
}

#[test]
fn a_developer_reads_own_games_and_the_usernames_of_their_players() {
    both(|server| {
        let client = played(server);
        let ann = json!({ "id": "ann", "username": "ann" });
        for owner in owners(server) {
            assert_eq!(get(&owner, "/api/users/ann"), ann);
            assert_eq!(get(&owner, "/api/users"), json!([ann]));
            refused(
                &owner,
                &[
                    "/api/users/nobody",
                    "/api/inventory?userId=bob",
                    "/api/levels/me?userId=ann",
                    "/api/lms/xp/total?userId=ann",
                    "/api/lms/xp/today?userId=ann",
                    "/api/lms/xp/history?userId=ann",
                    "/api/notifications?userId=ann",
                ],
            );
            for path in [
                "/api/games/rivers/state?userId=ann",
                "/api/games/rivers/sessions?userId=ann",
                "/api/games/rivers/leaderboard",
                "/api/items?gameId=planets",
                "/api/items/rocket",
            ] {
                owner.get(path).expect(200);
            }
            assert_eq!(get(&owner, "/api/users/ann/scores").as_array().unwrap().len(), 1);
            let held = get(&owner, "/api/inventory?userId=ann");
            assert_eq!(held.as_array().unwrap().len(), 1, "{held}");
            assert_eq!(held[0]["item"]["slug"], "boat");
        }
        assert_eq!(get(&client, "/api/users/ann/scores").as_array().unwrap().len(), 2);
        assert_eq!(get(&client, "/api/inventory?userId=ann").as_array().unwrap().len(), 2);
    });
}

#[test]
fn a_developer_changes_own_games_and_nothing_that_games_share() {
    both(|server| {
        let client = played(server);
        let levels = get(&client, "/api/levels/config");
        for owner in owners(server) {
            let refused = |path: &str, body: &Value| {
                assert_eq!(code(&owner.post(path).json(body).expect(403)), "FORBIDDEN", "{path}");
            };
            let item = |slug: &str, game: Option<&str>| json!({ "slug": slug, "displayName": slug, "gameId": game });
            refused("/api/items", &item("comet", Some("planets")));
            refused("/api/items", &item("token", None));
            let created = owner.post("/api/items").json(&item("oar", Some("rivers"))).send().status;
            assert!(matches!(created, 200 | 201), "{created}");
            let add = |item: &str| json!({ "itemId": item, "qty": 1 });
            refused("/api/inventory/add?userId=ann", &add("rocket"));
            refused("/api/inventory/remove?userId=ann", &add("rocket"));
            refused("/api/inventory/add?userId=bob", &add("boat"));
            // Credits belong to no game, so developers cannot give or take them.
            refused("/api/inventory/add?userId=ann", &add("LYCEUM_CREDITS"));
            refused("/api/inventory/remove?userId=ann", &add("LYCEUM_CREDITS"));
            let created = player(server, &owner, "ann", "rivers");
            created.post("/api/inventory/add").json(&add("LYCEUM_CREDITS")).expect(403);
            post(&owner, "/api/inventory/add?userId=ann", &add("boat"), 200);
            let levels = owner.put("/api/levels/config").json(&levels).expect(403);
            assert_eq!(code(&levels), "FORBIDDEN");
            refused("/api/notifications/read?userId=ann", &json!({}));
        }
        // A player's token also changes only the game's own items.
        let ann = player(server, &client, "ann", "rivers");
        let rocket = json!({ "itemId": "rocket", "qty": 1 });
        assert_eq!(code(&ann.post("/api/inventory/add").json(&rocket).expect(403)), "FORBIDDEN");

        let administrator = let_in(server, "ada@example.org", Role::Administrator);
        let writer = server.client_with(&[Scope::GamesWrite], PayloadDialect::Platform);
        for may in [administrator, writer] {
            may.put("/api/levels/config").json(&levels).expect(200);
            post(&may, "/api/inventory/add?userId=bob", &rocket, 200);
        }
    });
}

#[test]
fn a_score_in_an_own_game_makes_its_player_visible() {
    both(|server| {
        played(server);
        let [grace, key] = owners(server);
        refused(&grace, &["/api/users/bob"]);
        post(&key, "/api/games/rivers/scores?userId=bob", &json!({ "score": 1 }), 201);
        assert_eq!(get(&grace, "/api/users/bob"), json!({ "id": "bob", "username": "bob" }));
    });
}

#[test]
fn only_readers_of_the_roster_see_names_and_enrollments() {
    both(|server| {
        let client = played(server);
        let seen = json!({ "id": "ann", "username": "ann" });
        let games = server.client_with(&[Scope::GamesRead], PayloadDialect::Platform);
        assert_eq!(get(&games, "/api/users/ann"), seen);
        let roster = [Scope::GamesRead, Scope::RosterRead];
        let reader = server.client_with(&roster, PayloadDialect::Platform);
        let guide = let_in(server, "gil@example.org", Role::Guide);
        let administrator = let_in(server, "ada@example.org", Role::Administrator);
        for knows in [&client, &reader, &guide, &administrator] {
            let ann = get(knows, "/api/users/ann");
            assert_eq!((&ann["name"], &ann["email"]), (&json!("ann X"), &json!("ann@example.org")));
            assert_eq!(ann["lms"]["id"], "ann");
        }
        // If a game receives the identity of players, its developers see the identity of its students, but not their
        // other learning. Having played the game is not enough, because developers can claim that for anybody.
        let identity = json!({ "shares": true });
        administrator.put("/api/games/rivers/identity").json(&identity).expect(200);
        let owners = owners(server);
        for owner in &owners {
            assert_eq!(get(owner, "/api/users/ann"), seen);
        }
        teach(&client, "ann");
        for owner in &owners {
            let ann = get(owner, "/api/users/ann");
            assert_eq!((&ann["name"], &ann["email"]), (&json!("ann X"), &json!("ann@example.org")));
            assert!(ann.get("lms").is_none_or(Value::is_null), "{ann}");
            refused(owner, &["/api/users/bob"]);
        }
    });
}

/// Lets `rivers` teach a course in which the user is a student.
fn teach(client: &TestClient, user: &str) {
    let course = json!({ "subject": "Math", "grade": 3, "totalXp": 900, "courseId": "m-rivers" });
    let setup = json!({ "gameId": "rivers", "organization": { "id": "s" }, "courses": [course] });
    post(client, "/api/lms/setup", &setup, 200);
    post(client, &format!("/bridge/enrollments/enroll/{user}/m-rivers"), &json!({}), 201);
}

/// The visible data of a player outside the game.
const BEYOND: [&str; 5] = [
    "/api/notifications",
    "/api/levels/me",
    "/api/lms/xp/total",
    "/api/lms/xp/today",
    "/api/lms/xp/history",
];

#[test]
fn a_developer_cannot_widen_access_to_a_player_but_a_school_can() {
    both(|server| {
        let client = played(server);
        client.put("/api/games/rivers/identity").json(&json!({ "shares": true })).expect(200);
        with_email(&client, "ann@example.org");
        let owners = owners(server);
        let both_ways = |owner: &TestClient, user: &str, path: &str| {
            let token = player(server, owner, user, "rivers");
            let named = owner.get(&format!("{path}?userId={user}")).send().status;
            (token.get(path).send().status, named)
        };
        for owner in &owners {
            // Scores, tokens and actions with the token can all be made by the developer.
            post(owner, "/api/games/rivers/scores?userId=bob", &json!({ "score": 1 }), 201);
            let bob = player(server, owner, "bob", "rivers");
            post(&bob, "/api/scores", &json!({ "score": 1 }), 201);
            for path in BEYOND {
                assert_eq!(both_ways(owner, "bob", path), (403, 403), "{path}");
            }
            let me = get(&bob, "/api/users/me");
            assert_eq!(
                (&me["name"], &me["email"], &me["lms"]),
                (&json!("bob"), &json!(""), &Value::Null)
            );
            assert_eq!(get(owner, "/api/users/bob"), json!({ "id": "bob", "username": "bob" }));
        }
        teach(&client, "ann");
        for owner in &owners {
            for path in BEYOND {
                assert_eq!(both_ways(owner, "ann", path), (200, 200), "{path}");
                assert_eq!(both_ways(owner, "bob", path), (403, 403), "{path}");
            }
            let me = get(&player(server, owner, "ann", "rivers"), "/api/users/me");
            assert_eq!(
                (&me["email"], &me["lms"]["id"]),
                (&json!("ann@example.org"), &json!("ann"))
            );
        }
    });
}

#[test]
fn a_backend_sees_of_other_users_only_their_actions_in_its_game() {
    let demo = Player { user: "demo".to_owned(), game: String::new() };
    let setup = Setup { sandbox: Some((demo, true)), ..Setup::default() };
    both_as(&setup, |server| {
        let client = played(server);
        user(&client, "demo", "student", &["03"], "s");
        teach(&client, "ann");
        let status = |path: &str, user: &str| {
            let path = format!("{path}?userId={user}");
            server.anonymous().get(&path).header("lyceum-backend", "rivers").send().status
        };
        for path in BEYOND.into_iter().chain(["/api/users/me"]) {
            assert_eq!((status(path, "bob"), status(path, "ann")), (403, 200), "{path}");
            assert_eq!(status(path, "demo"), 200, "who develops knows the demo user: {path}");
        }
        assert_eq!((status("/api/users/ann", "bob"), status("/api/users/bob", "bob")), (200, 403));
        let backend = server.anonymous();
        let ask =
            |path: &str| backend.get(path).header("lyceum-backend", "rivers").expect(200).json();
        let ann: Value = ask("/api/users/ann?userId=ann");
        assert_eq!(ann["lms"]["id"], "ann");
        // The backend acts for any player, and its writes give it no further access.
        let score = backend.post("/api/scores?userId=bob").header("lyceum-backend", "rivers");
        score.json(&json!({ "score": 1 })).expect(201);
        assert_eq!(ask("/api/users/bob?userId=bob"), json!({ "id": "bob", "username": "bob" }));
        assert_eq!(status("/api/lms/xp/total", "bob"), 403);
        let credits =
            backend.post("/api/inventory/add?userId=bob").header("lyceum-backend", "rivers");
        credits.json(&json!({ "itemId": "LYCEUM_CREDITS", "qty": 1 })).expect(403);
        // With its caller's token, the backend has the caller's access.
        let bob = player(server, &client, "bob", "rivers");
        let call = bob.get("/api/lms/xp/total").header("lyceum-backend", "rivers");
        call.expect(200);
    });
}

#[test]
fn a_token_ends_when_its_creator_leaves_the_project() {
    both(|server| {
        played(server);
        let [grace, _] = owners(server);
        let ann = player(server, &grace, "ann", "rivers");
        get(&ann, "/api/users/me");
        let leave = server.db().write_blocking(|tx| {
            let grace = person::require(tx, "grace@example.org")?;
            lyceum_access::leave(tx, "rivers", &grace.id)
        });
        leave.unwrap();
        ann.get("/api/users/me").expect(401);
    });
}

#[test]
fn a_game_token_has_no_more_access_than_the_developer_who_created_it() {
    both(|server| {
        let client = played(server);
        let by_client = player(server, &client, "ann", "rivers");
        assert_eq!(get(&by_client, "/api/users/me")["lms"]["id"], "ann");
        get(&by_client, "/api/notifications");
        for owner in owners(server) {
            let ann = player(server, &owner, "ann", "rivers");
            let me = get(&ann, "/api/users/me");
            assert_eq!((&me["username"], &me["email"]), (&json!("ann"), &json!("")));
            assert_eq!(me["lms"], Value::Null);
            assert_eq!(get(&ann, "/api/users/me/scores").as_array().unwrap().len(), 1);
            assert_eq!(get(&ann, "/api/inventory").as_array().unwrap().len(), 1);
            refused(&ann, &BEYOND);
            refused(&ann, &["/api/users/bob"]);
            post(&ann, "/api/inventory/add", &json!({ "itemId": "boat", "qty": 1 }), 200);
        }
    });
}

#[test]
fn a_client_without_the_roster_still_acts_for_players() {
    both(|server| {
        played(server);
        let scopes = [Scope::GamesRead, Scope::GamesWrite].into_iter().collect();
        let (id, secret) = server.register(&NewClient { scopes, ..NewClient::named("games") });
        let games = server.anonymous().with_token(server.token_of(&id, &secret));
        let bob = player(server, &games, "bob", "rivers");
        // The client cannot read people, and neither can a token that it creates.
        assert_eq!(get(&bob, "/api/users/me")["lms"], Value::Null);
        for path in BEYOND {
            get(&bob, path);
            get(&games, &format!("{path}?userId=bob"));
        }
        post(&games, "/api/games/planets/scores?userId=bob", &json!({ "score": 1 }), 201);
        assert_eq!(get(&games, "/api/users").as_array().unwrap().len(), 2);
    });
}

#[test]
fn xp_of_today_are_set_for_students_of_the_game_and_of_its_own_courses() {
    both(|server| {
        let client = played(server);
        for (game, course) in [("rivers", "m-rivers"), ("planets", "m-planets")] {
            let course =
                json!({ "subject": "Math", "grade": 3, "totalXp": 900, "courseId": course });
            let setup =
                json!({ "gameId": game, "organization": { "id": "s" }, "courses": [course] });
            post(&client, "/api/lms/setup", &setup, 200);
        }
        let enroll = |user: &str, course: &str| {
            post(&client, &format!("/bridge/enrollments/enroll/{user}/{course}"), &json!({}), 201);
        };
        for (user, course) in [("ann", "m-rivers"), ("ann", "m-planets"), ("bob", "m-planets")] {
            enroll(user, course);
        }
        let set = |who: &TestClient, user: &str, game: &str, xp: u32| {
            let path = format!("/api/lms/xp/today?userId={user}&gameId={game}");
            who.put(&path).json(&json!({ "xp": xp })).send().status
        };
        for user in ["ann", "bob"] {
            assert_eq!(set(&client, user, "planets", 30), 200);
        }
        for owner in owners(server) {
            assert_eq!(set(&owner, "bob", "rivers", 0), 403, "bob is not a student of the game");
            assert_eq!(set(&owner, "ann", "rivers", 40), 200);
            assert_eq!(set(&owner, "ann", "rivers", 0), 403, "30 XP are another game's");
            assert_eq!(set(&owner, "ann", "rivers", 30), 200);
        }
        let ann = player(server, &client, "ann", "rivers");
        assert_eq!(ann.put("/api/lms/xp/today").json(&json!({ "xp": 0 })).send().status, 403);
        let today =
            |user: &str| get(&client, &format!("/api/lms/xp/today?userId={user}"))["xp"].clone();
        assert_eq!((today("ann"), today("bob")), (json!(30), json!(30)));
        assert_eq!(set(&client, "ann", "rivers", 0), 200, "a client of the school corrects all");
    });
}
