//! Sign-in in class over HTTP: a teacher gives access and opens the class, students sign in on a shared device.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lyceum_access::class_secret::{self, ClassSecret};
use lyceum_access::limits::GUESSES_CLASS_STUDENT_COUNT;
use lyceum_access::{Person, Role, Scope, audit, person, student};
use lyceum_core::time::ManualClock;
use lyceum_core::{PayloadDialect, Reach};
use lyceum_testkit::records;
use lyceum_testserver::client::Reply;
use lyceum_testserver::server::{Setup, TestServer, both, both_as};
use serde_json::{Value, json};

use crate::people::{form_token, let_in, person as account, signed_in};

const ACCESS: &str = "/console/classes/c/access";

/// A school 's' with a class 'c' of ann and bob, and an empty school 't'.
fn classroom(server: &TestServer) {
    let db = server.db();
    for school in ["s", "t"] {
        records::school(db, school, school);
    }
    records::course(db, "k", "s", "Math");
    records::class(db, "c", "k", "s");
    for id in ["ann", "bob"] {
        records::student(db, id, "s", "01");
        records::enroll(db, id, "c", "s", "student");
    }
}

/// A browser, which keeps cookies and sends the forms of its pages.
pub(crate) struct Browser<'s> {
    server: &'s TestServer,
    cookies: RefCell<BTreeMap<String, String>>,
}

impl<'s> Browser<'s> {
    pub(crate) fn new(server: &'s TestServer) -> Self {
        Self { server, cookies: RefCell::default() }
    }

    pub(crate) fn signed_in(server: &'s TestServer, email: &str) -> Self {
        let browser = Self::new(server);
        browser.keep(&signed_in(server, email));
        browser
    }

    fn keep(&self, cookie: &str) {
        if let Some((name, value)) = cookie.split(';').next().and_then(|pair| pair.split_once('='))
        {
            self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
        }
    }

    fn cookie(&self) -> String {
        let cookies = self.cookies.borrow();
        let pairs = cookies.iter().filter(|(_, value)| !value.is_empty());
        pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        let reply = self.server.anonymous().get(path).header("cookie", &self.cookie()).send();
        self.keep(reply.header("set-cookie"));
        reply
    }

    /// Sends a form of the page to the path.
    pub(crate) fn submit(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Reply {
        let token = form_token(&self.get(page));
        let fields: Vec<_> = fields.iter().copied().chain([("token", token.as_str())]).collect();
        let client = self.server.anonymous();
        let reply = client.post(path).header("cookie", &self.cookie()).form(&fields).send();
        self.keep(reply.header("set-cookie"));
        reply
    }
}

/// Gives the students access as this teacher, opens the class, and answers the code.
fn opened(teacher: &Browser<'_>) -> String {
    let reply = teacher.submit(ACCESS, &format!("{ACCESS}/give"), &[("kind", "pictures")]);
    assert_eq!(reply.status, 303, "{}", reply.text());
    let open = teacher.submit(ACCESS, &format!("{ACCESS}/open"), &[("minutes", "15")]);
    assert_eq!(open.status, 303, "{}", open.text());
    let page = teacher.get(ACCESS).text();
    let (_, code) = page.split_once(r#"aria-label="Code of the class">"#).expect("a code");
    code[..7].to_owned()
}

fn secret_of(server: &TestServer, user: &str) -> (Person, ClassSecret) {
    let master = server.setup().master.clone();
    let found = server.db().read_blocking(|tx| {
        let account = student::of_user(tx, user)?.unwrap();
        let secret = class_secret::open_secret(tx, &master, &account.id)?.unwrap();
        Ok((account, secret))
    });
    found.unwrap()
}

/// Chooses the two pictures on the page of a student.
fn choose(device: &Browser<'_>, account: &Person, [first, second]: [&str; 2]) -> Reply {
    let page = format!("/learn/class/{}", account.id);
    let half = device.submit(&page, &page, &[("first", first)]);
    assert_eq!(half.status, 200, "{}", half.text());
    assert!(half.text().contains("second picture"), "{}", half.text());
    device.submit(&page, &page, &[("first", first), ("second", second)])
}

fn right(secret: &ClassSecret) -> [&str; 2] {
    [&secret.parts[0], &secret.parts[1]]
}

#[test]
fn students_sign_in_one_after_the_other_on_a_shared_device_until_the_class_closes() {
    both(|server| {
        classroom(server);
        account(server, "tess@example.org", "Tess", Role::Guide);
        let code = {
            let teacher = Browser::signed_in(server, "tess@example.org");
            let code = opened(&teacher);
            let cards = teacher.get(&format!("{ACCESS}/cards"));
            assert_eq!(cards.status, 200);
            assert!(cards.text().contains("ann Example") && cards.text().contains("bob Example"));
            code
        };
        let (ann, of_ann) = secret_of(server, "ann");
        let (bob, of_bob) = secret_of(server, "bob");

        // The students' device is served by another server.
        let mut twin = server.twin();
        let device = Browser::new(&twin);
        let page = device.get("/learn/class");
        assert_eq!((page.status, page.header("cache-control")), (200, "no-store"));
        let wrong = device.submit("/learn/class", "/learn/class", &[("code", "AAA-AAA")]);
        assert_eq!(wrong.status, 404, "{}", wrong.text());
        let typed = code.to_lowercase();
        let entered = device.submit("/learn/class", "/learn/class", &[("code", &typed)]);
        assert_eq!((entered.status, entered.header("location")), (303, "/learn/class"));
        let names = device.get("/learn/class").text();
        assert!(names.contains(">ann E.<") && names.contains(">bob E.<"), "{names}");
        assert!(!names.contains("Example"), "the class shows no last names");

        let signed_in = choose(&device, &ann, right(&of_ann));
        assert_eq!((signed_in.status, signed_in.header("location")), (303, "/learn"));
        assert!(device.get("/learn").text().contains(">ann Example<"));
        let account = device.get("/learn/account");
        assert_eq!(account.status, 403, "the code of a class opens lessons only");
        assert_eq!(device.get("/learn/class").header("location"), "/learn");

        let out = device.submit("/learn", "/sign-out", &[]);
        assert_eq!((out.status, out.header("location")), (303, "/learn/class"));
        assert_eq!(out.header("clear-site-data"), "\"cache\", \"storage\"");
        assert_eq!(device.get("/learn").status, 303, "ann is signed out");
        let next = choose(&device, &bob, right(&of_bob));
        assert_eq!(next.header("location"), "/learn", "no code is asked for again");
        let without_sign_out = choose(&device, &ann, right(&of_ann));
        assert_eq!(without_sign_out.header("clear-site-data"), "\"cache\", \"storage\"");
        choose(&device, &bob, right(&of_bob));
        let cookies = device.cookies.borrow().clone();
        twin.restart();
        let device = Browser { server: &twin, cookies: RefCell::new(cookies) };
        assert!(device.get("/learn").text().contains(">bob Example<"), "after a restart");

        let teacher = Browser::signed_in(server, "tess@example.org");
        let close = teacher.submit(ACCESS, &format!("{ACCESS}/close"), &[]);
        assert_eq!(close.status, 303, "{}", close.text());
        assert_eq!(device.get("/learn").status, 303, "the session ended with the class");
        assert!(device.get("/learn/class").text().contains("Code of your class"));
        let again = device.submit("/learn/class", "/learn/class", &[("code", &code)]);
        assert_eq!(again.status, 404, "{}", again.text());

        let filter =
            audit::AuditFilter { who: "tess@example.org".to_owned(), ..Default::default() };
        let log = server.db().read_blocking(|tx| audit::list(tx, &filter, 50, 0)).unwrap();
        let count = |what: &str| log.entries.iter().filter(|entry| entry.what == what).count();
        let counts = ["user.create", "user.secret", "class.open", "class.close"].map(count);
        assert_eq!(counts, [2, 2, 1, 1]);
        twin.stop();
    });
}

#[test]
fn wrong_pictures_are_counted_and_a_new_card_helps() {
    both(|server| {
        classroom(server);
        account(server, "tess@example.org", "Tess", Role::Guide);
        let teacher = Browser::signed_in(server, "tess@example.org");
        let code = opened(&teacher);
        let (ann, secret) = secret_of(server, "ann");
        let device = Browser::new(server);
        device.submit("/learn/class", "/learn/class", &[("code", &code)]);
        let other = if secret.parts[0] == "cat" { "fish" } else { "cat" };
        for _ in 0..GUESSES_CLASS_STUDENT_COUNT {
            let reply = choose(&device, &ann, [other, &secret.parts[1]]);
            assert_eq!(reply.status, 401, "{}", reply.text());
            assert!(reply.text().contains("first picture"), "begins again: {}", reply.text());
        }
        assert_eq!(choose(&device, &ann, right(&secret)).status, 429);
        let card = [("student", "ann"), ("kind", "words")];
        let renewed = teacher.submit(ACCESS, &format!("{ACCESS}/card"), &card);
        assert_eq!(renewed.status, 303, "{}", renewed.text());
        let (_, words) = secret_of(server, "ann");
        let page = format!("/learn/class/{}", ann.id);
        assert!(device.get(&page).text().contains("two words"));
        let typed = words.parts.join(" ").to_uppercase();
        let reply = device.submit(&page, &page, &[("words", &typed)]);
        assert_eq!(reply.header("location"), "/learn", "{}", reply.text());
    });
}

#[test]
fn a_class_code_expires_after_its_minutes() {
    let clock = Arc::new(ManualClock::at("2026-01-15T09:30:00Z".parse().unwrap()));
    let setup = Setup { clock: Arc::clone(&clock) as _, ..Setup::default() };
    both_as(&setup, |server| {
        classroom(server);
        account(server, "tess@example.org", "Tess", Role::Guide);
        let code = opened(&Browser::signed_in(server, "tess@example.org"));
        let device = Browser::new(server);
        let enter = || device.submit("/learn/class", "/learn/class", &[("code", &code)]).status;
        assert_eq!(enter(), 303);
        clock.advance_milliseconds(15 * 60 * 1000);
        let page = device.get("/learn/class");
        assert!(page.text().contains("Code of your class"), "{}", page.text());
        assert_eq!(enter(), 404);
    });
}

#[test]
fn a_guide_gives_access_only_to_classes_within_the_own_reach() {
    both(|server| {
        classroom(server);
        for (email, reach) in [
            ("far@example.org", Reach::organizations(["t"]).unwrap()),
            ("near@example.org", Reach::organizations(["s"]).unwrap()),
        ] {
            account(server, email, email, Role::Guide);
            server.db().write_blocking(|tx| person::limit(tx, email, &reach)).unwrap();
        }
        let far = Browser::signed_in(server, "far@example.org");
        assert_eq!(far.get(ACCESS).status, 404);
        for (form, field) in
            [("give", ("kind", "pictures")), ("open", ("minutes", "15")), ("close", ("x", ""))]
        {
            let path = format!("{ACCESS}/{form}");
            assert_eq!(far.submit("/console/profile", &path, &[field]).status, 404, "{form}");
        }
        let near = Browser::signed_in(server, "near@example.org");
        assert_eq!(opened(&near).len(), 7);
        let open = near.submit(ACCESS, &format!("{ACCESS}/open"), &[("minutes", "121")]);
        assert_eq!(open.status, 422);
    });
}

#[test]
fn a_client_with_the_people_scope_gives_a_class_access() {
    both(|server| {
        classroom(server);
        let client = server.client_with(&[Scope::PeopleManage], PayloadDialect::Platform);
        let give = |class: &str, cards: &str| {
            let body = json!({ "cards": cards });
            client.post(&format!("/api/people/classes/{class}/access")).json(&body).send()
        };
        assert_eq!(give("x", "words").status, 404);
        assert_eq!(give("c", "songs").status, 422);
        for created in [2, 0] {
            let outcome: Value = give("c", "words").json();
            assert_eq!(outcome["created"], created);
        }
        secret_of(server, "ann");
    });
}

#[test]
fn a_guide_opens_a_class_and_renews_cards_over_the_api() {
    both(|server| {
        classroom(server);
        let guide = |email: &str, school: &str| {
            let client = let_in(server, email, Role::Guide);
            let reach = Reach::organizations([school]).unwrap();
            server.db().write_blocking(|tx| person::limit(tx, email, &reach)).unwrap();
            client
        };
        let near = guide("near@example.org", "s");
        let read = || near.get("/api/classes/c/sign-in").expect(200).json::<Value>();
        assert_eq!(read(), json!({ "code": null, "closes": null }));
        let pictures = json!({ "kind": "pictures" });
        let cards: Value = near.post("/api/classes/c/cards").json(&pictures).expect(200).json();
        let names: Vec<&Value> =
            cards["students"].as_array().unwrap().iter().map(|one| &one["studentId"]).collect();
        assert_eq!(names, ["ann", "bob"]);
        let (ann, secret) = secret_of(server, "ann");
        assert_eq!(cards["students"][0]["parts"], json!(secret.parts));
        assert_eq!(near.get("/api/classes/c/cards").expect(200).json::<Value>(), cards);

        let open = json!({ "minutes": 10 });
        let opened: Value = near.post("/api/classes/c/sign-in").json(&open).expect(200).json();
        assert_eq!(read(), opened);
        let code = opened["code"].as_str().unwrap();
        let device = Browser::new(server);
        let enter = || device.submit("/learn/class", "/learn/class", &[("code", code)]).status;
        assert_eq!(enter(), 303);
        assert_eq!(choose(&device, &ann, right(&secret)).header("location"), "/learn");

        let words = json!({ "kind": "words" });
        let renewed: Value = near.put("/api/classes/c/cards/ann").json(&words).expect(200).json();
        assert_eq!(renewed["students"][0]["kind"], "words");
        assert_eq!(device.get("/learn").status, 303, "the session of the former card ended");
        near.put("/api/classes/c/cards/cem").json(&words).expect(404);
        near.delete("/api/classes/c/sign-in").expect(204);
        assert_eq!((enter(), &read()["code"]), (404, &Value::Null));
        near.post("/api/classes/c/sign-in").json(&json!({ "minutes": 121 })).expect(422);

        let far = guide("far@example.org", "t");
        far.post("/api/classes/c/sign-in").json(&open).expect(404);
        far.get("/api/classes/c/cards").expect(404);
        let program = server.client_with(&[Scope::BridgeWrite], PayloadDialect::Platform);
        program.post("/api/classes/c/sign-in").json(&open).expect(403);
        program.get("/api/classes/c/cards").expect(403);
    });
}

#[test]
fn a_student_whose_enrollment_ended_does_not_sign_in_in_class() {
    both(|server| {
        classroom(server);
        account(server, "tess@example.org", "Tess", Role::Guide);
        let code = opened(&Browser::signed_in(server, "tess@example.org"));
        let (ann, secret) = secret_of(server, "ann");
        let device = Browser::new(server);
        device.submit("/learn/class", "/learn/class", &[("code", &code)]);
        let client = server.client();
        let path = "/ims/oneroster/rostering/v1p2/classes/c/enrollments?limit=100";
        let enrollments: Value = client.get(path).expect(200).json();
        let all = enrollments["enrollments"].as_array().unwrap();
        let own = all.iter().find(|one| one["user"]["sourcedId"] == "ann").unwrap();
        let path = format!(
            "/ims/oneroster/rostering/v1p2/enrollments/{}",
            own["sourcedId"].as_str().unwrap()
        );
        let ended = json!({ "enrollment": { "endDate": "2020-01-01" } });
        client.patch(&path).json(&ended).expect(200);
        let names = device.get("/learn/class").text();
        assert!(!names.contains(">ann E.<") && names.contains(">bob E.<"), "{names}");
        let page = format!("/learn/class/{}", ann.id);
        let [first, second] = right(&secret);
        let reply = device.submit("/learn/class", &page, &[("first", first), ("second", second)]);
        assert_eq!(reply.status, 404, "{}", reply.text());
    });
}

#[test]
fn an_erased_student_has_neither_account_nor_card() {
    both(|server| {
        classroom(server);
        account(server, "tess@example.org", "Tess", Role::Guide);
        opened(&Browser::signed_in(server, "tess@example.org"));
        let (ann, _) = secret_of(server, "ann");
        let client = server.client_with(&[Scope::PeopleManage], PayloadDialect::Platform);
        client.post("/api/people/ann/erase").expect(202);
        let since = Instant::now();
        loop {
            let erasure: Value = client.get("/api/people/ann/erasure").expect(200).json();
            if !erasure["ended"].is_null() {
                break;
            }
            assert!(since.elapsed() < Duration::from_mins(1), "{erasure}");
            std::thread::sleep(Duration::from_millis(50));
        }
        let master = server.setup().master.clone();
        let left = server.db().read_blocking(|tx| {
            let secret = class_secret::open_secret(tx, &master, &ann.id)?;
            Ok((person::find(tx, &ann.id)?, student::of_user(tx, "ann")?, secret))
        });
        assert_eq!(left.unwrap(), (None, None, None));
        secret_of(server, "bob");
    });
}
