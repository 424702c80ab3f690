//! Access to games: game tokens, clients on behalf of players, and the mock tokens of a sandbox.

use std::sync::Arc;

use lyceum_access::{NewClient, Player, Scope, client};
use lyceum_core::PayloadDialect;
use lyceum_core::time::{ManualClock, Timestamp};
use lyceum_testkit::postgres::both_stores;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer, both, both_as};
use serde_json::{Value, json};
use ureq::http::Method;

use crate::enrolling::{ROSTERING, get, post, schools, user};

/// A school with the players ann and bob, and the games `rivers` and `planets`.
pub(crate) fn playground(server: &TestServer) -> TestClient {
    let client = server.client();
    schools(&client);
    for name in ["ann", "bob"] {
        user(&client, name, "student", &["03"], "s");
    }
    for (slug, name) in [("rivers", "Rivers"), ("planets", "Planets")] {
        post(&client, "/api/games", &json!({"slug": slug, "displayName": name}), 201);
    }
    client
}

/// Runs the body on both stores, each time with a clock that stands at the instant.
pub(crate) fn both_at(instant: &str, body: impl Fn(&mut TestServer, &ManualClock)) {
    let instant: Timestamp = instant.parse().unwrap();
    both_stores(&lyceum_api::migrations(), |target| {
        let clock = Arc::new(ManualClock::at(instant));
        let setup = Setup { clock: Arc::clone(&clock) as Arc<_>, ..Setup::default() };
        body(&mut TestServer::start_as(target, setup), &clock);
    });
}

/// A player of a game.
pub(crate) fn player(
    server: &TestServer,
    client: &TestClient,
    user: &str,
    game: &str,
) -> TestClient {
    let path = format!("/api/games/{game}/token");
    let token = post(client, &path, &json!({ "userId": user }), 200);
    server.anonymous().with_token(token["token"].as_str().unwrap())
}

pub(crate) fn code(reply: &lyceum_testserver::client::Reply) -> String {
    let body: Value = reply.json();
    let error = &body["error"];
    assert!(error["message"].is_string() && error["details"].is_array(), "{body}");
    error["code"].as_str().unwrap().to_owned()
}

#[test]
fn a_game_token_opens_one_game_for_one_player_and_nothing_else() {
    both(|server| {
        let client = playground(server);
        let ann = player(server, &client, "ann", "rivers");
        let me = get(&ann, "/api/users/me");
        assert_eq!(
            (&me["id"], &me["username"], &me["role"]),
            (&json!("ann"), &json!("ann"), &json!("player"))
        );
        post(&ann, "/api/scores", &json!({ "score": 5 }), 201);
        post(&ann, "/api/games/rivers/scores", &json!({ "score": 6 }), 201);

        let other = ann.post("/api/games/planets/scores").json(&json!({ "score": 7 })).expect(403);
        assert_eq!(code(&other), "FORBIDDEN");
        assert_eq!(code(&ann.get("/api/users/bob/scores").expect(403)), "FORBIDDEN");
        assert_eq!(code(&ann.get("/api/inventory?userId=bob").expect(403)), "FORBIDDEN");
        ann.get("/api/users/bob").expect(403);
        let bob = player(server, &client, "bob", "rivers");
        post(&bob, "/api/scores", &json!({ "score": 5 }), 201);
        let seen = get(&ann, "/api/users/bob");
        assert_eq!(seen, json!({ "id": "bob", "username": "bob" }), "no more of others");
        // What makes games is the clients', and so is a further token.
        let game = json!({ "slug": "mine", "displayName": "Mine" });
        assert_eq!(code(&ann.post("/api/games").json(&game).expect(403)), "FORBIDDEN");
        ann.post("/api/games/rivers/token").json(&json!({})).expect(403);
        ann.put("/api/levels/config").json(&json!({ "levels": [] })).expect(403);
        // Other areas refuse it.
        for path in [&format!("{ROSTERING}/users"), "/caliper/events", "/assessment-items"] {
            assert_eq!(ann.get(path).send().status, 403, "{path}");
        }
        ann.get("/bridge/enrollments/user/ann").expect(403);
    });
}

#[test]
fn a_game_token_ends_with_its_time_its_client_and_its_user() {
    both_at("2026-11-02T08:00:00Z", |server, clock| {
        let client = playground(server);
        let ann = player(server, &client, "ann", "rivers");
        get(&ann, "/api/users/me");
        clock.advance_milliseconds(3_661_000);
        let late = ann.get("/api/users/me").expect(401);
        assert_eq!(code(&late), "UNAUTHORIZED");
        assert!(late.header("www-authenticate").contains("invalid_token"));

        let (id, secret) = server.register(&NewClient::named("school"));
        let school = server.anonymous().with_token(server.token_of(&id, &secret));
        let bob = player(server, &school, "bob", "rivers");
        get(&bob, "/api/users/me");
        server.restart();
        let bob = server.anonymous().with_token(bob.token().unwrap());
        get(&bob, "/api/users/me");
        let client = server.client();
        client.delete(&format!("{ROSTERING}/users/bob")).expect(204);
        assert_eq!(code(&bob.get("/api/inventory").expect(401)), "UNAUTHORIZED");

        let ann = player(server, &school, "ann", "rivers");
        get(&ann, "/api/users/me");
        let now = server.setup().clock.now();
        server.db().write_blocking(|tx| client::revoke(tx, now, &id).map(drop)).unwrap();
        server.restart();
        let ann = server.anonymous().with_token(ann.token().unwrap());
        assert_eq!(code(&ann.get("/api/users/me").expect(401)), "UNAUTHORIZED");
    });
}

#[test]
fn a_client_names_the_player_for_whom_it_acts() {
    both(|server| {
        let client = playground(server);
        let credits = json!({ "itemId": "LYCEUM_CREDITS", "qty": 5 });
        let nobody = client.post("/api/inventory/add").json(&credits).expect(422);
        assert_eq!(code(&nobody), "VALIDATION_FAILED");
        post(&client, "/api/inventory/add?userId=ann", &credits, 200);
        let ann = player(server, &client, "ann", "rivers");
        assert_eq!(get(&ann, "/api/inventory")[0]["quantity"], 5);
        client.get("/api/inventory?userId=nobody").expect(401);
        client.post("/api/games/rivers/token").json(&json!({})).expect(422);
        client.post("/api/games/rivers/token").json(&json!({ "userId": "nobody" })).expect(404);
        client.post("/api/games/unknown/token").json(&json!({ "userId": "ann" })).expect(404);

        let reader = server.client_with(&[Scope::GamesRead], PayloadDialect::Platform);
        get(&reader, "/api/inventory?userId=ann");
        let refused = reader.post("/api/inventory/add?userId=ann").json(&credits).expect(403);
        assert_eq!(code(&refused), "FORBIDDEN");
    });
}

#[test]
fn mock_tokens_open_a_sandbox_and_no_other_server() {
    let demo = Player { user: "demo".to_owned(), game: String::new() };
    let setup = Setup { sandbox: Some((demo, true)), ..Setup::default() };
    both_as(&setup, |sandbox| {
        let everybody = sandbox.anonymous();
        schools(&everybody);
        user(&everybody, "demo", "student", &["03"], "s");
        let mock = sandbox.anonymous().with_token("mock-dev-token");
        assert_eq!(get(&mock, "/api/users/me")["id"], "demo");
        let game = post(&mock, "/api/games", &json!({"slug": "rivers", "displayName": "R"}), 201);
        post(&mock, "/api/games/rivers/scores", &json!({ "score": 1 }), 201);
        for client in [everybody.clone(), sandbox.anonymous().with_token("")] {
            let refused = client.get("/api/users/me").expect(401);
            assert_eq!(code(&refused), "UNAUTHORIZED");
        }
        // The standards' paths need no token; one that is sent must be good.
        get(&everybody, &format!("{ROSTERING}/users"));
        mock.get(&format!("{ROSTERING}/users")).expect(401);
        // A real token is what it says.
        let token = post(&mock, "/api/games/rivers/token", &json!({}), 200);
        assert_eq!((&token["userId"], &token["gameId"]), (&json!("demo"), &game["id"]));
        let player = sandbox.anonymous().with_token(token["token"].as_str().unwrap());
        post(&player, "/api/scores", &json!({ "score": 2 }), 201);
        player.post("/api/games").json(&json!({"slug": "x", "displayName": "X"})).expect(403);
        // Pages of this machine may call.
        let page = mock.get("/api/users/me").header("origin", "http://localhost:5173").expect(200);
        assert_eq!(page.header("access-control-allow-origin"), "http://localhost:5173");
    });
    both(|server| {
        server.anonymous().get(&format!("{ROSTERING}/users")).expect(401);
        let token = "mock-dev-token";
        let refused = server.anonymous().with_token(token).get("/api/users/me").expect(401);
        assert_eq!(code(&refused), "UNAUTHORIZED");
        server.anonymous().with_token(token).get("/api/games").expect(401);
    });
}

/// A page that a browser shows reaches a sandbox on the same machine, which asks for no token that the page
/// would not have.
#[test]
fn a_sandbox_refuses_pages_of_other_sites_and_dns_rebinding() {
    let demo = Player { user: "demo".to_owned(), game: String::new() };
    let setup = Setup { sandbox: Some((demo, true)), ..Setup::default() };
    both_as(&setup, |sandbox| {
        let everybody = sandbox.anonymous();
        schools(&everybody);
        user(&everybody, "demo", "student", &["03"], "s");
        let mock = sandbox.anonymous().with_token("mock-dev-token");
        let game = json!({"slug": "rivers", "displayName": "R"});
        for origin in ["https://evil.example", "null", "http://localhost.evil.example"] {
            let refused = mock.post("/api/games").json(&game).header("origin", origin).expect(403);
            let message = refused.text();
            assert!(message.contains(&format!("--origin {origin}")), "{message}");
            assert_eq!(refused.header("access-control-allow-origin"), "");
            everybody.get(&format!("{ROSTERING}/users")).header("origin", origin).expect(403);
            let preflight = mock.call(Method::OPTIONS, "/api/games").header("origin", origin);
            let preflight = preflight.header("access-control-request-method", "POST").expect(403);
            assert_eq!(preflight.header("access-control-allow-origin"), "");
        }
        assert_eq!(get(&mock, "/api/games"), json!([]), "nothing was done");
        let own = sandbox.address();
        for origin in
            [&own, "http://localhost:5173", "http://rivers.localhost:4321", "http://[::1]:3000"]
        {
            let read = mock.get("/api/users/me").header("origin", origin).expect(200);
            assert_eq!(read.header("access-control-allow-origin"), origin);
        }
        for host in ["evil.example:4321", "localhost.evil.example"] {
            for path in ["/api/users/me", "/_projects/rivers/", "/console/", "/health"] {
                let refused = mock.get(path).header("host", host).expect(403).text();
                assert!(refused.contains(host), "{path}: {refused}");
            }
            let message = mock.get("/api/users/me").header("host", host).expect(403).text();
            assert!(message.contains(&format!("--origin http://{host}")), "{message}");
        }
        for host in ["localhost:4321", "127.0.0.1", "[::1]:4321"] {
            mock.get("/api/users/me").header("host", host).expect(200);
        }
        // A project's own host.
        everybody.get("/").header("host", "rivers.localhost:4321").expect(404);
    });
}
