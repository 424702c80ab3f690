//! The console over HTTP: access, parameters of lists, and reasons of Today about lessons.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_access::{Role, session};
use lyceum_api::limits::SCAN_MAX_MS;
use lyceum_core::Reach;
use lyceum_core::time::ManualClock;
use lyceum_hosting::backup::BackupFile;
use lyceum_roster::imports::{self, ImportProgress, NewImport};
use lyceum_store::limits;
use lyceum_store::{SqlDialect, StoreLocation};
use lyceum_testkit::records;
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::{Setup, TestServer, always_both, both, both_as};
use serde_json::{Value, json};

use crate::enrolling::{get, post};
use crate::lessons;
use crate::people::{person, signed_in};
use crate::projects::{build, deploy};

fn page(server: &TestServer, cookie: &str, path: &str) -> Reply {
    server.anonymous().get(path).header("cookie", cookie).send()
}

fn visitor(server: &TestServer, role: Role) -> String {
    let email = format!("{role}@example.org");
    person(server, &email, "Robin", role);
    signed_in(server, &email)
}

#[test]
fn a_page_requires_a_session_with_a_role_that_sees_it() {
    both(|server| {
        let reply = server.anonymous().get("/console/today?rule=waste").send();
        assert_eq!(reply.status, 303);
        assert_eq!(reply.header("location"), "/sign-in?next=%2Fconsole%2Ftoday%3Frule%3Dwaste");
        // A bearer token does not open pages for browsers.
        assert_eq!(server.client().get("/console").send().status, 303);

        let developer = visitor(server, Role::Developer);
        let reply = page(server, &developer, "/console/today");
        assert_eq!(reply.status, 403);
        let reason = "your role is 'developer'";
        assert!(reply.text().contains(reason), "{}", reply.text());
        let guide = visitor(server, Role::Guide);
        let reply = page(server, &guide, "/console/today");
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("cache-control"), "no-store");
        let policy = reply.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"));
        assert!(!policy.contains("unsafe"), "{policy}");

        // Missing pages are reported in the frame, or on a separate page.
        let reply = page(server, &guide, "/console/students/nobody");
        assert_eq!((reply.status, reply.header("content-type")), (404, "text/html; charset=utf-8"));
        assert!(reply.text().contains("Page not found"));
        let reply = page(server, &guide, "/console/nowhere");
        assert_eq!((reply.status, reply.header("content-type")), (404, "text/html; charset=utf-8"));
        let alone = server.anonymous().get("/console/nowhere").expect(404).text();
        assert!(
            alone.contains("No page has the address") && !alone.contains("navigation"),
            "{alone}"
        );
        server.anonymous().get("/console/assets/docs.css").expect(404);
        assert_eq!(page(server, &guide, "/console/enter?link=x").status, 404);
    });
}

#[test]
fn the_home_of_a_developer_says_nothing_about_events_and_learners() {
    both(|server| {
        let events = [crate::events::event(1)];
        let sent = crate::events::send(&server.client(), "/ims/caliper/v1p2/events", &events);
        assert_eq!(sent.status, 200, "{}", sent.text());
        let home = |role| page(server, &visitor(server, role), "/console").text();
        let guide = home(Role::Guide);
        assert!(guide.contains("/console/events") && guide.contains("/console/unknown"));
        assert!(!guide.contains("/console/events/refused"), "{guide}");
        let developer = home(Role::Developer);
        for part in ["/console/events", "/console/unknown", "Incoming events", "Stored data"] {
            assert!(!developer.contains(part), "{part}: {developer}");
        }
        assert!(developer.contains("My projects"), "{developer}");
    });
}

/// Exports and other long reads may take some seconds.
#[test]
fn a_page_is_served_during_long_reads() {
    always_both(|server| {
        let guide = visitor(server, Role::Guide);
        let db = server.db();
        let at_once = match db.read_blocking(|tx| Ok(tx.dialect())).unwrap() {
            SqlDialect::Sqlite => limits::SQLITE_SCAN_THREADS,
            SqlDialect::Postgres => limits::POSTGRES_SCAN_CONNECTIONS,
        };
        let (begun, has_begun) = mpsc::channel();
        let longer = Duration::from_millis(SCAN_MAX_MS + 200);
        thread::scope(|scope| {
            for _ in 0..at_once {
                let begun = begun.clone();
                let read = db.scan(10 * longer, move |_| {
                    begun.send(()).unwrap();
                    thread::sleep(longer);
                    Ok(())
                });
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                scope.spawn(move || runtime.block_on(read).unwrap());
            }
            assert_eq!(has_begun.iter().take(at_once).count(), at_once);
            assert_eq!(page(server, &guide, "/console/classes").status, 200);
        });
    });
}

fn sent<'a>(name: &'a str, file: &'a str) -> NewImport<'a> {
    NewImport { name, bytes: 10, file, who: "robin@example.org", reach: &Reach::Everything }
}

#[test]
fn the_progress_of_an_import_is_shown_by_every_server() {
    both(|server| {
        let administrator = visitor(server, Role::Administrator);
        let now = server.setup().clock.now();
        // Another server with the same database runs the import and reports its progress.
        let id = server.db().write_blocking(|tx| {
            let id = imports::add(tx, now, &sent("été.zip", "0"))?;
            let (job, _) = imports::claim(tx)?.expect("it was added in this transaction");
            let progress = ImportProgress { file: "users".to_owned(), rows: 4711, percent: 42 };
            assert!(imports::renew(tx, &job, Some(&progress))?);
            Ok(id)
        });
        let path = format!("/console/imports/{}", id.unwrap());
        let shown = page(server, &administrator, &path).text();
        assert!(
            shown.contains("users.csv, 4,711 rows read") && shown.contains("value=\"42\""),
            "{shown}"
        );
        assert!(shown.contains("<h1>été.zip</h1>"), "{shown}");
    });
}

#[test]
fn an_upload_that_is_not_a_zip_is_refused_with_its_file_name() {
    both(|server| {
        let administrator = visitor(server, Role::Administrator);
        let now = server.setup().clock.now();
        let bytes = b"not a zip at all";
        let file = lyceum_blob::Digest::of(bytes);
        let data = server.setup().config.store.data.join("hosting");
        lyceum_blob::Blobs::on_disk(data).unwrap().put(&file, &bytes[..]).unwrap();
        let file = file.to_string();
        let id =
            server.db().write_blocking(|tx| imports::add(tx, now, &sent("rosters.zip", &file)));
        let path = format!("/console/imports/{}", id.unwrap());
        let shown = (0..1000)
            .map(|_| {
                thread::sleep(Duration::from_millis(10));
                page(server, &administrator, &path).text()
            })
            .find(|shown| shown.contains("is not a zip file"));
        let shown = shown.expect("the import is refused");
        assert!(shown.contains("rosters.zip") && !shown.contains("import.zip"), "{shown}");
    });
}

#[test]
fn logs_are_files_with_their_length_and_few_events_are_sorted_by_every_column() {
    both(|server| {
        let administrator = visitor(server, Role::Administrator);
        let actions = ["LoggedIn", "TimedOut", "LoggedOut"];
        let events = actions.iter().zip(1..).map(|(action, number)| {
            let app = json!({ "id": "https://app.test/", "type": "SoftwareApplication" });
            let robin = json!({ "id": "https://school.test/users/robin", "type": "Person" });
            let session = json!({ "id": "https://app.test/sessions/1", "type": "Session" });
            // The actor of a time-out is the application, not the person.
            let (actor, object) = if *action == "TimedOut" { (app, session) } else { (robin, app) };
            json!({
                "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2", "type": "SessionEvent",
                "id": format!("urn:uuid:7f0a3c1e-0f0a-4c1e-9f0a-3c1e7f0a3c1{number}"),
                "action": action, "eventTime": "2026-01-15T08:00:00.000Z",
                "actor": actor, "object": object,
            })
        });
        let envelope = json!({
            "sensor": "https://app.test/sensor", "sendTime": "2026-01-15T08:00:01.000Z",
            "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "data": events.collect::<Vec<Value>>(),
        });
        server.client().post("/ims/caliper/v1p2/events").json(&envelope).expect(200);

        for log in ["events", "system/audit"] {
            let reply = page(server, &administrator, &format!("/console/{log}?export=csv"));
            assert_eq!(reply.status, 200, "{}", reply.text());
            assert_eq!(reply.header("content-length"), reply.text().len().to_string());
        }
        let exported = |sort: &str| -> Vec<String> {
            let path = format!("/console/events?export=json&sort={sort}");
            let rows: Vec<Value> = page(server, &administrator, &path).json();
            rows.iter().map(|row| row["action"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(exported("number"), actions);
        assert_eq!(exported("action"), ["LoggedIn", "LoggedOut", "TimedOut"]);
        assert_eq!(exported("-action"), ["TimedOut", "LoggedOut", "LoggedIn"]);
        let beyond = page(server, &administrator, "/console/events?page=9");
        assert!(beyond.text().contains("The list does not have this page"), "{}", beyond.text());
    });
}

fn fail(client: &TestClient, attempt: u32) {
    let body = json!({"student": "amy", "lesson": "quiz"});
    if attempt > 1 {
        post(client, "/adaptive/createNewAttempt", &body, 201);
    }
    let answer = json!({
        "student": "amy", "lesson": "quiz", "question": "q1", "responses": {"RESPONSE": "B"},
    });
    client.put("/powerpath/updateStudentQuestionResponse").json(&answer).expect(200);
    post(client, "/adaptive/finalStudentAssessmentResponse", &body, 200);
}

#[test]
fn a_third_failed_attempt_puts_a_student_on_today() {
    // Nothing is due on a Saturday.
    let clock = Arc::new(ManualClock::at("2026-03-14T11:00:00Z".parse().unwrap()));
    both_as(&Setup { clock, ..Setup::default() }, |server| {
        let client = server.client();
        lessons::course(&client);
        lessons::stored_question(&client, "q1");
        lessons::lesson(&client, "quiz", "quiz", &["q1"], 8.0);
        let guide = visitor(server, Role::Guide);
        let today = |server: &TestServer| -> Value {
            let reply = page(server, &guide, "/console/today?export=json&rule=failures");
            assert_eq!(reply.status, 200, "{}", reply.text());
            reply.json()
        };
        fail(&client, 1);
        fail(&client, 2);
        assert_eq!(today(server), json!([]));
        fail(&client, 3);
        let rows = today(server);
        assert_eq!(rows[0]["student"], "amy X", "{rows}");
        let reasons = rows[0]["reasons"].as_str().unwrap();
        assert!(
            reasons.starts_with("Failed repeatedly: 3 failed attempts at one lesson"),
            "{rows}"
        );
        server.restart();
        assert_eq!(today(server), rows);

        // All answers with their reasons, newest first, as in the log.
        let path = "/console/students/amy?export=json";
        let answers: Value = page(server, &guide, path).json();
        let log = get(&client, "/powerpath/getAttemptLog?student=amy&lesson=quiz");
        assert_eq!(answers.as_array().unwrap().len(), 3);
        assert_eq!(answers[0]["item"], log["log"][0]["item"]);
        assert_eq!(answers[0]["why"], "Question 1 in the lesson's order");
        assert_eq!((&answers[0]["outcome"], &answers[0]["attempt"]), (&json!("wrong"), &json!(3)));
    });
}

#[test]
fn answers_of_an_unfinished_lesson_count_today() {
    // Nothing is due on a Saturday.
    let clock = Arc::new(ManualClock::at("2026-03-14T11:00:00Z".parse().unwrap()));
    both_as(&Setup { clock, ..Setup::default() }, |server| {
        let client = server.client();
        lessons::course(&client);
        let names: Vec<String> = (1..=7).map(|number| format!("q{number}")).collect();
        for name in &names {
            lessons::stored_question(&client, name);
        }
        let items: Vec<&str> = names.iter().map(String::as_str).collect();
        lessons::lesson(&client, "quiz", "quiz", &items, 8.0);
        let guide = visitor(server, Role::Guide);
        let today = || -> Value {
            let path = "/console/students?export=json&filter=amy";
            page(server, &guide, path).json::<Value>()[0].clone()
        };
        let before = today();
        let give = |question: &str, response: &str| {
            let answer = json!({
                "student": "amy", "lesson": "quiz", "question": question,
                "responses": {"RESPONSE": response},
            });
            client.put("/powerpath/updateStudentQuestionResponse").json(&answer).expect(200);
        };
        for question in &items[..6] {
            give(question, "B");
        }
        // The last answer to a question counts, as in the final score.
        give("q1", "A");
        let during = today();
        assert_ne!(during, before);
        let accuracy = |day: &Value| day["accuracy"].as_f64().map(f64::round);
        assert_eq!(accuracy(&during), Some(17.0), "1 of 6 answers: {during}");
        let attempt = "/console/students/amy/attempt?lesson=quiz&attempt=1&export=json";
        let rows: Vec<Value> = page(server, &guide, attempt).json();
        let scores: Vec<_> = rows.iter().map(|row| row["score"].as_f64()).collect();
        assert_eq!(scores.last().unwrap(), &Some(16.0), "{rows:?}");

        // When the lesson is complete, its event replaces the counts, so that nothing counts twice.
        give("q7", "A");
        let body = json!({"student": "amy", "lesson": "quiz"});
        post(&client, "/adaptive/finalStudentAssessmentResponse", &body, 200);
        assert_eq!(accuracy(&today()), Some(29.0), "2 of 7 answers: {}", today());
    });
}

#[test]
fn the_form_refuses_a_client_without_chosen_scopes() {
    both(|server| {
        let administrator = visitor(server, Role::Administrator);
        let form = page(server, &administrator, "/console/keys/clients/new").text();
        let token = form.split("name=\"token\" value=\"").nth(1).unwrap();
        let token = token.split('"').next().unwrap().to_owned();
        let send = |more: &[(&str, &str)]| {
            let pairs = [&[("token", token.as_str()), ("name", "Reports")], more].concat();
            let call = server.anonymous();
            let call = call.post("/console/keys/clients/new").header("cookie", &administrator);
            call.header("origin", &server.address()).form(&pairs).send()
        };
        let refused = send(&[]);
        assert_eq!(refused.status, 422, "{}", refused.text());
        assert!(refused.text().contains("choose what the client may do"), "{}", refused.text());
        assert!(refused.text().contains("value=\"Reports\""), "what was typed is kept");
        assert_eq!(send(&[("scope", "lyceum/events.read")]).status, 200);
        let all = send(&[("all", "yes")]);
        assert_eq!(all.status, 200, "{}", all.text());
        let clients: Value =
            page(server, &administrator, "/console/keys/clients?export=json&filter=Reports").json();
        let scopes: Vec<_> =
            clients.as_array().unwrap().iter().map(|client| client["scopes"].clone()).collect();
        assert!(scopes.contains(&json!("all")) && scopes.contains(&json!("lyceum/events.read")));
    });
}

#[test]
fn the_button_for_a_backup_backs_up_the_whole_server() {
    both(|server| {
        deploy(&server.client(), &build("one"), &[]);
        person(server, "ada@example.org", "Ada", Role::Administrator);
        let cookie = signed_in(server, "ada@example.org");
        let post = || {
            let token = session::form_token(cookie.split_once('=').unwrap().1);
            let browser = server.anonymous();
            let call = browser.post("/console/system/backups");
            call.form(&[("token", token.as_str())]).header("cookie", &cookie).send()
        };
        assert_eq!(post().status, 303);
        let folder = server.setup().config.store.data.join("backups");
        let created = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        let file = BackupFile::parse(created.to_str().unwrap(), &server.setup().config).unwrap();
        let opened = file.open().unwrap().unwrap();
        let checked = lyceum_hosting::backup::check(opened, &folder, |_| ()).unwrap();
        assert_eq!(checked.faults, Vec::<String>::new());
        assert_eq!(checked.cover.as_ref().unwrap().projects, ["rivers"]);
        assert!(
            checked.has(&lyceum_blob::Digest::of(b"one")),
            "the files of the version are in it"
        );
    });
}

#[test]
fn problems_are_shown_in_the_frame_of_the_person_who_is_signed_in() {
    both(|server| {
        let guide = visitor(server, Role::Guide);
        let framed = |path: &str, status: u16| {
            let reply = page(server, &guide, path);
            let (own, text) = (reply.status, reply.text());
            assert_eq!(own, status, "{path}: {text}");
            let is_framed = text.contains("id=\"navigation\"") && text.contains("Robin");
            assert!(is_framed && text.contains("role=\"alert\""), "{path}: {text}");
            text
        };
        assert!(framed("/console/nowhere", 404).contains("href=\"/console/search\""));
        framed("/console/students/nobody/and/more", 404);
        framed("/console/classes/%FF", 400);
        framed("/console/system", 403);
        framed("/console/today/stream/x", 404);
        // The store fails.
        let rename = "ALTER TABLE classes RENAME TO classes_that_are_gone";
        server.db().write_blocking(|tx| tx.execute(rename, &[])).unwrap();
        let text = framed("/console/classes", 500);
        assert!(
            text.contains("tell an administrator the number") && text.contains("Go to Classes")
        );
        assert!(!text.contains("classes_that_are_gone") && !text.contains("SELECT"), "{text}");
    });
}

#[test]
fn problems_of_a_busy_server_are_shown_without_a_frame() {
    let mut setup = Setup::default();
    setup.config.server.request_timeout_s = 1;
    both_as(&setup, |server| {
        let guide = visitor(server, Role::Guide);
        let open = |path: &str, status: u16| {
            let reply = page(server, &guide, path);
            assert_eq!(reply.status, status, "{path}");
            reply.text().contains("id=\"navigation\"")
        };
        assert!(open("/console/nowhere", 404));
        // Only PostgreSQL has readers wait for a writer.
        if !matches!(server.target(), StoreLocation::Postgres(_)) {
            return;
        }
        let (locked, is_locked) = mpsc::channel();
        let (release, is_released) = mpsc::channel::<()>();
        let db = server.db().clone();
        let lock = thread::spawn(move || {
            db.write_blocking(|tx| {
                tx.execute("LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE", &[])?;
                locked.send(()).unwrap();
                is_released.recv().unwrap();
                Ok(())
            })
        });
        is_locked.recv().unwrap();
        let started = Instant::now();
        // The session is read before the page, or only for the frame.
        assert!(!open("/console/classes", 503));
        assert!(!open("/console/nowhere", 404));
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        release.send(()).unwrap();
        lock.join().unwrap().unwrap();
        assert!(open("/console/nowhere", 404));
    });
}

#[test]
fn a_search_finds_pages_and_records_of_the_screens_that_the_role_sees() {
    both(|server| {
        records::school(server.db(), "s", "Harbour School");
        records::student(server.db(), "axolotl", "s", "3");
        records::course(server.db(), "c", "s", "Math");
        records::class(server.db(), "k", "c", "s");
        let cookies = Role::STAFF.map(|role| (role, visitor(server, role)));
        let search = |role: Role, query: &str| {
            let (_, cookie) = cookies.iter().find(|(known, _)| *known == role).unwrap();
            let reply = page(server, cookie, &format!("/console/search?{query}"));
            assert_eq!(reply.status, 200, "{query}");
            reply.text()
        };
        let leads = |text: &str, path: &str| text.contains(&format!("<a href=\"{path}\">"));
        let administrator = search(Role::Administrator, "q=%C3%81XO");
        assert!(leads(&administrator, "/console/students/axolotl"), "{administrator}");
        assert!(administrator.contains("Harbour School"), "{administrator}");
        let options = search(Role::Administrator, "q=robin&part=1");
        assert!(options.contains("role=\"option\"") && options.contains("/console/accounts/"));
        assert!(!options.contains("<html"), "{options}");
        assert!(leads(&search(Role::Guide, "q=class+k"), "/console/classes/k"));
        assert!(leads(&search(Role::Guide, "q=cour+c"), "/console/courses/c"));
        let developer = search(Role::Developer, "q=axo");
        assert!(
            developer.contains("No person, class, course or page has this name")
                && !developer.contains("Example")
        );
        assert!(search(Role::Guide, "q=even").contains("href=\"/console/events\">Events"));
        assert!(!search(Role::Developer, "q=even").contains("/console/events"));
        // Guides see neither accounts nor the screens of administrators.
        let guide = search(Role::Guide, "q=robin");
        assert!(
            guide.contains("No person, class, course or page has this name")
                && !guide.contains("administrator@")
        );
        assert!(
            search(Role::Guide, "q=sys").contains("No person, class, course or page has this name")
        );
        let short = search(Role::Guide, "q=a");
        assert!(short.contains("at least two letters") && !short.contains("axolotl"), "{short}");
        // A letter has one or more bytes. A Chinese character is enough.
        for (query, is_short) in [("q=%C3%A9", true), ("q=%D1%8F", true), ("q=%E6%9D%8E", false)] {
            let text = search(Role::Guide, query);
            assert_eq!(text.contains("at least two letters"), is_short, "{query}: {text}");
        }
        // Developers find no records, so a longer query would not help them.
        assert!(!search(Role::Developer, "q=a").contains("at least two letters"));
        // The query is cut between characters to 200 bytes: 66 of three.
        let long = search(Role::Guide, &format!("q={}", "%E6%9D%8E".repeat(100)));
        let shown = format!("value=\"{}\"", "李".repeat(66));
        assert!(long.contains(&shown), "{long}");
        // Words that mean something to a database are words.
        for odd in ["q=%25", "q=%27%3B--", "q=%00ab", "q=_x"] {
            search(Role::Guide, odd);
        }
    });
}
