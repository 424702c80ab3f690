//! Requests of the platform's clients beyond the standard. Another operation reads every effect, and again after a
//! restart.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer, both, both_as};
use serde_json::{Value, json};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const RESOURCES: &str = "/ims/oneroster/resources/v1p2";

fn post(client: &TestClient, path: &str, body: &Value, status: u16) -> Value {
    client.post(&format!("{ROSTERING}{path}")).json(body).expect(status).json()
}

fn get(client: &TestClient, path: &str) -> Value {
    client.get(&format!("{ROSTERING}{path}")).expect(200).json()
}

fn user(client: &TestClient, id: &str, role: &str) {
    let user = json!({"user": {
        "sourcedId": id, "enabledUser": true, "givenName": "Given", "familyName": "Family",
        "email": format!("{id}@example.org"),
        "roles": [{"roleType": "primary", "role": role, "org": {"sourcedId": "s"}}],
    }});
    post(client, "/users", &user, 201);
}

fn school(client: &TestClient) {
    let org = json!({"org": {"sourcedId": "s", "name": "School", "type": "school"}});
    post(client, "/schools", &org, 201);
}

/// Runs the checks, and again after a restart.
fn now_and_after_restart(server: &mut TestServer, check: impl Fn(&TestClient)) {
    check(&server.client());
    server.restart();
    check(&server.client());
}

fn session(id: &str, kind: &str) -> Value {
    json!({
        "sourcedId": id, "status": "active", "title": id, "type": kind, "schoolYear": "2026",
        "startDate": "2026-01-05", "endDate": "2026-04-03", "org": {"sourcedId": "s"},
    })
}

#[test]
fn schools_are_written_at_their_own_address() {
    both(|server| {
        let client = server.client();
        school(&client);
        let changed = json!({"org": {"name": "High School", "type": "school", "identifier": "7"}});
        client.put(&format!("{ROSTERING}/schools/s")).json(&changed).expect(200);
        let part = json!({"org": {"identifier": "8"}});
        client.patch(&format!("{ROSTERING}/schools/s")).json(&part).expect(200);
        let district = json!({"org": {"sourcedId": "d", "name": "D", "type": "district"}});
        post(&client, "/schools", &district, 422);
        post(&client, "/orgs", &district, 201);
        client.put(&format!("{ROSTERING}/schools/d")).json(&changed).expect(404);
        client.delete(&format!("{ROSTERING}/schools/d")).expect(404);
        now_and_after_restart(server, |client| {
            let read = get(client, "/orgs/s");
            assert_eq!(read["org"]["name"], "High School");
            assert_eq!(read["org"]["identifier"], "8");
            assert_eq!(get(client, "/schools")["totalCount"], 1);
        });
        server.client().delete(&format!("{ROSTERING}/schools/s")).expect(204);
        now_and_after_restart(server, |client| {
            assert_eq!(get(client, "/schools")["orgs"], json!([]));
            assert_eq!(get(client, "/orgs/s")["org"]["status"], "tobedeleted");
        });
    });
}

#[test]
fn grading_periods_and_terms_have_both_of_their_paths() {
    both(|server| {
        let client = server.client();
        school(&client);
        post(&client, "/academicSessions", &json!({"academicSession": session("t", "term")}), 201);
        let mut period = session("g", "gradingPeriod");
        period["parent"] = json!({"sourcedId": "t"});
        let wrapped = json!({"academicSession": period});
        let created = post(&client, "/gradingPeriods", &wrapped, 201);
        assert_eq!(created["sourcedIdPairs"]["allocatedSourcedId"], "g");
        post(&client, "/gradingPeriods", &wrapped, 200);
        period["title"] = "Replaced".into();
        let at = format!("{ROSTERING}/gradingPeriods/g");
        client.put(&at).json(&json!({"academicSession": period})).expect(200);
        client.patch(&at).json(&json!({"academicSession": {"schoolYear": "2027"}})).expect(200);
        client.put(&format!("{ROSTERING}/gradingPeriods/t")).json(&wrapped).expect(422);
        client.delete(&format!("{ROSTERING}/gradingPeriods/t")).expect(404);
        now_and_after_restart(server, |client| {
            let read = get(client, "/gradingPeriods/g");
            assert_eq!(read["gradingPeriod"], read["academicSession"]);
            assert_eq!(read["gradingPeriod"]["title"], "Replaced");
            assert_eq!(read["gradingPeriod"]["schoolYear"], "2027");
            let term = get(client, "/terms/t");
            assert_eq!(term["term"], term["academicSession"]);
            assert_eq!(term["term"]["sourcedId"], "t");
            for path in ["/schools/s/terms", "/terms"] {
                let terms = get(client, path);
                assert_eq!(terms["terms"], terms["academicSessions"]);
                assert_eq!(terms["terms"][0]["sourcedId"], "t", "{path}");
                assert_eq!(terms["terms"].as_array().unwrap().len(), 1, "{path}");
            }
            for path in ["/gradingPeriods", "/terms/t/gradingPeriods"] {
                let periods = get(client, path);
                assert_eq!(periods["gradingPeriods"], periods["academicSessions"]);
                assert_eq!(periods["gradingPeriods"][0]["sourcedId"], "g", "{path}");
            }
        });
        server.client().delete(&at).expect(204);
        now_and_after_restart(server, |client| {
            assert_eq!(get(client, "/terms/t/gradingPeriods")["gradingPeriods"], json!([]));
            assert_eq!(get(client, "/gradingPeriods")["totalCount"], 0);
        });
    });
}

#[test]
fn enrolling_in_a_class_allocates_the_enrollment() {
    both(|server| {
        let client = server.client();
        school(&client);
        user(&client, "ann", "student");
        user(&client, "tom", "teacher");
        let course = json!({"course": {"sourcedId": "c", "title": "C", "org": {"sourcedId": "s"}}});
        post(&client, "/courses", &course, 201);
        post(&client, "/academicSessions", &json!({"academicSession": session("t", "term")}), 201);
        let class = json!({"class": {"sourcedId": "k", "title": "K", "course": {"sourcedId": "c"},
            "org": {"sourcedId": "s"}, "terms": [{"sourcedId": "t"}]}});
        post(&client, "/classes", &class, 201);
        let enroll = |path: &str, enrollment: Value, status: u16| {
            post(&client, path, &json!({"enrollment": enrollment}), status)
        };
        let student = json!({"user": {"sourcedId": "ann"}, "beginDate": "2026-01-06", "metadata": {"seat": 4}});
        let pair = enroll("/classes/k/students", student, 201);
        let id = pair["sourcedIdPairs"]["allocatedSourcedId"].as_str().unwrap().to_owned();
        assert!(!id.is_empty());
        enroll("/classes/k/teachers", json!({"user": {"sourcedId": "tom"}, "primary": true}), 201);
        enroll("/classes/k/students", json!({"user": {"sourcedId": "nobody"}}), 422);
        enroll("/classes/none/students", json!({"user": {"sourcedId": "ann"}}), 404);
        now_and_after_restart(server, |client| {
            let created = get(client, &format!("/enrollments/{id}"));
            assert_eq!(created["enrollment"]["role"], "student");
            assert_eq!(created["enrollment"]["school"]["sourcedId"], "s");
            assert_eq!(created["enrollment"]["metadata"]["seat"], 4);
            assert_eq!(get(client, "/classes/k/students")["users"][0]["sourcedId"], "ann");
            assert_eq!(get(client, "/teachers/tom/classes")["classes"][0]["sourcedId"], "k");
            let of_tom = get(client, "/enrollments?filter=user.sourcedId='tom'");
            assert_eq!(of_tom["enrollments"][0]["primary"], "true");
        });
    });
}

#[test]
fn credentials_are_replaced_in_one_profile_and_need_the_right_to_write() {
    both(|server| {
        let client = server.client();
        school(&client);
        user(&client, "ann", "student");
        let path = "/users/ann/credentials";
        let named = |name: &str, password: &str| json!({"applicationName": "Reader", "credentials": {"username": name, "password": password}});
        let first = post(&client, path, &named("ann", "one"), 201);
        let second = post(&client, path, &named("ann2", "two"), 201);
        let again = post(&client, path, &named("ann", "three"), 201);
        assert_eq!(first["credentialId"], again["credentialId"]);
        assert_ne!(first["credentialId"], second["credentialId"]);
        assert_eq!(first["userProfileId"], second["userProfileId"]);
        let flat = json!({"credential": {"type": "Maths", "username": "ann", "password": "p\u{e4}ss \"x\""}});
        let other = post(&client, path, &flat, 201);
        assert_ne!(other["userProfileId"], first["userProfileId"]);
        for refused in [
            json!({}),
            json!({"credential": {"username": "x"}}),
            json!({"credential": {"username": "", "password": "x"}}),
            json!({"credential": {"username": "x", "password": 5}}),
            json!({"credential": {"username": "x", "password": "y".repeat(1025)}}),
            json!({"applicationName": "", "credentials": {"username": "x", "password": "y"}}),
        ] {
            let answer: Value = post(&client, path, &refused, 422);
            assert!(!answer["imsx_error_details"][0]["path"].as_str().unwrap().is_empty());
        }
        post(&client, "/users/none/credentials", &named("x", "y"), 404);
        let id = |created: &Value| created["credentialId"].as_str().unwrap().to_owned();
        let ids = [(id(&first), "three"), (id(&second), "two"), (id(&other), "p\u{e4}ss \"x\"")];
        let decrypting = server.token(&[Scope::PasswordsRead], PayloadDialect::Platform);
        now_and_after_restart(server, |client| {
            for (id, password) in &ids {
                let token = decrypting.clone();
                let decrypting = client.clone().with_token(token);
                let shown = post(&decrypting, &format!("{path}/{id}/decrypt"), &json!({}), 200);
                assert_eq!(shown, json!({ "password": password }));
            }
            let read = get(client, "/users/ann");
            let profiles = read["user"]["userProfiles"].as_array().unwrap();
            assert_eq!(profiles.len(), 2);
            assert_eq!(profiles[0]["profileId"], first["userProfileId"]);
            assert_eq!(profiles[0]["credentials"].as_array().unwrap().len(), 2);
            assert_eq!(profiles[1]["applicationId"], "Maths");
            assert!(!read.to_string().contains("three"));
        });
        let reader = server.client_with(&[Scope::RosterRead], PayloadDialect::Platform);
        let decrypt = format!("{ROSTERING}{path}/{}/decrypt", ids[0].0);
        reader.post(&decrypt).json(&json!({})).expect(403);
        let decrypt_path = format!("{ROSTERING}{path}/none/decrypt");
        let decrypting = server.anonymous().with_token(decrypting);
        decrypting.post(&decrypt_path).json(&json!({})).expect(404);
    });
}

#[test]
fn a_course_is_copied_to_another_server_as_a_syllabus() {
    let source = json!({
        "course": {"sourcedId": "c", "title": "C", "courseCode": "C"},
        "courseStructure": {"subComponents": [
            {"title": "Zoo", "unlockDate": "2026-02-01T00:00:00Z", "metadata": {"subComponents": [1]},
             "componentResources": [
                {"title": "Quiz", "lessonType": "quiz", "resource": {
                    "title": "Q", "vendorResourceId": "q", "metadata": {"type": "qti", "xp": 7}}}],
             "subComponents": [{"title": "Inner", "prerequisiteCriteria": "ALL"}]},
            {"title": "Ape"},
        ]},
    });
    let carried = std::sync::Mutex::new(Vec::new());
    both(|server| {
        let client = server.client();
        let created = post(&client, "/courses/structure", &source, 201);
        let read: Value = client.get("/adaptive/syllabus/c").expect(200).json();
        assert_eq!(created["courseStructure"], read["syllabus"]);
        carried.lock().unwrap().push(read["syllabus"].clone());
    });
    let carried = carried.into_inner().unwrap();
    both(|server| {
        let sent = &carried[0];
        let body = json!({"course": sent, "courseStructure": sent});
        post(&server.client(), "/courses/structure", &body, 201);
        now_and_after_restart(server, |client| {
            let read: Value = client.get("/powerpath/syllabus/c").expect(200).json();
            assert_eq!(bare(&read["syllabus"]), bare(sent), "all but address and time is the same");
            let ids = get(client, "/courses/components?fields=sourcedId&sort=title");
            assert_eq!(ids["courseComponents"].as_array().unwrap().len(), 3);
            post(client, "/courses/structure", &body, 200);
        });
    });
}

/// The value without what each server says for itself.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(object) => object
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "href" | "dateLastModified"))
            .map(|(name, value)| (name.clone(), bare(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(bare).collect(),
        _ => value.clone(),
    }
}

#[test]
fn a_structure_follows_the_servers_rule_for_ids_and_the_standards_dialect() {
    let body = json!({"course": {"title": "C", "courseCode": "C"}, "courseStructure": {"subComponents": []}});
    both(|server| {
        let refused = post(&server.client(), "/courses/structure", &body, 422);
        assert_eq!(refused["imsx_error_details"][0]["path"], "course.sourcedId");
        let mut named = body.clone();
        named["course"]["sourcedId"] = "c".into();
        let standard = server.client_with(&[], PayloadDialect::Standard);
        let created = post(&standard, "/courses/structure", &named, 201);
        let pair = json!({"suppliedSourcedId": "c", "allocatedSourcedId": "c"});
        assert_eq!(created["sourcedIdPairs"], pair);
        let reader = server.client_with(&[Scope::RosterRead], PayloadDialect::Platform);
        reader.post(&format!("{ROSTERING}/courses/structure")).json(&named).expect(403);
        reader.get("/adaptive/syllabus/c?status=tobedeleted").expect(200);
        reader.get("/adaptive/syllabus/c?status=none").expect(422);
        let broken = reader.get("/adaptive/syllabus/none").expect(404).json::<Value>();
        assert_eq!(broken["imsx_codeMajor"], "failure");
    });
    let mut setup = Setup::default();
    setup.config.roster.allocate_missing_ids = true;
    both_as(&setup, |server| {
        let client = server.client();
        let created = post(&client, "/courses/structure", &body, 201);
        let id = created["sourcedIdPairs"]["allocatedSourcedId"].as_str().unwrap();
        assert_eq!(get(&client, &format!("/courses/{id}"))["course"]["title"], "C");
    });
}

#[test]
fn a_cartridge_is_returned_for_a_get_and_for_a_post_without_a_body() {
    both(|server| {
        let client = server.client();
        let resource =
            json!({"resource": {"sourcedId": "r 1", "title": "R", "vendorResourceId": "v"}});
        client.post(&format!("{RESOURCES}/resources")).json(&resource).expect(201);
        let path = format!("{RESOURCES}/resources/export/r%201");
        let posted = client
            .post(&path)
            .header("content-type", "application/json")
            .header("accept", "application/zip")
            .expect(200);
        assert_eq!(posted.header("content-type"), "application/zip");
        assert!(posted.body.starts_with(b"PK"));
        server.restart();
        assert_eq!(server.client().get(&path).expect(200).body, posted.body);
        let roster = server.client_with(&[Scope::RosterRead], PayloadDialect::Platform);
        roster.get(&path).expect(403);
    });
}
