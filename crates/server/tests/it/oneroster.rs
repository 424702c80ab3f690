//! OneRoster over HTTP: every effect is read back by another operation, and after a restart.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::io::{Cursor, Read as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lyceum_access::{NewApiKey, NewClient, Role, Scope, api_key, audit};
use lyceum_api::limits::SCAN_MAX_MS;
use lyceum_core::PayloadDialect;
use lyceum_store::SqlDialect;
use lyceum_store::limits;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, always_both, both};
use serde_json::{Value, json};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";
const RESOURCES: &str = "/ims/oneroster/resources/v1p2";

fn post(client: &TestClient, path: &str, body: &Value, status: u16) -> Value {
    client.post(path).json(body).expect(status).json()
}

fn get(client: &TestClient, path: &str) -> Value {
    client.get(path).expect(200).json()
}

fn school(client: &TestClient) {
    let org =
        json!({"org": {"sourcedId": "s", "name": "School", "type": "school", "identifier": "1"}});
    post(client, &format!("{ROSTERING}/orgs"), &org, 201);
    for (id, role) in [("ann", "student"), ("tom", "teacher"), ("eve", "guardian")] {
        let user = json!({"user": {
            "sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "X",
            "email": format!("{id}@example.org"), "primaryOrg": {"sourcedId": "s"},
            "roles": [{"roleType": "primary", "role": role, "org": {"sourcedId": "s"}}],
        }});
        post(client, &format!("{ROSTERING}/users"), &user, 201);
    }
}

fn structure() -> Value {
    json!({
        "course": {"sourcedId": "c", "title": "Maths", "courseCode": "M", "org": {"sourcedId": "s"}},
        "courseStructure": {
            "subComponents": [
                {"sourcedId": "u2", "title": "Unit 2", "sortOrder": 2},
                {"sourcedId": "u1", "title": "Unit 1 <&>", "sortOrder": 1,
                 "componentResources": [
                    {"sourcedId": "l2", "title": "Quiz", "sortOrder": 2, "lessonType": "quiz",
                     "resource": {"sourcedId": "r2", "title": "Quiz", "vendorResourceId": "v2",
                                  "metadata": {"type": "qti", "xp": 10}}},
                    {"sourcedId": "l1", "title": "Video", "sortOrder": 1,
                     "resource": {"sourcedId": "r1", "title": "Video", "vendorResourceId": "v1",
                                  "metadata": {"type": "video", "url": "https://example.org/v?a=1&b=2"}}},
                 ],
                 "subComponents": [{"sourcedId": "u1a", "title": "Lesson 1a", "sortOrder": 1}]},
            ],
        },
    })
}

/// The sourcedIds of a tree's components, in order, with their depths.
fn outline(node: &Value, depth: usize, found: &mut Vec<(usize, String)>) {
    for part in node["subComponents"].as_array().into_iter().flatten() {
        found.push((depth, part["sourcedId"].as_str().unwrap().to_owned()));
        outline(part, depth + 1, found);
    }
}

#[test]
fn a_course_is_created_whole_and_read_as_a_syllabus() {
    both(|server| {
        let client = server.client();
        school(&client);
        let path = format!("{ROSTERING}/courses/structure");
        let created = post(&client, &path, &structure(), 201);
        assert_eq!(created["sourcedIdPairs"]["allocatedSourcedId"], "c");
        post(&client, &path, &structure(), 200);

        server.restart();
        let client = server.client();
        let read: Value = get(&client, "/adaptive/syllabus/c");
        assert_eq!(get(&client, "/powerpath/syllabus/c"), read, "the platform's name for it");
        let tree = &read["syllabus"];
        let mut components = Vec::new();
        outline(tree, 0, &mut components);
        let expected = [(0, "u1"), (1, "u1a"), (0, "u2")].map(|(depth, id)| (depth, id.to_owned()));
        assert_eq!(components, expected);
        let lessons = tree["subComponents"][0]["componentResources"].as_array().unwrap();
        let ids: Vec<&Value> = lessons.iter().map(|lesson| &lesson["sourcedId"]).collect();
        assert_eq!(ids, ["l1", "l2"]);
        assert_eq!(lessons[1]["resource"]["metadata"]["xp"], 10);
        let again = json!({"course": structure()["course"], "courseStructure": tree});
        post(&client, &path, &again, 200);
        let filter = "course.sourcedId='c'";
        let flat = get(&client, &format!("{ROSTERING}/courses/components?filter={filter}"));
        assert_eq!(flat["totalCount"], 3);
        client.get("/adaptive/syllabus/none").expect(404);
        let mut bad = structure();
        bad["courseStructure"]["subComponents"][1]["componentResources"][0]["lessonType"] =
            "x".into();
        let refused: Value = client.post(&path).json(&bad).expect(422).json();
        let place = refused["imsx_error_details"][0]["path"].as_str().unwrap();
        assert!(place.contains("componentResources[0].lessonType"), "{place}");
    });
}

#[test]
fn a_cartridge_holds_every_component_in_order_and_every_link() {
    both(|server| {
        let client = server.client();
        school(&client);
        post(&client, &format!("{ROSTERING}/courses/structure"), &structure(), 201);
        let reply = client.post(&format!("{RESOURCES}/resources/export/c")).expect(200);
        assert_eq!(reply.header("content-type"), "application/zip");
        let mut zip = zip::ZipArchive::new(Cursor::new(reply.body)).unwrap();
        let mut text = |name: &str| {
            let mut text = String::new();
            zip.by_name(name).unwrap().read_to_string(&mut text).unwrap();
            text
        };
        let manifest = text("imsmanifest.xml");
        let document = roxmltree::Document::parse(&manifest).unwrap();
        let titles: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name((node.tag_name().namespace().unwrap_or(""), "title")))
            .filter(|node| node.parent().is_some_and(|p| p.tag_name().name() == "item"))
            .filter_map(|node| node.text())
            .collect();
        let place = |title: &str| titles.iter().position(|known| *known == title).unwrap();
        assert!(place("Unit 1 <&>") < place("Lesson 1a") && place("Lesson 1a") < place("Unit 2"));
        let files: Vec<String> = document
            .descendants()
            .filter(|node| node.tag_name().name() == "file")
            .filter_map(|node| node.attribute("href").map(str::to_owned))
            .collect();
        assert_eq!(files.len(), 2, "{manifest}");
        let contents: Vec<String> = files.iter().map(|file| text(file)).collect();
        assert!(contents.iter().any(|text| text.contains("https://example.org/v?a=1&amp;b=2")));
        client.get(&format!("{RESOURCES}/resources/export/r1")).expect(200);
        client.get(&format!("{RESOURCES}/resources/export/none")).expect(404);
    });
}

#[test]
fn agents_are_added_and_removed() {
    both(|server| {
        let client = server.client();
        school(&client);
        let agents = format!("{ROSTERING}/users/ann/agents");
        post(&client, &agents, &json!({"agentSourcedId": "eve"}), 201);
        post(&client, &agents, &json!({"agentSourcedId": "eve"}), 201);
        client.post(&agents).json(&json!({"agentSourcedId": "nobody"})).expect(422);
        client.post(&agents).json(&json!({"agentSourcedId": "ann"})).expect(422);
        server.restart();
        let client = server.client();
        assert_eq!(get(&client, &agents)["agents"][0]["sourcedId"], "eve");
        let of_eve = get(&client, &format!("{ROSTERING}/users/eve/agentFor"));
        assert_eq!(of_eve["users"][0]["sourcedId"], "ann");
        client.delete(&format!("{agents}/eve")).expect(204);
        client.delete(&format!("{agents}/eve")).expect(404);
        assert_eq!(get(&client, &agents)["totalCount"], 0);
    });
}

#[test]
fn a_credential_is_kept_encrypted_and_shown_on_demand() {
    both(|server| {
        let client = server.client();
        school(&client);
        let path = format!("{ROSTERING}/users/ann/credentials");
        let login = json!({"applicationName": "Reader", "credentials": {"username": "ann", "password": "open sesame"}});
        let created = post(&client, &path, &login, 201);
        assert!(!created["message"].as_str().unwrap().contains("sesame"));
        server.restart();
        let client = server.client();
        let id = created["credentialId"].as_str().unwrap();
        let decrypting = server.client_with(&[Scope::PasswordsRead], PayloadDialect::Platform);
        let shown = post(&decrypting, &format!("{path}/{id}/decrypt"), &json!({}), 200);
        assert_eq!(shown, json!({ "password": "open sesame" }));
        let user = client.get(&format!("{ROSTERING}/users/ann")).expect(200).text();
        assert!(!user.contains("sesame"), "{user}");
        assert!(user.contains(created["userProfileId"].as_str().unwrap()));
        let foreign = format!("{ROSTERING}/users/tom/credentials/{id}/decrypt");
        decrypting.post(&foreign).json(&json!({})).expect(404);
        client.post(&path).json(&json!({"applicationName": "x"})).expect(422);
    });
}

#[test]
fn decrypting_passwords_needs_its_scope_and_is_audited() {
    both(|server| {
        let client = server.client();
        school(&client);
        let path = format!("{ROSTERING}/users/ann/credentials");
        let login = json!({"applicationName": "Reader", "credentials": {"username": "ann", "password": "open sesame"}});
        let id = post(&client, &path, &login, 201)["credentialId"].as_str().unwrap().to_owned();
        let decrypt = format!("{path}/{id}/decrypt");
        let entries = || {
            let filter =
                audit::AuditFilter { what: "password.decrypt".to_owned(), ..Default::default() };
            server.db().read_blocking(|tx| audit::list(tx, &filter, 100, 0)).unwrap().entries
        };
        // A client without a list of scopes and one that may write rosters are refused alike.
        let writer =
            server.client_with(&[Scope::RosterWrite, Scope::RosterRead], PayloadDialect::Platform);
        let key = |role| {
            let new = NewApiKey { name: format!("{role}"), role, project: None, maker: None };
            let (now, env) = (server.setup().clock.now(), server.setup().config.server.env);
            let created = server.db().write_blocking(|tx| api_key::create(tx, now, env, &new));
            let (created, token) = created.unwrap();
            (created.id, server.anonymous().with_token(token))
        };
        for refused in [client, writer, key(Role::Guide).1, key(Role::Developer).1] {
            let response = refused.post(&decrypt).json(&json!({})).expect(403);
            let challenge = response.header("www-authenticate");
            assert!(challenge.contains(r#"scope="lyceum/passwords.read""#), "{challenge}");
        }
        assert_eq!(entries().len(), 0);
        let new = NewClient {
            scopes: [Scope::PasswordsRead].into_iter().collect(),
            ..NewClient::named("sync")
        };
        let (client, secret) = server.register(&new);
        let sync = server.anonymous().with_token(server.token_of(&client, &secret));
        let (key_id, by_key) = key(Role::Administrator);
        for caller in [&sync, &by_key, &sync] {
            assert_eq!(post(caller, &decrypt, &json!({}), 200)["password"], "open sesame");
        }
        sync.post(&format!("{path}/none/decrypt")).json(&json!({})).expect(404);
        let entries = entries();
        let who: Vec<_> = entries.iter().map(|entry| entry.who.as_str()).collect();
        assert_eq!(who, [client.as_str(), "administrator", client.as_str()]);
        for (entry, caller) in entries.iter().zip([&client, &key_id, &client]) {
            assert_eq!(entry.subject, "ann");
            // The name of a key can be another's later, its id cannot.
            let details = json!({"credential": id, "application": "Reader", "callerId": caller});
            assert_eq!(entry.details, details);
        }
    });
}

#[test]
fn a_user_with_demographics_needs_the_right_to_read_both() {
    both(|server| {
        school(&server.client());
        let path = format!("{ROSTERING}/users/ann/demographics");
        let with = |scopes: &[Scope]| server.client_with(scopes, PayloadDialect::Platform);
        for (scopes, missing) in [
            (vec![Scope::DemographicsRead], "lyceum/roster.read"),
            (vec![Scope::OrRosterDemographicsReadonly, Scope::RosterWrite], "lyceum/roster.read"),
            (vec![Scope::RosterRead], "lyceum/demographics.read"),
        ] {
            let refused = with(&scopes).get(&path).expect(403);
            let challenge = refused.header("www-authenticate");
            assert!(challenge.contains(missing), "{scopes:?}: {challenge}");
            assert!(!refused.text().contains("Ann"), "{}", refused.text());
        }
        for scopes in [
            [Scope::DemographicsRead, Scope::RosterRead],
            [Scope::OrRosterDemographicsReadonly, Scope::OrRosterCoreReadonly],
        ] {
            assert_eq!(get(&with(&scopes), &path)["user"]["sourcedId"], "ann");
        }
    });
}

#[test]
fn demographics_are_returned_inside_of_their_user() {
    both(|server| {
        let client = server.client();
        school(&client);
        let facts =
            json!({"demographics": {"sourcedId": "ann", "birthDate": "2015-02-03", "asian": true}});
        post(&client, &format!("{ROSTERING}/demographics"), &facts, 201);
        let both = get(&client, &format!("{ROSTERING}/users/ann/demographics"));
        assert_eq!(both["user"]["sourcedId"], "ann");
        assert_eq!(both["user"]["demographics"]["asian"], "true");
        let standard = server.client_with(&[], PayloadDialect::Standard);
        let read = get(&standard, &format!("{ROSTERING}/demographics/ann"));
        assert_eq!(read["demographics"]["birthDate"], "2015-02-03");
    });
}

#[test]
fn classes_take_students_and_teachers_and_terms_their_grading_periods() {
    both(|server| {
        let client = server.client();
        school(&client);
        post(&client, &format!("{ROSTERING}/courses/structure"), &structure(), 201);
        let term = json!({"academicSession": {"sourcedId": "t", "title": "Term", "type": "term",
            "startDate": "2026-01-01", "endDate": "2026-06-30", "schoolYear": "2026", "org": {"sourcedId": "s"}}});
        post(&client, &format!("{ROSTERING}/academicSessions"), &term, 201);
        let class = json!({"class": {"sourcedId": "k", "title": "Class", "course": {"sourcedId": "c"},
            "org": {"sourcedId": "s"}, "terms": [{"sourcedId": "t"}]}});
        post(&client, &format!("{ROSTERING}/classes"), &class, 201);
        let enroll = json!({"enrollment": {"user": {"sourcedId": "ann"}, "primary": true}});
        post(&client, &format!("{ROSTERING}/classes/k/students"), &enroll, 201);
        let period = json!({"academicSession": {"sourcedId": "g", "title": "Period 1",
            "startDate": "2026-01-01", "endDate": "2026-03-31", "schoolYear": "2026"}});
        post(&client, &format!("{ROSTERING}/terms/t/gradingPeriods"), &period, 201);

        server.restart();
        let client = server.client();
        assert_eq!(
            get(&client, &format!("{ROSTERING}/classes/k/students"))["users"][0]["sourcedId"],
            "ann"
        );
        assert_eq!(
            get(&client, &format!("{ROSTERING}/students/ann/classes"))["classes"][0]["sourcedId"],
            "k"
        );
        assert_eq!(
            get(&client, &format!("{ROSTERING}/schools/s/terms"))["terms"][0]["sourcedId"],
            "t"
        );
        let term = get(&client, &format!("{ROSTERING}/terms/t"));
        assert_eq!(term["term"], term["academicSession"]);
        let periods = get(&client, &format!("{ROSTERING}/terms/t/gradingPeriods"));
        assert_eq!(periods["academicSessions"][0]["sourcedId"], "g");
        let period = get(&client, &format!("{ROSTERING}/gradingPeriods/g"));
        assert_eq!(period["gradingPeriod"]["parent"]["sourcedId"], "t");
        let change = json!({"academicSession": {"title": "Period one"}});
        client.patch(&format!("{ROSTERING}/gradingPeriods/g")).json(&change).expect(200);
        let read = get(&client, &format!("{ROSTERING}/academicSessions/g"));
        assert_eq!(read["academicSession"]["title"], "Period one");
        client.get(&format!("{ROSTERING}/terms/g")).expect(404);
    });
}

#[test]
fn bulk_loads_report_each_line_and_are_atomic_by_default() {
    both(|server| {
        let client = server.client();
        school(&client);
        let lines = "{\"sourcedId\":\"a\",\"title\":\"A\"}\n\n{\"title\":\"no id\"}\n{\"category\":{\"sourcedId\":\"b\",\"title\":\"B\"}}\n{broken";
        let path = format!("{GRADEBOOK}/categories/bulk");
        let send = |query: &str| {
            client.post(&format!("{path}{query}")).body("application/x-ndjson", lines)
        };
        let refused: Value = send("").expect(422).json();
        assert!(refused["imsx_description"].as_str().unwrap().contains("line 5"), "{refused}");
        assert_eq!(get(&client, &format!("{GRADEBOOK}/categories"))["totalCount"], 0);
        let found = send("?atomic=false").expect(200).text();
        let found: Vec<Value> =
            found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let outcomes: Vec<&Value> = found.iter().map(|line| &line["outcome"]).collect();
        assert_eq!(outcomes, ["created", "created", "created", "refused"]);
        assert_eq!(get(&client, &format!("{GRADEBOOK}/categories"))["totalCount"], 3);
    });
}

#[test]
fn changes_with_an_outdated_tag_are_refused() {
    both(|server| {
        let client = server.client();
        school(&client);
        let path = format!("{ROSTERING}/orgs/s");
        let tag = client.get(&path).expect(200).header("etag").to_owned();
        client.get(&path).header("if-none-match", &tag).expect(304);
        let change = json!({"org": {"name": "New"}});
        client.patch(&path).header("if-match", &tag).json(&change).expect(200);
        client.patch(&path).header("if-match", &tag).json(&change).expect(412);
        client.get(&path).header("if-none-match", &tag).expect(200);
    });
}

#[test]
fn pages_link_to_each_other() {
    both(|server: &mut TestServer| {
        let client = server.client();
        let org = |n| format!("{{\"sourcedId\":\"o{n}\",\"name\":\"O\",\"type\":\"district\"}}");
        let lines = (0..25).map(org).collect::<Vec<_>>().join("\n");
        client
            .post(&format!("{ROSTERING}/orgs/bulk"))
            .body("application/x-ndjson", lines)
            .expect(200);
        let mut next = Some(format!("{ROSTERING}/orgs?limit=10&cursor="));
        let mut seen = 0;
        while let Some(path) = next {
            let reply = client.get(&path).expect(200);
            let page: Value = reply.json();
            seen += page["orgs"].as_array().unwrap().len();
            assert_eq!(reply.header("x-total-count"), "25");
            next = reply.header("link").split(", ").find_map(|link| {
                let address =
                    link.strip_suffix("; rel=\"next\"")?.trim_matches(['<', '>']).to_owned();
                Some(address[address.find("/ims").unwrap()..].to_owned())
            });
        }
        assert_eq!(seen, 25);
        let last = client.get(&format!("{ROSTERING}/orgs?limit=10&offset=20")).expect(200);
        assert!(!last.header("link").contains("rel=\"next\""));
        assert!(last.header("link").contains("rel=\"prev\""));
        client.get(&format!("{ROSTERING}/orgs?sort=colour")).expect(400);
        client.get(&format!("{ROSTERING}/orgs?fields=colour")).expect(400);
        school(&client);
        let picked = get(&client, &format!("{ROSTERING}/users/ann?fields=email"));
        assert_eq!(picked["user"]["email"], "ann@example.org");
        assert_eq!(picked["user"]["givenName"], "ann", "what the schema requires is shown");
        let whole = get(&client, &format!("{ROSTERING}/users/ann"));
        assert!(whole["user"].get("primaryOrg").is_some());
        assert_eq!(picked["user"].get("primaryOrg"), None);
    });
}

/// While the threads for long reads are taken, a list that may be long waits for them, and is refused when
/// its time is over; a short one is answered at once.
#[test]
fn lists_that_may_be_long_leave_the_threads_of_the_server_alone() {
    always_both(|server| {
        let client = server.client();
        school(&client);
        let db = server.db();
        let at_once = match db.dialect() {
            SqlDialect::Sqlite => limits::SQLITE_SCAN_THREADS,
            SqlDialect::Postgres => limits::POSTGRES_SCAN_CONNECTIONS,
        };
        let (begun, has_begun) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..at_once {
                let (end, has_end) = mpsc::channel::<()>();
                // Nothing else keeps the end, so that a failure below lets the thread go.
                let (begun, mut end) = (begun.clone(), Some(end));
                let read = db.scan(Duration::from_mins(1), move |_| {
                    let _ = (end.take().map(|end| begun.send(end)), has_end.recv());
                    Ok(())
                });
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                scope.spawn(move || runtime.block_on(read).unwrap());
            }
            let ends: Vec<_> = has_begun.iter().take(at_once).collect();
            let refused = |path: &'static str| {
                let client = &client;
                scope.spawn(move || {
                    let reply = client.get(&format!("{ROSTERING}{path}")).send();
                    assert_eq!(reply.status, 503, "{path}");
                })
            };
            let long = [
                "/users?filter=dateLastModified%3D'2026-01-15T08:00:00Z'",
                "/enrollments?filter=user.sourcedId%3D'ann'%20AND%20role%3D'student'",
                "/users?sort=sourcedId&offset=1000",
            ]
            .map(refused);
            for short in [
                "/users",
                "/users/ann",
                "/users?filter=sourcedId%3D'ann'",
                "/users?filter=email%3D'ann@example.org'",
                "/enrollments?filter=user.sourcedId%3D'ann'",
            ] {
                client.get(&format!("{ROSTERING}{short}")).expect(200);
            }
            // Longer than a scan may take, so that those who wait are too late by then.
            thread::sleep(Duration::from_millis(SCAN_MAX_MS + 1000));
            assert!(long.iter().all(|long| !long.is_finished()), "they wait for the threads");
            for end in ends {
                end.send(()).unwrap();
            }
        });
    });
}
