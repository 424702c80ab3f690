//! Tests at outside tools, assigned tests, screenings, and how courses are shown.

use lyceum_adaptive::course_progress;
use lyceum_adaptive::new_test::{self, ExternalTest, NewTest};
use lyceum_adaptive::render_config::{self, RenderConfigInput};
use lyceum_adaptive::test_assignments::{
    self as assignments, AssignmentFilter, TestAssignmentInput,
};
use lyceum_adaptive::test_out::{eligibility, of};
use lyceum_adaptive::{LessonType, external, screening, test_out};
use lyceum_bridge::analytics::highest_grade_mastered;
use lyceum_core::ProblemKind::{Conflict, Invalid, NotFound};
use lyceum_core::{Problem, Result, body};
use serde_json::{Value, json};

use crate::school::{ALL, School, Student, both, one, paths, refused, request, shown, view};

fn outside(school: &School, lesson_type: LessonType, test: Value) -> String {
    let test = NewTest::external(request::<ExternalTest<Option<f64>>>(test), lesson_type);
    let created = school.write(|tx, context| new_test::create(tx, context.now, &test?));
    shown(created.unwrap())["lessonId"].as_str().unwrap().to_owned()
}

fn out_of_math(school: &School) -> String {
    let test = json!({
        "courseId": "math", "toolProvider": "mastery-track", "grades": [3], "xp": 40,
        "launchUrl": "https://tool.example/run", "vendorId": "v-1", "lessonTitle": "Test out",
    });
    outside(school, LessonType::TestOut, test)
}

impl Student<'_> {
    fn assign(self, lesson: &str, more: &Value) -> Result<Value> {
        let mut members = json!({ "student": self.id, "lesson": lesson });
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let test = request(members);
        self.school.write(|tx, context| external::assign_external(tx, context, &test)).map(shown)
    }

    fn import(self, lesson: &str) -> Result<Value> {
        let which = request(json!({ "student": self.id, "lesson": lesson }));
        self.school.write(|tx, context| external::import(tx, context, &which)).map(shown)
    }

    /// Writes a result of a lesson, as clients do.
    fn scored(self, lesson: &str, score: i32, metadata: &Value) {
        let response = json!({ "studentId": self.id, "componentResourceId": lesson, "result": {
            "status": "active", "score": score, "scoreDate": "2026-02-01",
            "scoreStatus": "fully graded", "metadata": metadata } });
        let response = request(response);
        let write = self
            .school
            .write(|tx, context| course_progress::update(tx, context.now, response, ALL));
        write.unwrap();
    }

    /// The progress in the course `math`, or only that of a lesson.
    fn course(self, lesson: Option<&str>) -> Value {
        let progress = self.school.write(|tx, context| {
            course_progress::of(tx, context.now, ("math", self.id), lesson, &view(), ALL)
        });
        shown(progress.unwrap())
    }

    fn test_out(self, course: &str) -> Value {
        let which = request(json!({ "student": self.id, "course": course }));
        shown(self.school.write(|tx, _| of(tx, &which, ALL)).unwrap())
    }

    fn may_test_out(self) -> Value {
        shown(eligibility(&self.school.enrollments(self.id), "Math"))
    }
}

#[test]
fn an_external_test_is_finished_with_the_result_of_the_gradebook() {
    both(|school| {
        let amy = school.amy();
        let lesson = out_of_math(school);
        let created = amy.assign(&lesson, &json!({ "testId": "form-2" })).unwrap();
        assert_eq!(
            (&created["attempt"], &created["testId"], &created["testUrl"]),
            (&json!(1), &json!("form-2"), &json!("https://tool.example/run"))
        );
        assert_eq!(amy.assign(&lesson, &json!({})).unwrap(), created);
        assert_eq!(amy.import(&lesson).unwrap()["finalized"], false);
        let progress = amy.course(None);
        assert_eq!(progress["testOut"]["status"], "in_progress");
        assert_eq!(progress["testOut"]["assignmentId"], created["assignmentId"]);

        let of_test = json!({ "attempt": 1, "correctQuestions": 19, "totalQuestions": 20 });
        amy.scored(&lesson, 95, &of_test);
        school.restart();
        for _ in 0..2 {
            assert_eq!(amy.import(&lesson).unwrap()["finalized"], true);
        }
        let attempts = amy.attempts(&lesson);
        assert_eq!(
            (attempts.len(), &attempts[0]["score"], &attempts[0]["xp"]),
            (1, &json!(95.0), &json!(40.0))
        );
        let found = amy.test_out("math");
        assert_eq!(
            (&found["lessonId"], &found["finalized"], &found["attempt"]),
            (&json!(lesson), &json!(true), &json!(1))
        );
        assert_eq!(amy.course(None)["testOut"]["status"], "completed");
        let mastered = school.write(|tx, _| highest_grade_mastered(tx, "amy", "Math", ALL));
        assert_eq!(shown(mastered.unwrap())["grades"]["testOutGrade"], "03");
        let enrollment = shown(&school.enrollments("amy")[0]);
        assert_eq!(
            (&enrollment["testOutSupported"], &enrollment["testOutEligible"]),
            (&json!(true), &json!(false))
        );
        // It is taken once, unless it is reset.
        refused(amy.assign(&lesson, &json!({})), Conflict, "");
        refused(amy.begin(&lesson), Conflict, "");
        amy.reset(&lesson);
        assert_eq!(amy.assign(&lesson, &json!({})).unwrap()["attempt"], 1);
        assert_eq!(amy.import(&lesson).unwrap()["finalized"], false, "the former result is gone");
        // Progress that is set back forgets what was assigned.
        amy.reset_course("math");
        refused(amy.import(&lesson), NotFound, "");
        let found = amy.test_out("math");
        assert_eq!((&found["finalized"], found.get("attempt")), (&json!(false), None));
    });
}

#[test]
fn a_failed_external_placement_test_enrolls_unless_that_is_skipped() {
    one(|school| {
        let test = json!({ "courseId": "math", "toolProvider": "edulastic", "grades": [3], "courseIdOnFail": "art" });
        let lesson = outside(school, LessonType::Placement, test);
        for (student, skip, then) in [(school.amy(), true, "math"), (school.bob(), false, "art")] {
            student.assign(&lesson, &json!({ "skipCourseEnrollment": skip })).unwrap();
            student.scored(&lesson, 40, &json!({}));
            assert_eq!(student.import(&lesson).unwrap()["finalized"], true);
            assert_eq!(school.courses(student.id), [then]);
        }
    });
}

#[test]
fn students_elect_to_test_out_in_their_own_courses() {
    one(|school| {
        let (amy, bob) = (school.amy(), school.bob());
        let wish = request(json!({ "oneRosterSourcedId": "amy", "subject": "math" }));
        let assign = || school.write(|tx, context| test_out::assign(tx, context.now, &wish, ALL));
        let reason = "no course of the subject 'Math' has a test-out lesson";
        assert_eq!(amy.may_test_out()["reason"], reason);
        refused(assign(), Conflict, "");
        let lesson = out_of_math(school);
        assert_eq!(amy.may_test_out(), json!({ "eligible": true }));
        assert_eq!(bob.may_test_out()["eligible"], false);
        let created = shown(assign().unwrap());
        assert_eq!(
            (&created["lessonId"], &created["courseId"], &created["attempt"]),
            (&json!(lesson), &json!("math"), &json!(1))
        );
        let id = created["assignmentId"].as_str().unwrap();
        let read = school.write(|tx, context| assignments::get(tx, context.now, id, ALL));
        let read = shown(read.unwrap());
        assert_eq!(
            (&read["studentSourcedId"], &read["assignmentStatus"]),
            (&json!("amy"), &json!("assigned"))
        );
        assert_eq!(read["resourceSourcedId"], created["resourceId"]);
        assert_eq!(
            amy.test_out("art"),
            json!({ "lessonType": "test-out", "lessonId": null, "finalized": false, "toolProvider": null })
        );
    });
}

/// The assignments that a query finds.
fn listed(school: &School, query: Value) -> Result<Value> {
    let filter = AssignmentFilter::read(query, false)?;
    school.write(|tx, context| assignments::list(tx, context.now, &filter, ALL)).map(shown)
}

#[test]
fn assignments_expire_and_are_cancelled() {
    both(|school| {
        school.lesson("unit-1", "unit-test", &["q1"], 10.0);
        let wish = |expires: Value| json!({ "student": "amy", "subject": "Math", "grade": 3, "expiresAt": expires });
        let assigned = |expires: Value| {
            let wish = request::<TestAssignmentInput>(wish(expires)).into();
            let created =
                school.write(|tx, context| assignments::create(tx, &context.moment(), &wish, ALL));
            created.unwrap().assignment_id
        };
        let [over, open, gone] =
            [json!("2020-01-01T00:00:00Z"), json!("2120-01-01T00:00:00Z"), json!(null)]
                .map(assigned);
        let delete =
            |id: &str| school.write(|tx, context| assignments::delete(tx, context.now, id, ALL));
        let get = |id: &str| school.write(|tx, context| assignments::get(tx, context.now, id, ALL));
        delete(&gone).unwrap();
        refused(delete(&gone), NotFound, "");
        refused(get(&gone), NotFound, "");
        let rename =
            school.write(|tx, context| assignments::update(tx, context.now, &gone, "x", ALL));
        refused(rename, NotFound, "");
        assert!(body::of::<TestAssignmentInput>(wish(json!("soon"))).is_err());
        let ids = |status: Option<&str>| -> Vec<String> {
            let mut query = json!({ "student": "amy" });
            if let Some(status) = status {
                query["status"] = status.into();
            }
            let page = listed(school, query).unwrap();
            let all = page["testAssignments"].as_array().unwrap().iter();
            all.map(|one| one["sourcedId"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(ids(None), [over.clone(), open.clone()]);
        assert_eq!(ids(Some("expired")), [over.as_str()]);
        assert_eq!(ids(Some("assigned")), [open]);
        assert_eq!(ids(Some("cancelled")), [gone.as_str()]);
        assert_eq!(shown(get(&over).unwrap())["expiresAt"], "2020-01-01T00:00:00.000Z");
        // Done late it is done.
        school.amy().answer("unit-1", "q1", "A");
        assert_eq!(ids(Some("expired")), [over.as_str()]);
        school.amy().finish("unit-1").unwrap();
        assert_eq!(shown(get(&over).unwrap())["assignmentStatus"], "completed");
    });
}

#[test]
fn rows_are_assigned_each_by_itself() {
    one(|school| {
        school.lesson("unit-1", "unit-test", &["q1"], 10.0);
        let import = |table: Value| {
            let table = request(table);
            shown(
                school
                    .write(|tx, context| assignments::import(tx, &context.moment(), &table, ALL))
                    .unwrap(),
            )
        };
        let csv = "student,subject,grade,testName\namy,Math,3,First\nnobody,Math,3,\nbob,math,03\nbob,Math,9,\nbob,,3,\n";
        let created = import(json!({ "csv": csv }));
        assert_eq!(created["success"], false);
        assert_eq!(created["results"].as_array().unwrap().len(), 2, "{created}");
        let errors = created["errors"].as_array().unwrap();
        assert_eq!(errors.iter().map(|error| &error["row"]).collect::<Vec<_>>(), [2, 4, 5]);
        assert!(errors[2]["message"].as_str().unwrap().starts_with("subject: "), "{created}");
        let elsewhere =
            import(json!({ "spreadsheetUrl": "https://sheets.example/x", "sheet": "One" }));
        assert_eq!((&elsewhere["success"], &elsewhere["results"]), (&json!(false), &json!([])));
        let query = json!({ "limit": "1", "offset": "1", "grade": "3", "subject": "MATH" });
        let page = listed(school, query).unwrap();
        assert_eq!(page["testAssignments"][0]["studentSourcedId"], "bob");
        assert_eq!(
            (&page["totalCount"], &page["pageCount"], &page["pageNumber"]),
            (&json!(2), &json!(2), &json!(2))
        );
        assert_eq!(listed(school, json!({ "status": "completed" })).unwrap()["totalCount"], 0);
        for (name, value) in [("limit", "0"), ("offset", "x"), ("status", "lost"), ("student", "")]
        {
            refused(listed(school, json!({ name: value })), Invalid, name);
        }
        refused(listed(school, json!({ "student": "nobody" })), NotFound, "");
    });
}

#[test]
fn a_result_that_a_client_writes_replaces_that_of_the_same_attempt() {
    one(|school| {
        let amy = school.amy();
        school.lesson("one", "quiz", &["q1"], 10.0);
        for (score, metadata) in [(60, json!({})), (80, json!({})), (90, json!({ "attempt": 2 }))] {
            amy.scored("one", score, &metadata);
        }
        let of_unit = request(json!({ "studentId": "amy", "componentId": "unit", "result": {
            "status": "active", "scoreDate": "2026-02-01", "scoreStatus": "submitted" } }));
        school.write(|tx, context| course_progress::update(tx, context.now, of_unit, ALL)).unwrap();
        let items = amy.course(None)["lineItems"].clone();
        assert_eq!(
            (&items[0]["type"], &items[0]["courseComponentSourcedId"]),
            (&json!("component"), &json!("unit"))
        );
        assert_eq!(items[0]["results"][0]["scoreStatus"], "submitted");
        assert_eq!(items[1]["courseComponentResourceSourcedId"], "one");
        let results = items[1]["results"].as_array().unwrap().iter();
        let scores: Vec<_> = results.map(|result| result["score"].as_f64().unwrap()).collect();
        assert_eq!(scores, [80.0, 90.0]);
        assert_eq!(amy.course(Some("one"))["lineItems"].as_array().unwrap().len(), 1);
        refused(amy.assign("one", &json!({})), Invalid, "");
        let undated = json!({ "studentId": "amy", "componentResourceId": "one", "result": { "scoreStatus": "submitted" } });
        let elsewhere = json!({ "studentId": "amy", "componentResourceId": "none", "result": {
            "status": "active", "scoreDate": "2026-02-01", "scoreStatus": "submitted" } });
        for (response, kind, place) in
            [(undated, Invalid, "result.scoreDate"), (elsewhere, NotFound, "")]
        {
            let response = request(response);
            let work =
                school.write(|tx, context| course_progress::update(tx, context.now, response, ALL));
            refused(work, kind, place);
        }
    });
}

#[test]
fn a_screening_holds_its_tests_until_it_is_reset() {
    both(|school| {
        let session = || shown(school.write(|tx, _| screening::session(tx, "amy", ALL)).unwrap());
        let results = || shown(school.write(|tx, _| screening::results(tx, "amy", ALL)).unwrap());
        assert_eq!((session(), &results()["Math"]), (Value::Null, &Value::Null));
        for subject in ["Math", "Reading", "Math"] {
            let test = request(json!({ "userId": "amy", "subject": subject }));
            school.write(|tx, context| screening::assign(tx, context.now, &test, ALL)).unwrap();
        }
        school.record("assessmentLineItems", json!({ "sourcedId": "map", "title": "MAP" }));
        for (id, day, rit) in [("old", "2020-01-15", 180), ("new", "2090-01-15", 201)] {
            school.record(
                "assessmentResults",
                json!({
                    "sourcedId": id, "assessmentLineItem": { "sourcedId": "map" },
                    "student": { "sourcedId": "amy" }, "score": rit, "scoreDate": day,
                    "scoreStatus": "fully graded",
                    "metadata": { "source": "map", "subject": "math", "grade": "4" },
                }),
            );
        }
        let tests = session()["tests"].clone();
        let tests =
            tests.as_array().unwrap().iter().map(|test| (&test["subject"], &test["status"]));
        assert_eq!(
            tests.collect::<Vec<_>>(),
            [(&json!("Math"), &json!("completed")), (&json!("Reading"), &json!("assigned"))]
        );
        let math = results()["Math"].clone();
        assert_eq!(
            (&math["ritScore"], &math["grade"], &math["completedAt"]),
            (&json!(201), &json!("4"), &json!("2090-01-15"))
        );
        assert_eq!(results()["Reading"], Value::Null);
        for was_there in [true, false] {
            assert_eq!(school.write(|tx, _| screening::reset(tx, "amy", ALL)).unwrap(), was_there);
        }
        assert_eq!((session(), &results()["Math"]["ritScore"]), (Value::Null, &json!(201)));
    });
}

#[test]
fn a_course_has_the_render_config_that_was_set_last() {
    both(|school| {
        let get = |course: &str| school.write(|tx, _| render_config::get(tx, course)).map(shown);
        let put = |values: &Value| -> Result<()> {
            let configs = body::of::<RenderConfigInput>(values.clone())?.configs()?;
            school.write(|tx, _| render_config::put(tx, &configs))
        };
        refused(get("math"), NotFound, "");
        let mut values = json!({ "courseIds": ["math", "art", "math"], "rendererId": "plain",
            "rendererUrl": "https://render.example/x", "suppressFeedback": true });
        put(&values).unwrap();
        values["courseIds"] = json!(["art"]);
        values["rendererVersion"] = "2".into();
        values["suppressCorrectResponse"] = true.into();
        put(&values).unwrap();
        assert_eq!(
            get("math").unwrap(),
            json!({ "courseId": "math", "rendererId": "plain", "rendererUrl": "https://render.example/x",
                "suppressFeedback": true, "suppressCorrectResponse": false })
        );
        let art = get("art").unwrap();
        assert_eq!(
            (&art["rendererVersion"], &art["suppressCorrectResponse"]),
            (&json!("2"), &json!(true))
        );
        let delete = || school.write(|tx, _| render_config::delete(tx, "math"));
        delete().unwrap();
        refused(delete(), NotFound, "");
        refused(get("math"), NotFound, "");
        get("art").unwrap();
        // One unknown course, and nothing is set.
        values["courseIds"] = json!(["math", "none"]);
        let unknown: Problem = put(&values).unwrap_err();
        assert_eq!(paths(&unknown), ["courseIds[1]"]);
        refused(get("math"), NotFound, "");
    });
}
