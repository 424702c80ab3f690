//! The pages on which people play deployed projects, demo visitors, and what games learn of their players.

use lyceum_access::Role;
use lyceum_core::time::Timestamp;
use lyceum_games::limits::DEMO_KEPT_DAYS;
use lyceum_games::visitors;
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::enrolling::{get, post, schools, user};
use crate::game_tokens::{both_at, code, player, playground};
use crate::hosted::{SLUG, deployed, staging, visit};
use crate::people::{person, signed_in};

const ORIGIN: &str = "http://tides-staging.localhost";

fn app(server: &TestServer) {
    deployed(&server.client(), &[("index.html", b"<h1>Tides</h1>")], "", &[]);
}

/// The token that the page of a session gets.
fn play_token(server: &TestServer, cookie: &str) -> Reply {
    let call = server.anonymous();
    call.post(&format!("/play/{SLUG}/token")).header("cookie", cookie).json(&json!({})).send()
}

/// Gives the student ann an e-mail address.
pub(crate) fn with_email(client: &TestClient, email: &str) {
    let path = "/ims/oneroster/rostering/v1p2/users/ann";
    let mut ann = get(client, path);
    ann["user"]["email"] = json!(email);
    client.put(path).json(&ann).expect(200);
}

fn demo(server: &TestServer, game: &str) -> Value {
    let path = format!("/api/games/{game}/demo");
    server.anonymous().post(&path).json(&json!({})).expect(200).json()
}

fn with_token(server: &TestServer, token: &Value) -> TestClient {
    server.anonymous().with_token(token["token"].as_str().unwrap())
}

#[test]
fn the_page_of_a_deployed_app_signs_its_visitor_in_and_embeds_only_its_host() {
    staging(|server| {
        app(server);
        let visitor = server.anonymous();
        let path = format!("/play/{SLUG}");
        let elsewhere = visitor.get(&path).expect(303);
        assert_eq!(elsewhere.header("location"), "/sign-in?next=%2Fplay%2Ftides");
        assert!(!visitor.get("/sign-in").expect(200).text().contains("without an account"));
        visitor.get("/play/none").expect(404);
        visitor.get(&format!("{path}?mode=other")).expect(422);

        person(server, "gil@example.org", "Gil Guide", Role::Guide);
        let sign_in = visitor.get("/sign-in?next=%2Fplay%2Ftides").expect(200).text();
        assert!(sign_in.contains("/play/tides?mode=demo"), "{sign_in}");
        let cookie = signed_in(server, "gil@example.org");
        let page = visitor.get(&path).header("cookie", &cookie).expect(200);
        let policy = page.header("content-security-policy");
        let app = place(server);
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            &format!("frame-src {app};"),
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{part}: {policy}");
        }
        let text = page.text();
        assert!(text.contains("Gil Guide") && text.contains(&format!("data-app=\"{app}\"")));
        assert!(!text.contains("allow-top-navigation"), "{text}");
        let demo = visitor.get(&format!("{path}?mode=demo")).header("cookie", &cookie).expect(200);
        assert!(!demo.text().contains("Gil"), "a demo is anonymous");

        // The app's own host says where the server is, and lets nobody else embed it.
        let response = visit(&visitor, "/.well-known/lyceum.json").expect(200);
        let response: Value = response.json();
        assert_eq!(response["gameId"], SLUG);
        assert!(response["play"].as_str().unwrap().ends_with(&path), "{response}");
        for file in ["/", "/api/x"] {
            let reply = visit(&visitor, file).send();
            let policy = reply.header("content-security-policy");
            let server = response["server"].as_str().unwrap();
            assert_eq!(policy, format!("frame-ancestors 'self' {server}"), "{file}");
        }
    });
}

/// The app's own address.
fn place(server: &TestServer) -> String {
    let shown = get(&server.client(), &format!("/api/projects/{SLUG}"));
    assert!(shown["playUrl"].as_str().unwrap().ends_with("/play/tides"), "{shown}");
    let url = shown["frontendUrl"].as_str().unwrap().to_owned();
    assert!(url.starts_with(ORIGIN), "{url}");
    url
}

#[test]
fn a_play_token_is_short_lived_and_only_for_its_game_and_person() {
    staging(|server| {
        app(server);
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &["03"], "s");
        post(&client, "/api/games", &json!({"slug": "rivers", "displayName": "Rivers"}), 201);
        // An account with the address of a user of the roster plays as that user, another one as a visitor.
        with_email(&client, "ann@example.org");
        person(server, "ann@example.org", "Ann Account", Role::Guide);
        person(server, "gil@example.org", "Gil Guide", Role::Guide);
        let ann = play_token(server, &signed_in(server, "ann@example.org"));
        let ann: Value = ann.json();
        assert_eq!((&ann["userId"], &ann["expiresIn"]), (&json!("ann"), &json!(600)));
        let gil = signed_in(server, "gil@example.org");
        let token: Value = play_token(server, &gil).json();
        assert_eq!(token["userId"], play_token(server, &gil).json::<Value>()["userId"]);

        let player = with_token(server, &token);
        let me = get(&player, "/api/users/me");
        assert_eq!(
            (&me["username"], &me["name"], &me["email"]),
            (&json!("Gil"), &json!("Gil"), &json!(""))
        );
        assert_eq!((&me["lms"], &me["hasLmsAccount"]), (&json!(null), &json!(false)));
        post(&player, "/api/scores", &json!({ "score": 3 }), 201);
        post(&with_token(server, &ann), "/api/scores", &json!({ "score": 4 }), 201);
        let board = get(&player, "/api/leaderboard");
        let names: Vec<_> =
            board.as_array().unwrap().iter().map(|line| &line["username"]).collect();
        assert_eq!(names, ["ann", "Gil"]);
        post(&player, "/api/games/rivers/scores", &json!({ "score": 1 }), 403);

        // Neither a stranger, nor a page of another site, nor a key gets one.
        assert_eq!(play_token(server, "lyceum=none").status, 401);
        let path = format!("/play/{SLUG}/token");
        let call = server.anonymous();
        let foreign = call.post(&path).header("cookie", &gil).header("origin", ORIGIN);
        assert_eq!(foreign.json(&json!({})).send().status, 401);
        assert_eq!(client.post(&path).json(&json!({})).send().status, 403);
    });
}

#[test]
fn demo_visitors_see_and_write_only_demo_scores() {
    both(|server| {
        let client = playground(server);
        let ann = player(server, &client, "ann", "rivers");
        post(&ann, "/api/scores", &json!({ "score": 50 }), 201);
        let token = demo(server, "rivers");
        assert_eq!(token["expiresIn"], lyceum_api::limits::PLAY_TOKEN_LIFETIME_S);
        let visitor = with_token(server, &token);
        let me = get(&visitor, "/api/users/me");
        assert!(me["username"].as_str().unwrap().starts_with("Guest "), "{me}");
        assert_eq!(
            (&me["id"], &me["email"], &me["lms"]),
            (&token["userId"], &json!(""), &json!(null))
        );
        assert_eq!(get(&visitor, "/api/leaderboard"), json!([]), "players are not shown");
        post(&visitor, "/api/scores", &json!({ "score": 7 }), 201);
        let board = get(&visitor, "/api/games/rivers/leaderboard");
        assert_eq!(board.as_array().unwrap().len(), 1);
        assert_eq!((&board[0]["username"], &board[0]["score"]), (&me["username"], &json!(7)));
        assert_eq!(get(&visitor, "/api/users/me/scores").as_array().unwrap().len(), 1);
        let of_players = get(&ann, "/api/leaderboard");
        assert_eq!(of_players.as_array().unwrap().len(), 1);
        assert_eq!(of_players[0]["userId"], "ann");

        // Nothing else is open to the visitor, or to a caller that acts for the visitor.
        let id = token["userId"].as_str().unwrap();
        for path in [
            "/api/inventory",
            "/api/users/ann",
            "/api/games",
            "/api/lms/xp/total",
            "/api/levels/me",
        ] {
            assert_eq!(code(&visitor.get(path).expect(403)), "FORBIDDEN", "{path}");
        }
        client.get(&format!("/api/inventory?userId={id}")).expect(403);
        visitor.post("/api/games/planets/scores").json(&json!({ "score": 1 })).expect(403);
        let acts = format!("/api/games/planets/scores?userId={id}");
        client.post(&acts).json(&json!({ "score": 1 })).expect(403);
        // The next token is for the same visitor.
        let next = visitor.post("/api/games/rivers/demo").json(&json!({})).expect(200);
        assert_eq!(next.json::<Value>()["userId"], token["userId"]);
        let other = visitor.post("/api/games/planets/demo").json(&json!({})).expect(200);
        assert_ne!(other.json::<Value>()["userId"], token["userId"]);
        server.anonymous().post("/api/games/none/demo").json(&json!({})).expect(404);
    });
}

#[test]
fn demo_visitors_are_limited_in_number_requests_and_scores() {
    both(|server| {
        playground(server);
        for _ in 0..lyceum_api::limits::DEMO_VISITORS_MAX_COUNT {
            demo(server, "rivers");
        }
        let path = "/api/games/rivers/demo";
        let refused = server.anonymous().post(path).json(&json!({})).expect(429);
        assert!(refused.header("retry-after").parse::<u32>().unwrap() > 0);
    });
    both(|server| {
        playground(server);
        let visitor = with_token(server, &demo(server, "rivers"));
        // The burst that every caller has, and then no more than a few a second.
        let burst =
            server.setup().config.limits.burst + 2 * lyceum_http::limits::DEMO_REQUESTS_PER_S;
        let statuses: Vec<u16> =
            (0..burst * 2).map(|_| visitor.get("/api/leaderboard").send().status).collect();
        assert!(statuses.contains(&429), "{statuses:?}");
    });
}

#[test]
fn demo_visitors_and_their_scores_are_purged() {
    both_at("2026-11-02T08:00:00Z", |server, clock| {
        let client = playground(server);
        let ann = player(server, &client, "ann", "rivers");
        post(&ann, "/api/scores", &json!({ "score": 50 }), 201);
        let gone = with_token(server, &demo(server, "rivers"));
        post(&gone, "/api/scores", &json!({ "score": 7 }), 201);
        let purge =
            |at: Timestamp| server.db().write_blocking(|tx| visitors::purge(tx, at)).unwrap();
        assert_eq!(purge(server.setup().clock.now()), 0);
        clock.advance_milliseconds(DEMO_KEPT_DAYS * 86_400_000 + 1000);
        let later = with_token(server, &demo(server, "rivers"));
        assert_eq!(get(&later, "/api/leaderboard").as_array().unwrap().len(), 1);
        assert_eq!(purge(server.setup().clock.now()), 1);
        assert_eq!(get(&later, "/api/leaderboard"), json!([]));
        let client = server.client();
        let ann = player(server, &client, "ann", "rivers");
        assert_eq!(get(&ann, "/api/leaderboard").as_array().unwrap().len(), 1, "players stay");
    });
}

#[test]
fn the_list_of_players_needs_its_scope() {
    both(|server| {
        let client = playground(server);
        let ann = player(server, &client, "ann", "rivers");
        let users = get(&client, "/api/users");
        assert_eq!(
            users,
            json!([{"id": "ann", "username": "ann"}, {"id": "bob", "username": "bob"}])
        );
        assert_eq!(get(&client, "/api/users?limit=1&offset=1"), json!([users[1]]));
        client.delete("/ims/oneroster/rostering/v1p2/users/bob").expect(204);
        assert_eq!(get(&client, "/api/users").as_array().unwrap().len(), 1);
        assert_eq!(code(&ann.get("/api/users").expect(403)), "FORBIDDEN");
        assert_eq!(code(&server.anonymous().get("/api/users").expect(401)), "UNAUTHORIZED");
    });
}

#[test]
fn a_game_gets_names_and_addresses_only_if_an_administrator_allows_it() {
    both(|server| {
        let client = playground(server);
        with_email(&client, "ann@example.org");
        let ann = player(server, &client, "ann", "rivers");
        let path = "/api/games/rivers/identity";
        let me = get(&ann, "/api/users/me");
        assert_eq!(
            (&me["username"], &me["name"], &me["email"]),
            (&json!("ann"), &json!("ann"), &json!(""))
        );
        let developer = crate::people::let_in(server, "dev@example.org", Role::Developer);
        developer.put(path).json(&json!({ "shares": true })).expect(403);
        ann.put(path).json(&json!({ "shares": true })).expect(403);
        let administrator = crate::people::let_in(server, "ada@example.org", Role::Administrator);
        let game: Value =
            administrator.put(path).json(&json!({ "shares": true })).expect(200).json();
        assert_eq!(game["sharesIdentity"], true);
        let me = get(&ann, "/api/users/me");
        assert_ne!(me["name"], "ann");
        assert_eq!(me["email"], "ann@example.org");
        client.put(path).json(&json!({ "shares": false })).expect(200);
        assert_eq!(get(&ann, "/api/users/me")["email"], "");
    });
}
