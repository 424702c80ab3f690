//! The pages of students over HTTP: the admission, and what a student's session does not open.

use lyceum_access::student::{self, NewStudent};
use lyceum_access::{Role, password};
use lyceum_testserver::client::Reply;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::enrolling::{schools, user};
use crate::lessons::{course, lesson, stored_question};
use crate::people::{PASSWORD, form_token, person, signed_in};
use crate::student_lessons::Browser;

/// A student of the school 's' in the roster, with an account.
pub(crate) fn student(server: &TestServer, id: &str, email: Option<&str>) {
    user(&server.client(), id, "student", &["03"], "s");
    account(server, id, email);
}

/// An account of a student who is in the roster.
pub(crate) fn account(server: &TestServer, id: &str, email: Option<&str>) {
    let new = NewStudent {
        roster_user: id.to_owned(),
        name: format!("{id} X"),
        email: email.map(str::to_owned),
        password: Some(password::hash(PASSWORD)),
    };
    let now = server.setup().clock.now();
    server.db().write_blocking(|tx| student::create(tx, now, &new)).unwrap();
}

fn page(server: &TestServer, cookie: &str, path: &str) -> Reply {
    server.anonymous().get(path).header("cookie", cookie).send()
}

#[test]
fn a_student_signs_in_lands_on_the_own_page_and_signs_out() {
    both(|server| {
        schools(&server.client());
        student(server, "ann", Some("ann@example.org"));
        let form = server.anonymous().get("/sign-in").expect(200);
        let guard = crate::people::cookie(&form);
        let token = form_token(&form);
        let fields = [
            ("token", token.as_str()),
            ("email", "ann@example.org"),
            ("password", PASSWORD),
            ("next", "/console/students"),
        ];
        let reply =
            server.anonymous().post("/sign-in").header("cookie", &guard).form(&fields).send();
        assert_eq!((reply.status, reply.header("location")), (303, "/learn"), "{}", reply.text());
        let cookie = crate::people::cookie(&reply);
        assert_eq!(page(server, &cookie, "/").header("location"), "/learn");

        let home = page(server, &cookie, "/learn");
        assert_eq!((home.status, home.header("cache-control")), (200, "no-store"));
        assert!(home.text().contains("<h1>Hello ann</h1>"), "{}", home.text());
        server.restart();
        assert_eq!(page(server, &cookie, "/learn").status, 200);

        let token = form_token(&home);
        let fields = [("token", token.as_str())];
        let out =
            server.anonymous().post("/sign-out").header("cookie", &cookie).form(&fields).send();
        assert_eq!(out.status, 303);
        let again = page(server, &cookie, "/learn");
        assert_eq!((again.status, again.header("location")), (303, "/sign-in?next=%2Flearn"));
        assert_eq!(again.header("clear-site-data"), "\"cache\", \"storage\"");
        let first = server.anonymous().get("/learn").expect(303);
        assert_eq!(first.header("clear-site-data"), "", "a browser without a session");
    });
}

#[test]
fn a_page_of_an_earlier_session_cannot_read_or_change_anything() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q1");
        lesson(&client, "quiz", "quiz", &["q1"], 10.0);
        let (bob, amy) = (Browser::of(server, "bob"), Browser::of(server, "amy"));
        let client = server.anonymous();
        let call = |path: &str, page: &Browser<'_>| {
            let token = form_token(&page.get("/learn"));
            let call = client.get(&format!("/api/learn{path}"));
            call.header("cookie", amy.cookie()).header("page-token", &token).send()
        };
        for path in ["/key", "/lessons/quiz"] {
            let own = call(path, &amy);
            assert_eq!((own.status, own.header("cache-control")), (200, "no-store"), "{path}");
            assert_eq!(call(path, &bob).status, 401, "{path}");
        }
        let start = |page: &Browser<'_>| {
            let token = form_token(&page.get("/learn"));
            let call = client.post("/api/learn/lessons/quiz/attempts");
            let call = call.header("cookie", amy.cookie()).header("page-token", &token);
            call.json(&json!({ "after": 0 })).send().status
        };
        assert_eq!(start(&bob), 401);
        assert_eq!(amy.lesson("quiz", 200)["attempt"], Value::Null);
        assert_eq!(start(&amy), 200);
    });
}

#[test]
fn the_console_refuses_students_and_the_pages_of_students_refuse_everybody_else() {
    both(|server| {
        schools(&server.client());
        student(server, "ann", Some("ann@example.org"));
        let ann = signed_in(server, "ann@example.org");
        for path in ["/console", "/console/students", "/console/today", "/play/x"] {
            let reply = page(server, &ann, path);
            assert!([403, 404].contains(&reply.status), "{path}: {}", reply.status);
        }
        assert!(page(server, &ann, "/console").text().contains("your lessons are at /learn"));
        assert_eq!(page(server, &ann, "/api/auth/me").status, 403);

        for role in [Role::Administrator, Role::Guide, Role::Developer] {
            let email = format!("{role}@example.org");
            person(server, &email, "Robin", role);
            let reply = page(server, &signed_in(server, &email), "/learn");
            assert_eq!(reply.status, 403, "{role}");
            assert!(reply.text().contains("the role 'student'"), "{}", reply.text());
        }
        // A token opens no page, whatever it allows.
        assert_eq!(server.client().get("/learn").send().status, 303);
        let body = json!({ "email": "ann@example.org", "password": "wrong horse" });
        server.anonymous().post("/api/auth/sign-in").json(&body).expect(401);
    });
}
