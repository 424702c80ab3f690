//! The records of the roster that the setup of a game writes, and those that ending it marks.

use lyceum_access::{Player, Scope};
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer, both, both_as};
use serde_json::{Value, json};

use crate::access::bound_key;
use crate::enrolling::{ROSTERING, get, post, user};
use crate::game_tokens::{code, playground};

const SETUP: &str = "/api/lms/setup";

/// A client that makes games and has no right to write rosters.
fn studio(server: &TestServer) -> TestClient {
    server.client_with(&[Scope::GamesRead, Scope::GamesWrite], PayloadDialect::Platform)
}

fn course(client: &TestClient, id: &str) -> Value {
    get(client, &format!("{ROSTERING}/courses/{id}"))["course"].clone()
}

fn setup(game: &str, course: Option<&str>, organization: &str, xp: u32) -> Value {
    let mut taught = json!({ "subject": "Math", "grade": 3, "totalXp": xp });
    if let Some(course) = course {
        taught["courseId"] = json!(course);
    }
    json!({ "gameId": game, "organization": { "id": organization }, "courses": [taught] })
}

fn refused(caller: &TestClient, setup: &Value, named: &str) {
    for path in [format!("{SETUP}?dryRun=true"), SETUP.to_owned()] {
        let refused = caller.post(&path).json(setup).expect(403);
        assert_eq!(code(&refused), "FORBIDDEN");
        let message = refused.text();
        assert!(message.contains(named) && message.contains("lyceum/roster.write"), "{message}");
    }
}

#[test]
fn a_setup_writes_no_record_that_it_did_not_create_without_the_right_to_write_rosters() {
    both(|server| {
        let client = playground(server);
        for id in ["art", "lost"] {
            client.delete(&format!("{ROSTERING}/courses/{id}")).expect(204);
        }
        client.delete(&format!("{ROSTERING}/orgs/t")).expect(204);
        post(&client, SETUP, &setup("planets", None, "s", 100), 200);
        let ids = ["math", "art", "planets-math-3"];
        let before = ids.map(|id| course(&client, id));
        for caller in [studio(server), bound_key(server, "rivers")] {
            for id in ids {
                refused(&caller, &setup("rivers", Some(id), "s", 900), &format!("course '{id}'"));
            }
            refused(&caller, &setup("rivers", None, "t", 900), "org 't'");
            assert_eq!(code(&caller.get("/api/lms/config/rivers").expect(404)), "NOT_FOUND");
        }
        assert_eq!(ids.map(|id| course(&client, id)), before);
        // A record behind the course counts like the course.
        let taken = json!({"courseComponent": {"sourcedId": "new-component", "title": "Taken",
            "sortOrder": 1, "course": {"sourcedId": "math"}}});
        post(&client, &format!("{ROSTERING}/courses/components"), &taken, 201);
        refused(&studio(server), &setup("rivers", Some("new"), "s", 900), "'new-component'");
        client.get(&format!("{ROSTERING}/courses/new")).expect(404);
    });
}

#[test]
fn a_game_changes_restores_and_ends_what_its_setup_created_and_nothing_else() {
    both(|server| {
        let client = playground(server);
        for (caller, id) in [(studio(server), "own"), (bound_key(server, "rivers"), "other")] {
            let set_up = |xp| post(&caller, SETUP, &setup("rivers", Some(id), "s", xp), 200);
            set_up(100);
            set_up(200);
            assert_eq!(course(&client, id)["metadata"]["metrics"]["totalXp"], 200);
            client.delete(&format!("{ROSTERING}/courses/{id}")).expect(204);
            set_up(200);
            assert_eq!(course(&client, id)["status"], "active");
            caller.delete("/api/lms/integrations/rivers").expect(204);
            assert_eq!(course(&client, id)["status"], "tobedeleted");
            set_up(300);
        }
        // A course of the school that somebody with the right to write rosters lets the game teach.
        post(&client, SETUP, &setup("rivers", Some("math"), "s", 900), 200);
        assert_eq!(course(&client, "math")["title"], "Rivers: Math 3");
        let studio = studio(server);
        refused(&studio, &setup("rivers", Some("math"), "s", 1), "course 'math'");
        studio.delete("/api/lms/integrations/rivers").expect(204);
        assert_eq!(course(&client, "math")["status"], "active", "the school's own");
        studio.get("/api/lms/config/rivers").expect(404);
    });
}

#[test]
fn a_purged_record_that_somebody_else_creates_again_no_longer_belongs_to_the_game() {
    both(|server| {
        let client = playground(server);
        let studio = studio(server);
        post(&studio, SETUP, &setup("rivers", Some("again"), "s", 100), 200);
        studio.delete("/api/lms/integrations/rivers").expect(204);
        let before = server.setup().clock.now().plus_seconds(60);
        for kind in lyceum_roster::kinds::ALL.iter().rev() {
            server
                .db()
                .write_blocking(|tx| {
                    lyceum_roster::repository::purge(tx, kind, (before, before), i64::MIN, 1000)?;
                    lyceum_games::lms::forget_purged(tx, kind)
                })
                .unwrap();
        }
        let new = json!({"course": {"sourcedId": "again", "title": "A course of the school",
            "org": {"sourcedId": "s"}}});
        post(&client, &format!("{ROSTERING}/courses"), &new, 201);
        refused(&studio, &setup("rivers", Some("again"), "s", 1), "course 'again'");
    });
}

#[test]
fn a_developer_in_a_sandbox_sets_up_courses_of_their_own() {
    let sandbox = Some((Player { user: "demo".to_owned(), game: String::new() }, true));
    both_as(&Setup { sandbox, ..Setup::default() }, |server| {
        let client = playground(server);
        user(&client, "demo", "student", &["03"], "s");
        let mock = server.anonymous().with_token("mock");
        post(&mock, SETUP, &setup("rivers", Some("math"), "s", 900), 200);
        assert_eq!(course(&client, "math")["metadata"]["metrics"]["totalXp"], 900);
        mock.delete("/api/lms/integrations/rivers").expect(204);
        assert_eq!(course(&client, "math")["status"], "active", "no setup created it");
    });
}
