//! Callers who are limited to a district, on each route about the work of people: events, the bridge, adaptive lessons.

use std::collections::BTreeSet;

use lyceum_access::{NewClient, client};
use lyceum_core::Reach;
use lyceum_http::route::LimitedCallers;
use lyceum_server::routes;
use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testserver::client::{Call, TestClient};
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use super::limited_client;
use super::work_routes::{AREAS, BULK, LISTS, REFUSED, ROWS, Row, UNAFFECTED, row};
use crate::enrolling::{ROSTERING, get, post, user};
use crate::events::Stream;
use crate::lessons::{lesson, stored_question};

fn envelope(district: &str, suffix: &str) -> Value {
    json!({
        "sensor": "https://app.example.org/s", "sendTime": "2026-03-12T12:00:00.000Z",
        "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2",
        "data": [{
            "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "id": format!("urn:uuid:00000000-0000-4000-8000-0000000000{suffix}"),
            "type": "ActivityEvent", "action": "Completed", "profile": "TimebackProfile",
            "eventTime": "2026-03-11T03:00:00.000Z",
            "actor": {"id": format!("https://lyceum.example.org/users/{district}-kid"), "type": "TimebackUser"},
            "object": {
                "id": "https://app.example.org/a/1", "type": "TimebackActivityContext",
                "subject": "Math", "course": {"id": "https://lyceum.example.org/courses/math"},
                "app": {"name": format!("app-of-{district}")},
            },
            "generated": {
                "id": "https://app.example.org/m/1", "type": "TimebackActivityMetricsCollection",
                "items": [{"type": "xpEarned", "value": 7.5}],
            },
        }],
    })
}

/// A district with the ids that the server chose.
struct District {
    name: &'static str,
    ids: Vec<(&'static str, String)>,
}

impl District {
    fn fill(&self, text: &str) -> String {
        let number = if self.name == "a" { "1" } else { "2" };
        let filled = text.replace("{d}", self.name).replace("{n}", number);
        self.ids.iter().fold(filled, |text, (name, id)| text.replace(&format!("{{{name}}}"), id))
    }

    fn send<'c>(&self, client: &'c TestClient, row: &Row) -> Call<'c> {
        let request = self.fill(row.request);
        let (method, path) = request.split_once(' ').unwrap();
        let call = client.call(method.parse().unwrap(), path);
        match (row.body, row.body.strip_prefix("EVENT ")) {
            ("", _) => call,
            (_, Some(n)) => call.json(&envelope(self.name, &self.fill(&format!("{n}{{n}}")))),
            (body, _) => call.body("application/json", self.fill(body)),
        }
    }
}

/// Two districts with a school, two students, a course, work in the shared course and events each.
fn districts(server: &TestServer) -> [District; 2] {
    let client = &server.client();
    for d in ["a", "b"] {
        let district =
            json!({"org": {"sourcedId": format!("d-{d}"), "name": d, "type": "district"}});
        post(client, &format!("{ROSTERING}/orgs"), &district, 201);
        let school = json!({"org": {"sourcedId": format!("s-{d}"), "name": d, "type": "school",
            "parent": {"sourcedId": format!("d-{d}")}}});
        post(client, &format!("{ROSTERING}/orgs"), &school, 201);
        for student in ["kid", "sis"] {
            user(client, &format!("{d}-{student}"), "student", &["03"], &format!("s-{d}"));
        }
        let email = json!({"user": {"email": format!("{d}@example.org")}});
        client.patch(&format!("{ROSTERING}/users/{d}-kid")).json(&email).expect(200);
        let course = json!({"course": {"sourcedId": format!("math-{d}"), "title": d,
            "courseCode": d, "org": {"sourcedId": format!("s-{d}")}}});
        post(client, &format!("{ROSTERING}/courses"), &course, 201);
    }
    let course = json!({"course": {"sourcedId": "math", "title": "Maths", "courseCode": "M",
        "grades": ["03"], "subjects": ["Math"]}});
    post(client, &format!("{ROSTERING}/courses"), &course, 201);
    let unit = json!({"courseComponent": {
        "sourcedId": "unit", "title": "Unit", "course": {"sourcedId": "math"}, "sortOrder": 1}});
    post(client, &format!("{ROSTERING}/courses/components"), &unit, 201);
    stored_question(client, "q");
    for (id, lesson_type) in [("quiz", "quiz"), ("steps", "powerpath-100")] {
        lesson(client, id, lesson_type, &["q"], 5.0);
    }
    let placement = json!({"courseId": "math", "lessonType": "placement", "testType": "qti",
        "grades": [3], "lessonTitle": "Grade 3",
        "qti": {"url": "https://content.example.org/assessment-tests/t-quiz"}});
    post(client, "/adaptive/createInternalTest", &placement, 201);
    let test_out = json!({"courseId": "math", "toolProvider": "mastery-track", "grades": [3],
        "xp": 40, "launchUrl": "https://tool.example/run", "vendorId": "v", "lessonTitle": "Out"});
    let out = post(client, "/adaptive/createExternalTestOut", &test_out, 201)["lessonId"].clone();
    ["a", "b"].map(|name| work(client, name, out.as_str().unwrap()))
}

/// The work of a student in the district.
fn work(client: &TestClient, name: &'static str, out: &str) -> District {
    let kid = format!("{name}-kid");
    let id = |answer: &Value, pointer: &str| {
        answer
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    };
    let goals = json!({"goals": {"dailyXp": 5}});
    let enroll = json!({"sourcedId": format!("e-{name}"), "metadata": goals});
    post(client, &format!("/bridge/enrollments/enroll/{kid}/math"), &enroll, 201);
    let suffix = if name == "a" { "11" } else { "12" };
    let sent = post(client, "/caliper/event", &envelope(name, suffix), 200);
    let plan = json!({"courseId": "math", "userId": kid});
    let plan = post(client, "/adaptive/lessonPlans", &plan, 201);
    let test = json!({"student": kid, "subject": "Math", "grade": 3});
    let assignment = post(client, "/adaptive/test-assignments", &test, 201);
    let at = json!({"student": kid, "lesson": out});
    post(client, "/adaptive/makeExternalTestAssignment", &at, 200);
    let screening = json!({"userId": kid, "subject": "Math"});
    post(client, "/adaptive/screening/tests/assign", &screening, 200);
    let track = json!({"subject": "Math", "grade": 9, "courseId": "math",
        "orgSourcedId": format!("s-{name}")});
    let track = client.put("/bridge/subject-track").json(&track).expect(201).json();
    for lesson in ["quiz", "steps"] {
        get(client, &format!("/adaptive/getAssessmentProgress?student={kid}&lesson={lesson}"));
    }
    District {
        name,
        ids: vec![
            ("job", id(&sent, "/jobId")),
            ("plan", id(&plan, "/lessonPlanId")),
            ("assignment", id(&assignment, "/assignmentId")),
            ("track", id(&track, "/subjectTrack/id")),
            ("out", out.to_owned()),
        ],
    }
}

/// The answers to an unlimited client about a district.
fn about(client: &TestClient, district: &District) -> Vec<String> {
    let reads = ROWS.iter().filter(|row| row.request.starts_with("GET ") && row.refusal > 0);
    reads.map(|row| district.send(client, row).send().text()).collect()
}

/// The answers to an unlimited client about a district, and all records that writes could touch.
fn state(client: &TestClient, district: &District) -> Vec<String> {
    let gradebook = "/ims/oneroster/gradebook/v1p2/assessmentResults";
    let lists = ["enrollments", "classes", "academicSessions"]
        .map(|list| format!("{ROSTERING}/{list}?limit=1000"));
    let lists = lists.into_iter().chain([gradebook.to_owned(), "/caliper/events".to_owned()]);
    let mut state = about(client, district);
    state.extend(lists.map(|path| client.get(&path).expect(200).text()));
    state
}

#[test]
fn each_route_about_work_has_a_row() {
    let named = |is: LimitedCallers| -> BTreeSet<String> {
        let areas = routes::all().into_iter().filter(|area| AREAS.contains(&area.name));
        let routes = areas.flat_map(|area| area.routes);
        routes.filter(|route| route.limited_callers == is).map(|it| it.name.into_owned()).collect()
    };
    let set = |names: &[&str]| -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    };
    let mut rows: Vec<&str> = ROWS.iter().map(|row| row.route).collect();
    rows.extend(BULK.map(|(route, ..)| route));
    assert_eq!(named(LimitedCallers::Served), set(&rows));
    assert_eq!(named(LimitedCallers::Refused), set(&REFUSED));
    assert_eq!(named(LimitedCallers::Unaffected), set(&UNAFFECTED));
}

#[test]
fn a_limited_client_works_in_its_district_and_neither_reads_nor_changes_the_other() {
    both(|server| {
        let [own, other] = districts(server);
        let (all, limited) = (server.client(), limited_client(server, &["d-a"]));
        state(&all, &other);
        let before = state(&all, &other);
        for row in ROWS {
            let reply = other.send(&limited, row).header("last-event-id", "0").send();
            let (route, text) = (row.route, reply.text());
            match row.refusal {
                0 => {
                    assert_eq!(reply.status, 200, "{route}: {text}");
                    for mark in ["b-kid", "b-sis", "s-b", "app-of-b", "math-b"] {
                        assert!(!text.contains(mark), "{route} reveals {mark}: {text}");
                    }
                }
                status => assert_eq!(reply.status, status, "{route}: {text}"),
            }
        }
        assert_eq!(state(&all, &other), before);
        for (route, request, body) in BULK {
            let reply =
                own.send(&limited, &row(route, request, body, 0)).expect(200).json::<Value>();
            assert_eq!(reply["results"].as_array().map(Vec::len), Some(1), "{route}: {reply}");
            assert_eq!(reply["errors"][0]["row"], 2, "{route}: {reply}");
        }
        assert_eq!(state(&all, &other), before);
        compare_lists(server, &all, &limited);
        // In the course that both districts share, what is for all students is for those of the caller.
        let reset = post(&limited, "/bridge/enrollments/resetGoals/math", &json!({}), 200);
        assert_eq!(reset["data"]["updated"], 1, "{reset}");
        let synced = limited.post("/adaptive/lessonPlans/course/math/sync").expect(200);
        assert_eq!(synced.json::<Value>()["lessonPlansAffected"], json!([]));
        assert!(before.starts_with(&about(&all, &other)));
        for row in ROWS {
            let reply = own.send(&limited, row).header("last-event-id", "0").send();
            assert!(reply.status < 300, "{}: {} {}", row.route, reply.status, reply.text());
        }
        assert_eq!(get(&all, "/bridge/enrollments/user/a-kid"), json!({"data": []}));
        limited.delete("/adaptive/lessonPlans/math/deleteAll").expect(204);
        for (district, status) in [(&own, 404), (&other, 200)] {
            let plan = row("", "GET /adaptive/lessonPlans/tree/{plan}", "", 0);
            district.send(&all, &plan).expect(status);
        }
    });
}

/// Lists hold what a naive filter leaves of those of an unlimited client.
fn compare_lists(server: &TestServer, all: &TestClient, limited: &TestClient) {
    let (roster, reach) = (WholeRoster::read(server.db()), Reach::organizations(["d-a"]).unwrap());
    for (path, items, id, kind) in LISTS {
        let list = |client: &TestClient| -> Vec<Value> {
            get(client, path).pointer(items).and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let is_seen = |item: &Value| {
            let id = item.pointer(id).and_then(Value::as_str).unwrap_or_default();
            let id = id.rsplit('/').next().unwrap_or_default();
            roster.record(kind, id).is_some_and(|record| roster.sees(&reach, kind, record))
        };
        let whole = list(all);
        let expected: Vec<Value> = whole.iter().filter(|item| is_seen(item)).cloned().collect();
        assert!(
            !expected.is_empty() && expected.len() < whole.len(),
            "{path} has items of both districts"
        );
        assert_eq!(list(limited), expected, "{path}");
    }
    let page = get(limited, "/caliper/events?limit=1");
    assert_eq!(page["pagination"]["total"], 1, "{page}");
}

#[test]
fn a_stream_delivers_events_of_own_people_and_ends_when_the_limit_changes() {
    both(|server| {
        districts(server);
        let (id, secret) = server.register(&NewClient::named("limited"));
        let limit = |root: &str| {
            let reach = Reach::organizations([root]).unwrap();
            server.db().write_blocking(|tx| client::limit(tx, &id, &reach)).unwrap();
        };
        limit("d-a");
        let token = server.token_of(&id, &secret);
        let mut stream = Stream::open(&server.address(), &token, "Connection: close\r\n");
        let all = server.client();
        for (district, suffix) in [("b", "52"), ("a", "51"), ("b", "62"), ("a", "61")] {
            post(&all, "/caliper/event", &envelope(district, suffix), 200);
        }
        for suffix in ["51", "61"] {
            let (_, event) = stream.next();
            assert!(event.ends_with(suffix), "{event}");
        }
        limit("d-b");
        while !stream.line().is_empty() {}
    });
}

#[test]
fn a_client_of_a_teachers_classes_changes_nothing() {
    both(|server| {
        let [own, _] = districts(server);
        let all = server.client();
        user(&all, "tea", "teacher", &[], "s-a");
        let teacher = json!({"role": "teacher"});
        post(&all, "/bridge/enrollments/enroll/tea/math", &teacher, 201);
        let (id, secret) = server.register(&NewClient::named("teacher"));
        let reach = Reach::ClassesOf("tea".to_owned());
        server.db().write_blocking(|tx| client::limit(tx, &id, &reach)).unwrap();
        let limited = server.anonymous().with_token(server.token_of(&id, &secret));
        get(&limited, "/bridge/enrollments/user/a-kid");
        get(&limited, "/adaptive/getAttempts?student=a-kid&lesson=quiz");
        assert_eq!(get(&limited, "/caliper/events")["pagination"]["total"], 1);
        state(&all, &own);
        let before = state(&all, &own);
        // What a teacher does for the own students is tested with its route.
        let is_write = |row: &&Row| {
            !row.request.starts_with("GET ")
                && !row.body.starts_with("EVENT")
                && row.route != "teach"
        };
        for row in ROWS.iter().filter(is_write) {
            let reply = own.send(&limited, row).send();
            let is_refused = matches!(reply.status, 403 | 404);
            assert!(is_refused, "{}: {} {}", row.route, reply.status, reply.text());
        }
        assert_eq!(state(&all, &own), before);
    });
}
