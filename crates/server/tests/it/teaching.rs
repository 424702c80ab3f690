//! Actions of guides for students and classes: for all of a class or for none, within their reach, and audited.

use lyceum_access::audit::{AuditFilter, each};
use lyceum_access::{Role, person as accounts};
use lyceum_core::Reach;
use lyceum_testkit::records;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::class_sign_in::Browser;
use crate::enrolling::{ROSTERING, get, post, user};
use crate::lessons::{course, lesson, stored_question};
use crate::people::{let_in, person};

/// The students of the class `own`.
const OWN: [&str; 2] = ["amy", "bob"];

/// The class `own` of the teacher `tess` with its students, and the class `other` with the student `cem`.
fn plant(server: &TestServer) -> TestClient {
    let client = server.client();
    course(&client);
    for name in ["q1", "q2"] {
        stored_question(&client, name);
    }
    lesson(&client, "steps", "powerpath-100", &["q1", "q2"], 8.0);
    lesson(&client, "quiz", "quiz", &["q1", "q2"], 8.0);
    user(&client, "cem", "student", &["03"], "s");
    user(&client, "tess", "teacher", &[], "s");
    let db = server.db();
    records::class(db, "own", "math", "s");
    records::class(db, "other", "math", "s");
    for student in OWN {
        records::enroll(db, student, "own", "s", "student");
    }
    records::enroll(db, "cem", "other", "s", "student");
    records::enroll(db, "tess", "own", "s", "teacher");
    client
}

/// A client with the token of a guide of this reach.
fn guide(server: &TestServer, email: &str, reach: &Reach) -> TestClient {
    let client = let_in(server, email, Role::Guide);
    let limit = |tx: &mut lyceum_store::Tx<'_>| accounts::limit(tx, email, reach).map(drop);
    server.db().write_blocking(limit).unwrap();
    client
}

fn teach(client: &TestClient, whom: &Value, action: &Value, status: u16) -> Value {
    let mut body = whom.clone();
    body["action"] = action.clone();
    post(client, "/adaptive/teaching", &body, status)
}

fn assignments(client: &TestClient, student: &str) -> Vec<String> {
    let found = get(client, &format!("/adaptive/test-assignments?student={student}"));
    let all = found["testAssignments"].as_array().unwrap().iter();
    let lesson = |one: &Value| one["componentResourceSourcedId"].as_str().unwrap().to_owned();
    all.map(lesson).collect()
}

fn goal(client: &TestClient, student: &str) -> Value {
    let enrollments = get(client, &format!("/bridge/enrollments/user/{student}"));
    let of_math =
        enrollments["data"].as_array().unwrap().iter().find(|one| one["course"]["id"] == "math");
    of_math.unwrap()["metadata"]["goals"]["dailyXp"].clone()
}

/// The changes of students' work in the audit log, oldest first: who, what, whom.
fn audited(server: &TestServer) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let filter = AuditFilter { is_ascending: true, ..AuditFilter::default() };
    let read = server.db().read_blocking(|tx| {
        each(tx, &filter, 100, |entry| {
            if entry.what.starts_with("students.") {
                found.push((entry.who, entry.what, entry.subject));
            }
            Ok(())
        })
    });
    read.unwrap();
    found
}

#[test]
fn each_action_is_done_for_one_student_or_a_class() {
    both(|server| {
        let client = plant(server);
        let own = json!({ "class": "own" });
        let assign =
            json!({ "type": "assign", "lesson": "quiz", "expiresAt": "2099-01-01T00:00:00.000Z" });
        let done = teach(&client, &own, &assign, 200);
        assert_eq!(done["students"], json!(OWN));
        teach(&client, &own, &assign, 200);
        for student in OWN {
            assert_eq!(assignments(&client, student), ["quiz"], "once, although it was sent twice");
        }
        assert_eq!(assignments(&client, "cem"), Vec::<String>::new());

        let amy = json!({ "student": "amy" });
        teach(&client, &amy, &json!({ "type": "goal", "course": "math", "dailyXp": 35 }), 200);
        assert_eq!((goal(&client, "amy"), goal(&client, "bob")), (json!(35), json!(20)));
        teach(&client, &amy, &json!({ "type": "goal", "course": "math", "dailyXp": null }), 200);
        assert_eq!(goal(&client, "amy"), 20, "the goal of the course");

        teach(&client, &own, &json!({ "type": "skip", "lesson": "quiz", "skipped": true }), 200);
        let plan = |student: &str| {
            get(&client, &format!("/adaptive/lessonPlans/math/{student}")).to_string()
        };
        for student in OWN {
            let plan = plan(student);
            assert!(!plan.contains("Lesson quiz") && plan.contains("Lesson steps"), "{plan}");
        }
        teach(&client, &amy, &json!({ "type": "skip", "lesson": "quiz", "skipped": false }), 200);
        assert!(plan("amy").contains("Lesson quiz") && !plan("bob").contains("Lesson quiz"));

        for student in OWN {
            let next =
                get(&client, &format!("/adaptive/getNextQuestion?student={student}&lesson=steps"));
            let answer = json!({"student": student, "lesson": "steps", "question": next["question"]["id"],
                "responses": {"RESPONSE": "A"}});
            client.put("/adaptive/updateStudentQuestionResponse").json(&answer).expect(200);
        }
        teach(&client, &own, &json!({ "type": "reset", "lesson": "steps" }), 200);
        for student in OWN {
            let log =
                get(&client, &format!("/adaptive/getAttemptLog?student={student}&lesson=steps"));
            assert_eq!(log["log"], json!([]), "{student}");
        }
        let whom = ["own", "own", "amy", "amy", "own", "amy", "own"];
        assert_eq!(
            audited(server).iter().map(|(_, _, whom)| whom.as_str()).collect::<Vec<_>>(),
            whom
        );
    });
}

#[test]
fn an_action_that_fails_for_one_student_changes_no_student() {
    both(|server| {
        let client = plant(server);
        // A student of the class who is in no current enrollment of the other course.
        let art = json!({ "type": "goal", "course": "art", "dailyXp": 5 });
        teach(&client, &json!({ "class": "own" }), &art, 422);
        assert_eq!((goal(&client, "amy"), goal(&client, "bob")), (json!(20), json!(20)));
        let assign = json!({ "type": "assign", "lesson": "nowhere" });
        teach(&client, &json!({ "class": "own" }), &assign, 404);
        let assign = json!({ "type": "assign", "lesson": "quiz" });
        teach(&client, &json!({}), &assign, 422);
        teach(&client, &json!({ "class": "own", "student": "amy" }), &assign, 422);
        teach(&client, &json!({ "class": "nowhere" }), &assign, 404);
        let nonsense = json!({ "type": "goal", "course": "math", "dailyXp": -1 });
        teach(&client, &json!({ "class": "own" }), &nonsense, 422);
        assert_eq!(audited(server), []);
    });
}

#[test]
fn teachers_act_for_the_students_of_their_classes_only() {
    both(|server| {
        let client = plant(server);
        let tess = guide(server, "tess@x.test", &Reach::ClassesOf("tess".to_owned()));
        let assign = json!({ "type": "assign", "lesson": "quiz" });
        assert_eq!(teach(&tess, &json!({ "class": "own" }), &assign, 200)["students"], json!(OWN));
        teach(
            &tess,
            &json!({ "student": "amy" }),
            &json!({ "type": "reset", "lesson": "quiz" }),
            200,
        );
        teach(
            &tess,
            &json!({ "student": "amy" }),
            &json!({ "type": "goal", "course": "math", "dailyXp": 7 }),
            200,
        );
        teach(
            &tess,
            &json!({ "student": "amy" }),
            &json!({ "type": "skip", "lesson": "quiz", "skipped": true }),
            200,
        );
        for whom in [json!({ "class": "other" }), json!({ "student": "cem" })] {
            teach(&tess, &whom, &assign, 404);
        }
        assert_eq!(assignments(&client, "cem"), Vec::<String>::new());
        // Nothing else becomes writable.
        let reset = json!({ "student": "amy", "lesson": "quiz" });
        tess.post("/adaptive/resetAttempt").json(&reset).expect(403);
        // A guide of another school sees neither the class nor the lesson's course.
        let elsewhere = guide(server, "t@x.test", &Reach::organizations(["t"]).unwrap());
        teach(&elsewhere, &json!({ "class": "own" }), &assign, 404);
        let whats: Vec<String> =
            audited(server).into_iter().map(|(who, what, _)| format!("{who} {what}")).collect();
        let by_tess =
            ["assign", "reset", "goal", "skip"].map(|what| format!("tess@x.test students.{what}"));
        assert_eq!(whats, by_tess);
        let roster: Value = client.get(&format!("{ROSTERING}/users/amy")).expect(200).json();
        assert_eq!(roster["user"]["status"], "active");
    });
}

#[test]
fn a_test_is_assigned_by_subject_and_grade() {
    both(|server| {
        let client = plant(server);
        let mastery_track = json!({"courseId": "math", "toolProvider": "mastery-track", "grades": [3],
            "xp": 40, "launchUrl": "https://tool.example/run", "vendorId": "v", "lessonTitle": "Out"});
        let created = post(&client, "/adaptive/createExternalTestOut", &mastery_track, 201);
        let lesson = created["lessonId"].as_str().unwrap();
        let tess = guide(server, "tess@x.test", &Reach::ClassesOf("tess".to_owned()));
        let action =
            |grade: &str| json!({ "type": "assign-test", "subject": "math", "grade": grade });
        let own = json!({ "class": "own" });
        assert_eq!(teach(&tess, &own, &action("3"), 200)["students"], json!(OWN));
        teach(&tess, &own, &action("03"), 200);
        for student in OWN {
            assert_eq!(assignments(&client, student), [lesson], "once");
        }
        assert_eq!(assignments(&client, "cem"), Vec::<String>::new());
        let missing = teach(&tess, &own, &action("9"), 404).to_string();
        assert!(missing.contains("no test exists for the subject 'math' in grade 9"), "{missing}");
        teach(&tess, &json!({ "class": "other" }), &action("3"), 404);
        teach(&tess, &own, &action("ninth"), 422);

        // The same with the form on the page of a class.
        let page = "/console/classes/other";
        person(server, "gil@x.test", "Gil", Role::Guide);
        let browser = Browser::signed_in(server, "gil@x.test");
        assert!(browser.get(page).text().contains("Test in subject"));
        let fields =
            [("action", "assign-test"), ("subject", "Math"), ("grade", "03"), ("until", "")];
        let sent = browser.submit(page, &format!("{page}/teaching"), &fields);
        assert_eq!(sent.status, 303, "{}", sent.text());
        assert_eq!(assignments(&client, "cem"), [lesson]);

        // A day ends at midnight at the school, wherever the teacher's browser is.
        let hours = json!({"weekdays": [1, 2, 3, 4, 5], "begins": "08:00", "ends": "16:00",
            "timeZone": "America/New_York"});
        client.put("/bridge/school-hours/s").json(&hours).expect(200);
        let page = "/console/students/cem";
        let fields = [("action", "assign"), ("lesson", "quiz"), ("until", "2098-11-30")];
        let sent = browser.submit(page, &format!("{page}/teaching"), &fields);
        assert_eq!(sent.status, 303, "{}", sent.text());
        let found = get(&client, "/adaptive/test-assignments?student=cem");
        assert_eq!(found["testAssignments"][1]["expiresAt"], "2098-12-01T05:00:00.000Z", "{found}");
    });
}

#[test]
fn an_action_for_a_class_leaves_out_students_whose_enrollment_ended_or_begins_later() {
    both(|server| {
        let client = plant(server);
        for (student, dates) in [
            ("amy", json!({ "endDate": "2020-01-01" })),
            ("bob", json!({ "beginDate": "2099-01-01" })),
        ] {
            let enrollments: Value = client
                .get(&format!("{ROSTERING}/classes/own/enrollments?limit=100"))
                .expect(200)
                .json();
            let all = enrollments["enrollments"].as_array().unwrap().iter();
            let own = all.filter(|one| one["user"]["sourcedId"] == student);
            for enrollment in own {
                let path = format!(
                    "{ROSTERING}/enrollments/{}",
                    enrollment["sourcedId"].as_str().unwrap()
                );
                client.patch(&path).json(&json!({ "enrollment": dates })).expect(200);
            }
        }
        let assign = json!({ "type": "assign", "lesson": "quiz" });
        let done = teach(&client, &json!({ "class": "own" }), &assign, 200);
        assert_eq!(done["students"], json!([]));
    });
}
