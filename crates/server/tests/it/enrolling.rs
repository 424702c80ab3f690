//! The bridge's enrollments over HTTP. Another operation reads every effect.

use std::sync::Arc;
use std::thread;

use lyceum_core::time::ManualClock;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer, always_both, both, both_as};
use serde_json::{Value, json};

pub(crate) const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
pub(crate) const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";

pub(crate) fn post(client: &TestClient, path: &str, body: &Value, status: u16) -> Value {
    client.post(path).json(body).expect(status).json()
}

pub(crate) fn get(client: &TestClient, path: &str) -> Value {
    client.get(path).expect(200).json()
}

/// Two schools with a course each, and a course with goals and metrics.
pub(crate) fn schools(client: &TestClient) {
    for id in ["s", "t"] {
        let org =
            json!({"org": {"sourcedId": id, "name": format!("School {id}"), "type": "school"}});
        post(client, &format!("{ROSTERING}/orgs"), &org, 201);
    }
    let courses = [
        json!({"sourcedId": "math", "title": "Maths 3", "courseCode": "M3", "org": {"sourcedId": "s"},
            "grades": ["03"], "subjects": ["Math"], "metadata": {
                "goals": {"dailyXp": 20, "dailyLessons": 2}, "metrics": {"totalXp": 900.4},
                "primaryApp": {"id": "rivers", "name": "Rivers", "domains": ["rivers.example"]}}}),
        json!({"sourcedId": "art", "title": "Art", "org": {"sourcedId": "t"}}),
        json!({"sourcedId": "lost", "title": "Of nobody"}),
    ];
    for course in courses {
        post(client, &format!("{ROSTERING}/courses"), &json!({ "course": course }), 201);
    }
}

pub(crate) fn user(client: &TestClient, id: &str, role: &str, grades: &[&str], org: &str) {
    let user = json!({"user": {
        "sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "X", "grades": grades,
        "roles": [{"roleType": "primary", "role": role, "org": {"sourcedId": org}}],
    }});
    post(client, &format!("{ROSTERING}/users"), &user, 201);
}

pub(crate) fn enrollments(client: &TestClient, user: &str) -> Vec<Value> {
    let read = get(client, &format!("/bridge/enrollments/user/{user}"));
    read["data"].as_array().unwrap().clone()
}

pub(crate) fn courses(client: &TestClient, user: &str) -> Vec<String> {
    let courses = enrollments(client, user).into_iter();
    courses.map(|enrollment| enrollment["course"]["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn concurrent_requests_enroll_a_user_once() {
    always_both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &[], "s");
        let clients: Vec<TestClient> = (0..8).map(|_| server.client()).collect();
        let enroll = |client: &TestClient| {
            let reply = client.post("/bridge/enrollments/enroll/ann/math").json(&json!({})).send();
            assert!(reply.status < 300, "{}", reply.text());
            (reply.status, reply.json::<Value>()["data"]["id"].clone())
        };
        let created: Vec<(u16, Value)> = thread::scope(|scope| {
            let calls: Vec<_> =
                clients.iter().map(|client| scope.spawn(|| enroll(client))).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert!(created.iter().all(|(_, id)| *id == created[0].1), "{created:?}");
        assert_eq!(created.iter().filter(|(status, _)| *status == 201).count(), 1, "{created:?}");
        assert_eq!(courses(&client, "ann"), ["math"]);
    });
}

#[test]
fn enrollments_are_listed_with_course_school_and_periods() {
    both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &["03"], "s");
        let wish = json!({"beginDate": "2026-01-15", "metadata": {
            "goals": {"dailyXp": 5, "dailyAccuracy": null}, "note": "kept"}});
        let created = post(&client, "/bridge/enrollments/enroll/ann/math", &wish, 201);
        let created = &created["data"];
        assert_eq!(created["role"], "student");
        assert_eq!(created["beginDate"], "2026-01-15");
        assert_eq!(created["metadata"]["goals"], json!({"dailyXp": 5, "dailyLessons": 2}));
        assert_eq!(created["metadata"]["metrics"], json!({"totalXp": 900}));
        assert_eq!(created["metadata"]["note"], "kept");
        assert_eq!(created["course"]["title"], "Maths 3");
        assert_eq!(created["course"]["grades"], json!(["03"]));
        assert_eq!(created["course"]["primaryApp"]["domains"], json!(["rivers.example"]));
        assert_eq!(created["school"], json!({"id": "s", "name": "School s"}));
        assert_eq!(created["testOutSupported"], false);
        let period = &created["periods"][0];
        assert!(period["startDate"].as_str().unwrap().ends_with("-08-01"), "{period}");

        // A repeated request returns the first enrollment, whatever it contains, and so does the alias with a trailing
        // slash.
        for path in
            ["/bridge/enrollments/enroll/ann/math/s", "/edubridge/enrollments/enroll/ann/math/"]
        {
            assert_eq!(
                &post(&client, path, &json!({"beginDate": "2026-02-01"}), 200)["data"],
                created
            );
        }
        server.restart();
        let client = server.client();
        assert_eq!(&enrollments(&client, "ann")[0], created);

        // In OneRoster, the record is an ordinary enrollment in the default class.
        let class = get(&client, "/bridge/enrollments/defaultClass/math")["data"].clone();
        let id = created["id"].as_str().unwrap();
        let record = get(&client, &format!("{ROSTERING}/enrollments/{id}"))["enrollment"].clone();
        assert_eq!(record["class"]["sourcedId"], class["id"]);
        assert_eq!(record["course"]["sourcedId"], "math");
        assert_eq!(class["periods"], json!([period["id"]]));
        assert_eq!(class["classCode"], "M3");
        assert_eq!(class["course"]["metadata"]["goals"]["dailyXp"], 20);
        let term = get(&client, &format!("{ROSTERING}/terms/{}", period["id"].as_str().unwrap()));
        assert_eq!(term["term"]["type"], "term");
    });
}

#[test]
fn school_role_and_id_can_be_chosen() {
    both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &[], "s");
        user(&client, "tom", "teacher", &[], "t");
        // Without a school, the user's school is used, otherwise the course's.
        let path = "/bridge/enrollments/enroll/tom/math";
        let created = post(&client, path, &json!({"role": "teacher", "sourcedId": "tom-1"}), 201);
        assert_eq!(created["data"]["id"], "tom-1");
        assert_eq!(created["data"]["role"], "teacher");
        assert_eq!(created["data"]["school"]["id"], "t");
        let created =
            client.post("/bridge/enrollments/enroll/ann/art/t").expect(201).json::<Value>();
        assert_eq!(created["data"]["school"]["id"], "t");
        let created =
            client.post("/bridge/enrollments/enroll/ann/art/s").expect(201).json::<Value>();
        assert_eq!(created["data"]["school"]["id"], "s");
        assert_eq!(enrollments(&client, "ann").len(), 2);
        // The id is taken.
        let taken = json!({"sourcedId": "tom-1"});
        post(&client, "/bridge/enrollments/enroll/ann/math", &taken, 409);

        // Unenrolling at one school keeps the enrollment at the other.
        client.delete("/bridge/enrollments/unenroll/ann/art/t").expect(204);
        assert_eq!(enrollments(&client, "ann")[0]["school"]["id"], "s");
        client.delete("/bridge/enrollments/unenroll/ann/art").expect(204);
        assert_eq!(enrollments(&client, "ann"), Vec::<Value>::new());
        client.delete("/bridge/enrollments/unenroll/ann/art").expect(404);
        let marked = get(&client, &format!("{ROSTERING}/enrollments?filter=status='tobedeleted'"));
        assert_eq!(marked["totalCount"], 2);
        // An ended enrollment starts again with the same id.
        client.delete("/bridge/enrollments/unenroll/tom/math").expect(204);
        let again = post(&client, path, &json!({"role": "teacher", "sourcedId": "tom-1"}), 201);
        assert_eq!(again["data"]["id"], "tom-1");
        assert_eq!(courses(&client, "tom"), ["math"]);
    });
}

#[test]
fn invalid_enrollments_are_refused() {
    both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &[], "s");
        for path in ["enroll/nobody/math", "enroll/ann/none", "enroll/ann/math/none"] {
            client.post(&format!("/bridge/enrollments/{path}")).expect(404);
        }
        client.get("/bridge/enrollments/user/nobody").expect(404);
        client.get("/bridge/enrollments/defaultClass/none").expect(404);
        client.get("/bridge/enrollments/defaultClass/math/none").expect(404);
        client.get("/bridge/enrollments/defaultClass/lost").expect(422);
        client.delete("/bridge/enrollments/resetProgress/ann/none").expect(404);
        client.post("/bridge/enrollments/resetGoals/none").expect(404);
        let path = "/bridge/enrollments/enroll/ann/math";
        for (body, place) in [
            (json!({"role": "king"}), "role"),
            (json!({"role": 3}), "role"),
            (json!({"beginDate": "soon"}), "beginDate"),
            (json!({"sourcedId": ""}), "sourcedId"),
            (json!({"metadata": []}), "metadata"),
            (json!({"metadata": {"goals": 3}}), "metadata.goals"),
            (json!({"metadata": {"goals": {"dailyXp": "20"}}}), "metadata.goals.dailyXp"),
            (json!({"metadata": {"goals": {"dailyXp": -1}}}), "metadata.goals.dailyXp"),
            (
                json!({"metadata": {"metrics": {"isSupplemental": 1}}}),
                "metadata.metrics.isSupplemental",
            ),
        ] {
            let refused = post(&client, path, &body, 422);
            assert_eq!(refused["imsx_error_details"][0]["path"], place, "{body}: {refused}");
        }
        client.post(path).body("application/json", "[]").expect(400);
        client.post(path).body("application/json", "{").expect(400);
        client.post(path).body("text/plain", "{}").expect(415);
        client.delete(&format!("{ROSTERING}/courses/math")).expect(204);
        client.post(path).expect(404);
        assert_eq!(enrollments(&client, "ann"), Vec::<Value>::new());
    });
}

#[test]
fn goals_are_reset_to_those_of_the_course() {
    both(|server| {
        let client = server.client();
        schools(&client);
        for id in ["ann", "bob", "cat"] {
            user(&client, id, "student", &[], "s");
        }
        let own = json!({"metadata": {"goals": {"dailyXp": 5}, "metrics": {"totalXp": 10}}});
        post(&client, "/bridge/enrollments/enroll/ann/math", &own, 201);
        post(&client, "/bridge/enrollments/enroll/bob/math/t", &own, 201);
        client.post("/bridge/enrollments/enroll/cat/math").expect(201);
        post(&client, "/bridge/enrollments/enroll/ann/art", &own, 201);
        let reset = post(&client, "/bridge/enrollments/resetGoals/math", &json!({}), 200);
        assert_eq!(reset["data"], json!({"updated": 2, "errors": []}));
        let ann = enrollments(&client, "ann");
        assert_eq!(ann[0]["metadata"]["goals"], json!({"dailyXp": 20, "dailyLessons": 2}));
        assert_eq!(ann[0]["metadata"]["metrics"]["totalXp"], 10, "metrics stay");
        assert_eq!(ann[1]["metadata"]["goals"]["dailyXp"], 5, "another course's goals stay");
        let again = client.post("/bridge/enrollments/resetGoals/math").expect(200).json::<Value>();
        assert_eq!(again["data"]["updated"], 0);
    });
}

#[test]
fn ended_enrollments_can_restart_and_active_ones_can_end() {
    both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &[], "s");
        let path = "/bridge/enrollments/enroll/ann/math";
        let own = json!({"metadata": {"goals": {"dailyXp": 5}}});
        let first = post(&client, path, &own, 201)["data"]["id"].as_str().unwrap().to_owned();
        let over = json!({"enrollment": {"beginDate": "2025-09-01", "endDate": "2025-12-31"}});
        client.patch(&format!("{ROSTERING}/enrollments/{first}")).json(&over).expect(200);
        assert_eq!(enrollments(&client, "ann"), Vec::<Value>::new());
        let again = post(&client, path, &own, 201)["data"].clone();
        assert_eq!((&again["id"], &again["endDate"]), (&json!(first), &Value::Null));
        assert_eq!(enrollments(&client, "ann").len(), 1);
        // Deleting the class does not end enrollments. Deleting the course hides them, but unenrolling still works.
        let class = get(&client, "/bridge/enrollments/defaultClass/math")["data"]["id"].clone();
        let class = class.as_str().unwrap();
        client.delete(&format!("{ROSTERING}/classes/{class}")).expect(204);
        let reset = post(&client, "/bridge/enrollments/resetGoals/math", &json!({}), 200);
        assert_eq!(reset["data"]["updated"], 1);
        client.delete(&format!("{ROSTERING}/courses/math")).expect(204);
        assert_eq!(enrollments(&client, "ann"), Vec::<Value>::new());
        client.delete("/bridge/enrollments/unenroll/ann/math").expect(204);
        client.delete("/bridge/enrollments/unenroll/ann/math").expect(404);
    });
}

#[test]
fn enrollments_go_on_in_the_next_school_year() {
    // Each store has a separate clock, which is moved once.
    lyceum_testkit::both_stores(&lyceum_api::migrations(), |target| {
        let mut setup = Setup::default();
        let clock = Arc::new(ManualClock::at("2026-07-30T12:00:00Z".parse().unwrap()));
        setup.clock = Arc::<ManualClock>::clone(&clock);
        let server = TestServer::start_as(target, setup);
        let client = server.client();
        schools(&client);
        for id in ["ann", "bob", "cat", "dan", "eve"] {
            user(&client, id, "student", &[], "s");
        }
        let own = json!({"sourcedId": "first", "metadata": {"goals": {"dailyXp": 7}}});
        let first = post(&client, "/bridge/enrollments/enroll/ann/math", &own, 201)["data"].clone();
        client.post("/bridge/enrollments/enroll/bob/math").expect(201);
        client.post("/bridge/enrollments/enroll/cat/math").expect(201);
        let over = json!({"enrollment": {"endDate": "2026-07-31"}});
        let cat = enrollments(&client, "cat")[0]["id"].as_str().unwrap().to_owned();
        client.patch(&format!("{ROSTERING}/enrollments/{cat}")).json(&over).expect(200);
        let dan = client.post("/bridge/enrollments/enroll/dan/math").expect(201).json::<Value>();
        let dan = dan["data"]["id"].as_str().unwrap();
        let until = json!({"enrollment": {"endDate": "2026-12-31"}});
        client.patch(&format!("{ROSTERING}/enrollments/{dan}")).json(&until).expect(200);
        let later = json!({"sourcedId": "later", "beginDate": "2026-09-01"});
        post(&client, "/bridge/enrollments/enroll/eve/math", &later, 201);
        let old_class = get(&client, "/bridge/enrollments/defaultClass/math")["data"].clone();

        clock.advance_milliseconds(3 * 86_400_000);
        let client = server.client();
        let now = enrollments(&client, "ann");
        assert_eq!(now.len(), 1);
        assert_ne!(now[0]["id"], first["id"]);
        assert_eq!(now[0]["beginDate"], "2026-08-01");
        assert_eq!(now[0]["metadata"]["goals"]["dailyXp"], 7);
        assert_eq!(now[0]["periods"][0]["startDate"], "2026-08-01");
        assert_eq!(enrollments(&client, "ann"), now, "it goes on once");
        // The class of the previous year keeps its students until its end.
        let old = get(&client, &format!("{ROSTERING}/enrollments/first"))["enrollment"].clone();
        assert_eq!(old["endDate"], "2026-07-31");
        assert_eq!(old["status"], "active");
        assert_eq!(old["class"]["sourcedId"], old_class["id"]);
        let class = get(&client, "/bridge/enrollments/defaultClass/math")["data"].clone();
        assert_ne!(class["id"], old_class["id"]);
        // Enrolling again returns the continued enrollment. Unenrolling ends it permanently.
        let again = client.post("/bridge/enrollments/enroll/ann/math").expect(200).json::<Value>();
        assert_eq!(again["data"], now[0]);
        client.delete("/bridge/enrollments/unenroll/bob/math").expect(204);
        assert_eq!(enrollments(&client, "bob"), Vec::<Value>::new());
        // Enrollments with an end date do not continue, and future dates stay.
        assert_eq!(enrollments(&client, "cat"), Vec::<Value>::new());
        let days = |user| {
            let listed = enrollments(&client, user);
            [&listed[0]["beginDate"], &listed[0]["endDate"]]
                .map(|day| day.as_str().map(str::to_owned))
        };
        assert_eq!(days("dan"), [Some("2026-08-01".to_owned()), Some("2026-12-31".to_owned())]);
        assert_eq!(days("eve"), [Some("2026-09-01".to_owned()), None]);
        let never = get(&client, &format!("{ROSTERING}/enrollments/later"));
        assert_eq!(never["enrollment"]["status"], "tobedeleted");
    });
}

#[test]
fn progress_in_a_course_is_reset_and_nothing_else() {
    both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &[], "s");
        user(&client, "bob", "student", &[], "s");
        let create = |path: &str, one: &str, record: Value| {
            post(&client, path, &json!({ one: record }), 201);
        };
        let component =
            json!({"sourcedId": "unit", "title": "Unit", "course": {"sourcedId": "math"}});
        create(&format!("{ROSTERING}/courses/components"), "courseComponent", component);
        let resource = json!({"sourcedId": "r", "title": "Test", "vendorResourceId": "r"});
        let resources = "/ims/oneroster/resources/v1p2/resources";
        create(resources, "resource", resource);
        let lesson = json!({"sourcedId": "lesson", "title": "Test out", "lessonType": "test-out",
            "courseComponent": {"sourcedId": "unit"}, "resource": {"sourcedId": "r"}});
        create(&format!("{ROSTERING}/courses/component-resources"), "componentResource", lesson);
        client.post("/bridge/enrollments/enroll/ann/math").expect(201);
        let test_out = || {
            let shown = enrollments(&client, "ann")[0].clone();
            (shown["testOutSupported"] == true, shown["testOutEligible"] == true)
        };
        assert_eq!(test_out(), (true, true));
        let line = |id: &str, more: Value| {
            let mut line = json!({"sourcedId": id, "title": id});
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let path = format!("{GRADEBOOK}/assessmentLineItems/{id}");
            client.put(&path).json(&json!({ "assessmentLineItem": line })).expect(201);
        };
        line("by-course", json!({"course": {"sourcedId": "math"}}));
        line("by-lesson", json!({"componentResource": {"sourcedId": "lesson"}}));
        line("question", json!({"parentAssessmentLineItem": {"sourcedId": "by-lesson"}}));
        line("by-unit", json!({"component": {"sourcedId": "unit"}}));
        line("elsewhere", json!({"course": {"sourcedId": "art"}}));
        for item in ["by-course", "by-lesson", "question", "by-unit", "elsewhere"] {
            for student in ["ann", "bob"] {
                let id = format!("{item}-{student}");
                let result = json!({"assessmentResult": {"sourcedId": id, "score": 1,
                    "assessmentLineItem": {"sourcedId": item}, "student": {"sourcedId": student},
                    "scoreDate": "2026-01-15", "scoreStatus": "fully graded"}});
                let path = format!("{GRADEBOOK}/assessmentResults/{id}");
                client.put(&path).json(&result).expect(201);
            }
        }
        assert_eq!(test_out(), (true, false), "it was taken");
        let path = "/bridge/enrollments/resetProgress/ann/math";
        let reset = client.delete(path).expect(200).json::<Value>();
        assert_eq!(reset["data"]["resultsReset"], 4);
        let left = get(&client, &format!("{GRADEBOOK}/assessmentResults?limit=100"));
        let left: Vec<&str> = left["assessmentResults"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| result["sourcedId"].as_str().unwrap())
            .filter(|id| id.ends_with("-ann"))
            .collect();
        assert_eq!(left, ["elsewhere-ann"]);
        assert_eq!(test_out(), (true, true), "it may be taken again");
        let again = client.delete(path).expect(200).json::<Value>();
        assert_eq!(again["data"]["resultsReset"], 0);
    });
}

#[test]
fn enrolling_at_a_district_is_refused_and_names_the_school() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let district = json!({"org": {"sourcedId": "d", "name": "District", "type": "district"}});
        post(&client, &format!("{ROSTERING}/orgs"), &district, 201);
        user(&client, "ann", "student", &[], "s");
        user(&client, "dan", "student", &[], "d");
        let refused = |reply: Value, path: &str| {
            assert_eq!(reply["imsx_error_details"][0]["path"], path, "{reply}");
            reply["imsx_error_details"][0]["message"].as_str().unwrap().to_owned()
        };
        let at_district = "must be a school; the org 'd' has the type 'district'";
        let reply = post(&client, "/bridge/enrollments/enroll/ann/math/d", &json!({}), 422);
        assert_eq!(refused(reply, "schoolId"), at_district);
        let reply = client.get("/bridge/enrollments/defaultClass/math/d").expect(422).json();
        assert_eq!(refused(reply, "schoolId"), at_district);
        let reply = post(&client, "/bridge/enrollments/enroll/dan/math", &json!({}), 422);
        let message = refused(reply, "schoolId");
        assert!(message.contains("the user's organization 'd' is not a school"), "{message}");
        let enrollment = json!({"enrollment": {"sourcedId": "e", "user": {"sourcedId": "ann"},
            "course": {"sourcedId": "math"}, "school": {"sourcedId": "d"}}});
        let reply = post(&client, &format!("{ROSTERING}/enrollments"), &enrollment, 422);
        assert_eq!(refused(reply, "enrollment.school.sourcedId"), at_district);
    });
}

#[test]
fn enrolling_needs_its_scope() {
    both_as(&Setup::default(), |server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &[], "s");
        let reader = server.client_with(
            &[lyceum_access::Scope::BridgeRead],
            lyceum_core::PayloadDialect::Platform,
        );
        reader.post("/bridge/enrollments/enroll/ann/math").expect(403);
        server.anonymous().post("/bridge/enrollments/enroll/ann/math").expect(401);
        assert_eq!(enrollments(&reader, "ann"), Vec::<Value>::new());
    });
}
