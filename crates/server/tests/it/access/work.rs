//! Callers who are limited to a district, on each route about the work of people: events, the bridge, adaptive lessons.

use std::collections::BTreeSet;

use lyceum_access::{NewClient, client};
use lyceum_core::Reach;
use lyceum_server::route::LimitedCallers;
use lyceum_server::routes;
use lyceum_testkit::client::{Call, TestClient};
use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testkit::server::{TestServer, both};
use serde_json::{Value, json};

use super::limited_client;
use crate::enrolling::{ROSTERING, get, post, user};
use crate::events::Stream;
use crate::lessons::{lesson, stored_question};

const AREAS: [&str; 6] = ["caliper", "events", "jobs", "live", "bridge", "adaptive"];

/// Routes that refuse limited callers, because they change content that all organizations share.
const REFUSED: [&str; 5] = [
    "createExternalPlacementTest",
    "createExternalTestOut",
    "createInternalTest",
    "deleteRenderConfig",
    "putRenderConfig",
];

/// Routes that limits do not affect, because they read nothing that belongs to an organization.
const UNAFFECTED: [&str; 2] = ["getEndpointConfiguration", "getRenderConfig"];

/// A route with a request about the district `{d}`, whose number is `{n}`.
struct Row {
    route: &'static str,
    request: &'static str,
    body: &'static str,
    /// The status for a caller of the other district; 0 for lists, which leave the district out.
    refusal: u16,
}

const fn row(route: &'static str, request: &'static str, body: &'static str, refusal: u16) -> Row {
    Row { route, request, body, refusal }
}

/// One row or more for each route. Those that end something come last.
const ROWS: &[Row] = &[
    row("sendEnvelope", "POST /ims/caliper/v1p2/events", "EVENT 3", 400),
    row("sendEvents", "POST /caliper/event", "EVENT 4", 400),
    row("validateEvents", "POST /caliper/event/validate", "EVENT 5", 400),
    row("listEvents", "GET /caliper/events", "", 0),
    row("listEvents", "GET /caliper/events?startDate=2026-03-01&endDate=2026-03-31&limit=1", "", 0),
    row("getEvent", "GET /caliper/events/urn:uuid:00000000-0000-4000-8000-00000000001{n}", "", 404),
    row("getJobStatus", "GET /jobs/{job}/status", "", 404),
    row("streamEvents", "GET /events/stream?follow=false", "", 0),
    row("enroll", "POST /bridge/enrollments/enroll/{d}-sis/math", "{}", 404),
    row("enrollAtSchool", "POST /bridge/enrollments/enroll/{d}-sis/math/s-{d}", "{}", 404),
    row("getDefaultClass", "GET /bridge/enrollments/defaultClass/math-{d}", "", 404),
    row("getDefaultClassAtSchool", "GET /bridge/enrollments/defaultClass/math/s-{d}", "", 404),
    row("getEnrollmentsOfUser", "GET /bridge/enrollments/user/{d}-kid", "", 404),
    row("getSubjectTracks", "GET /bridge/subject-track", "", 0),
    row("getSubjectTrackGroups", "GET /bridge/subject-track/groups", "", 0),
    row(
        "putSubjectTrack",
        "PUT /bridge/subject-track",
        r#"{"subject": "Art", "grade": 9, "courseId": "math", "orgSourcedId": "s-{d}"}"#,
        422,
    ),
    row("getUsersByRole", "GET /bridge/users?roles=student", "", 0),
    row("getMapProfile", "GET /bridge/learning-reports/map-profile/{d}-kid", "", 404),
    row("getTimeSaved", "GET /bridge/time-saved/user/{d}-kid", "", 404),
    row("getApplications", "GET /bridge/applications", "", 0),
    row("getApplicationMetrics", "GET /bridge/applicationMetrics/app-of-{d}", "", 404),
    row("getEnrollmentAnalytics", "GET /bridge/analytics/enrollment/e-{d}", "", 404),
    row(
        "getActivity",
        "GET /bridge/analytics/activity?studentId={d}-kid&startDate=2026-03-01&endDate=2026-03-31",
        "",
        404,
    ),
    row(
        "getActivity",
        "GET /bridge/analytics/activity?email={d}@example.org&startDate=2026-03-01&endDate=2026-03-31",
        "",
        404,
    ),
    row(
        "getWeeklyFacts",
        "GET /bridge/analytics/facts/weekly?studentId={d}-kid&weekDate=2026-03-11",
        "",
        404,
    ),
    row(
        "getHighestGradeMastered",
        "GET /bridge/analytics/highestGradeMastered/{d}-kid/Math",
        "",
        404,
    ),
    row("getSyllabus", "GET /adaptive/syllabus/math-{d}", "", 404),
    row("getNextQuestion", "GET /adaptive/getNextQuestion?student={d}-kid&lesson=steps", "", 404),
    row(
        "getAssessmentProgress",
        "GET /adaptive/getAssessmentProgress?student={d}-kid&lesson=quiz",
        "",
        404,
    ),
    row(
        "updateStudentQuestionResponse",
        "PUT /adaptive/updateStudentQuestionResponse",
        r#"{"student": "{d}-kid", "lesson": "quiz", "question": "q", "response": "A"}"#,
        404,
    ),
    row(
        "finalStudentAssessmentResponse",
        "POST /adaptive/finalStudentAssessmentResponse",
        r#"{"student": "{d}-kid", "lesson": "quiz"}"#,
        404,
    ),
    row(
        "createNewAttempt",
        "POST /adaptive/createNewAttempt",
        r#"{"student": "{d}-kid", "lesson": "quiz"}"#,
        404,
    ),
    row("getAttempts", "GET /adaptive/getAttempts?student={d}-kid&lesson=quiz", "", 404),
    row("getAttemptLog", "GET /adaptive/getAttemptLog?student={d}-kid&lesson=quiz", "", 404),
    row(
        "makeExternalTestAssignment",
        "POST /adaptive/makeExternalTestAssignment",
        r#"{"student": "{d}-kid", "lesson": "{out}"}"#,
        404,
    ),
    row(
        "importExternalTestAssignmentResults",
        "GET /adaptive/importExternalTestAssignmentResults?student={d}-kid&lesson={out}",
        "",
        404,
    ),
    row("getTestOut", "GET /adaptive/testOut?student={d}-kid&course=math", "", 404),
    row(
        "getTestOutEligibility",
        "GET /adaptive/test-out/getTestOutEligibility/{d}-kid/Math",
        "",
        404,
    ),
    row(
        "makeExternalStudentTestOutAssignment",
        "POST /adaptive/test-out/makeExternalStudentTestOutAssignment",
        r#"{"oneRosterSourcedId": "{d}-kid", "subject": "Math"}"#,
        404,
    ),
    row(
        "getNextPlacementTest",
        "GET /adaptive/placement/getNextPlacementTest?student={d}-kid&subject=Math",
        "",
        404,
    ),
    row(
        "getCurrentLevel",
        "GET /adaptive/placement/getCurrentLevel?student={d}-kid&subject=Math",
        "",
        404,
    ),
    row(
        "getAllPlacementTests",
        "GET /adaptive/placement/getAllPlacementTests?student={d}-kid&subject=Math",
        "",
        404,
    ),
    row(
        "getSubjectProgress",
        "GET /adaptive/placement/getSubjectProgress?student={d}-kid&subject=Math",
        "",
        404,
    ),
    row("getPlacement", "GET /adaptive/placement/{d}-kid", "", 404),
    row(
        "createLessonPlan",
        "POST /adaptive/lessonPlans",
        r#"{"courseId": "math", "userId": "{d}-sis"}"#,
        404,
    ),
    row("getLessonPlan", "GET /adaptive/lessonPlans/math/{d}-kid", "", 404),
    row("getLessonPlanTree", "GET /adaptive/lessonPlans/tree/{plan}", "", 404),
    row("getLessonPlanStructure", "GET /adaptive/lessonPlans/tree/{plan}/structure", "", 404),
    row("getLessonPlanOperations", "GET /adaptive/lessonPlans/{plan}/operations", "", 404),
    row(
        "createLessonPlanOperation",
        "POST /adaptive/lessonPlans/{plan}/operations",
        r#"{"operation": {"type": "set-skipped", "payload": {"target": {"type": "component", "id": "unit"}, "value": true}}}"#,
        404,
    ),
    row("syncLessonPlan", "POST /adaptive/lessonPlans/{plan}/operations/sync", "", 404),
    row("recreateLessonPlan", "POST /adaptive/lessonPlans/{plan}/recreate", "", 404),
    row("syncCourseLessonPlans", "POST /adaptive/lessonPlans/course/math-{d}/sync", "", 404),
    row(
        "getCourseProgress",
        "GET /adaptive/lessonPlans/getCourseProgress/math/student/{d}-kid",
        "",
        404,
    ),
    row(
        "updateStudentItemResponse",
        "POST /adaptive/lessonPlans/updateStudentItemResponse",
        r#"{"studentId": "{d}-kid", "componentResourceId": "steps", "result": {"status": "active",
            "score": 70, "scoreDate": "2026-02-01", "scoreStatus": "fully graded"}}"#,
        404,
    ),
    row("getTestAssignments", "GET /adaptive/test-assignments?student={d}-kid", "", 404),
    row("getAllTestAssignments", "GET /adaptive/test-assignments/admin", "", 0),
    row(
        "createTestAssignment",
        "POST /adaptive/test-assignments",
        r#"{"student": "{d}-kid", "subject": "Math", "grade": 3}"#,
        404,
    ),
    row("getTestAssignment", "GET /adaptive/test-assignments/{assignment}", "", 404),
    row(
        "putTestAssignment",
        "PUT /adaptive/test-assignments/{assignment}",
        r#"{"testName": "Renamed"}"#,
        404,
    ),
    row("getScreeningResults", "GET /adaptive/screening/results/{d}-kid", "", 404),
    row("getScreeningSession", "GET /adaptive/screening/session/{d}-kid", "", 404),
    row(
        "assignScreeningTest",
        "POST /adaptive/screening/tests/assign",
        r#"{"userId": "{d}-kid", "subject": "Reading"}"#,
        404,
    ),
    row(
        "resetScreeningSession",
        "POST /adaptive/screening/session/reset",
        r#"{"userId": "{d}-kid"}"#,
        404,
    ),
    row(
        "resetUserPlacement",
        "POST /adaptive/placement/resetUserPlacement",
        r#"{"student": "{d}-kid", "subject": "Math"}"#,
        404,
    ),
    row("resetAttempt", "POST /adaptive/resetAttempt", r#"{"student": "{d}-kid", "lesson": "quiz"}"#, 404),
    row("deleteTestAssignment", "DELETE /adaptive/test-assignments/{assignment}", "", 404),
    row("deleteLessonPlans", "DELETE /adaptive/lessonPlans/math-{d}/deleteAll", "", 404),
    row("resetGoals", "POST /bridge/enrollments/resetGoals/math-{d}", "{}", 404),
    row("resetProgress", "DELETE /bridge/enrollments/resetProgress/{d}-kid/math", "", 404),
    row("deleteSubjectTrack", "DELETE /bridge/subject-track/{track}", "", 404),
    row("unenrollAtSchool", "DELETE /bridge/enrollments/unenroll/{d}-sis/math/s-{d}", "", 404),
    row("unenroll", "DELETE /bridge/enrollments/unenroll/{d}-kid/math", "", 404),
];

/// Routes whose request names many students, and which answer one by one.
const BULK: [(&str, &str, &str); 2] = [
    (
        "createTestAssignments",
        "POST /adaptive/test-assignments/bulk",
        r#"{"items": [{"student": "a-kid", "subject": "Math", "grade": 3},
                      {"student": "b-kid", "subject": "Math", "grade": 3}]}"#,
    ),
    (
        "importTestAssignments",
        "POST /adaptive/test-assignments/import",
        r#"{"csv": "student,subject,grade\na-kid,Math,3\nb-kid,Math,3\n"}"#,
    ),
];

/// Lists whose items belong to a record: the items, the id of the record, and its kind.
const LISTS: [(&str, &str, &str, &str); 4] = [
    ("/caliper/events", "/events", "/actor/id", "user"),
    ("/bridge/users?roles=student", "/users", "/sourcedId", "user"),
    ("/bridge/subject-track", "/subjectTrack", "/org/sourcedId", "org"),
    ("/adaptive/test-assignments/admin", "/testAssignments", "/studentSourcedId", "user"),
];

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
        let district = json!({"org": {"sourcedId": format!("d-{d}"), "name": d, "type": "district"}});
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
        answer.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let enroll = json!({"sourcedId": format!("e-{name}")});
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

/// Everything that an unlimited client reads about a district, and the records that writes could touch.
fn state(client: &TestClient, district: &District) -> Vec<String> {
    let reads = ROWS.iter().filter(|row| row.request.starts_with("GET ") && row.refusal > 0);
    let reads = reads.map(|row| district.send(client, row).send().text());
    let gradebook = "/ims/oneroster/gradebook/v1p2/assessmentResults";
    let lists = ["enrollments", "classes", "academicSessions"]
        .map(|list| format!("{ROSTERING}/{list}?limit=1000"));
    let lists = lists.into_iter().chain([gradebook.to_owned(), "/caliper/events".to_owned()]);
    reads.chain(lists.map(|path| client.get(&path).expect(200).text())).collect()
}

#[test]
fn each_route_about_work_has_a_row() {
    let named = |is: LimitedCallers| -> BTreeSet<String> {
        let areas = routes::all().into_iter().filter(|area| AREAS.contains(&area.name));
        let routes = areas.flat_map(|area| area.routes);
        routes.filter(|route| route.limited_callers == is).map(|it| it.name.into_owned()).collect()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
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
            let reply = own.send(&limited, &row(route, request, body, 0)).expect(200).json::<Value>();
            assert_eq!(reply["results"].as_array().map(Vec::len), Some(1), "{route}: {reply}");
            assert_eq!(reply["errors"][0]["row"], 2, "{route}: {reply}");
        }
        assert_eq!(state(&all, &other), before);
        compare_lists(server, &all, &limited);
        for row in ROWS {
            let reply = own.send(&limited, row).header("last-event-id", "0").send();
            assert!(reply.status < 300, "{}: {} {}", row.route, reply.status, reply.text());
        }
        assert_eq!(get(&all, "/bridge/enrollments/user/a-kid"), json!({"data": []}));
        let others = state(&all, &other);
        let differ = others.iter().zip(&before).filter(|(now, then)| now != then).count();
        // Only the lists of all records hold the own district's changes, too.
        assert!(differ <= 5, "{differ} answers about the other district changed");
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
        let due: Vec<Value> = whole.iter().filter(|item| is_seen(item)).cloned().collect();
        assert!(!due.is_empty() && due.len() < whole.len(), "{path} has items of both districts");
        assert_eq!(list(limited), due, "{path}");
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
        let is_write = |row: &&Row| !row.request.starts_with("GET ") && !row.body.starts_with("EVENT");
        for row in ROWS.iter().filter(is_write) {
            let reply = own.send(&limited, row).send();
            let is_refused = matches!(reply.status, 403 | 404);
            assert!(is_refused, "{}: {} {}", row.route, reply.status, reply.text());
        }
        assert_eq!(state(&all, &own), before);
    });
}
