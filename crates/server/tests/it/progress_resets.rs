//! Results in a course over HTTP: resets for many students, and results of those who left.

use lyceum_testserver::server::{Setup, both, both_as};
use serde_json::{Value, json};

use crate::enrolling::{GRADEBOOK, ROSTERING, get, post, schools, user};

#[test]
fn progress_is_reset_for_a_course_a_class_or_named_students() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let line = json!({"assessmentLineItem": {"title": "l", "course": {"sourcedId": "math"}}});
        client.put(&format!("{GRADEBOOK}/assessmentLineItems/l")).json(&line).expect(201);
        for (student, school) in [("ann", "s"), ("bob", "s"), ("cem", "t")] {
            user(&client, student, "student", &[], school);
            post(&client, &format!("/bridge/enrollments/enroll/{student}/math"), &json!({}), 201);
        }
        user(&client, "tom", "teacher", &[], "s");
        let teacher = json!({"role": "teacher"});
        post(&client, "/bridge/enrollments/enroll/tom/math", &teacher, 201);
        let result = |student: &str| {
            let result = json!({"assessmentResult": {"score": 1, "student": {"sourcedId": student},
                "assessmentLineItem": {"sourcedId": "l"}, "scoreDate": "2026-01-15",
                "scoreStatus": "fully graded"}});
            let path = format!("{GRADEBOOK}/assessmentResults/of-{student}");
            assert!(client.put(&path).json(&result).send().status < 300);
        };
        let path = "/bridge/enrollments/resetProgress/math";
        let reset = |input: Value| {
            ["ann", "bob", "cem"].into_iter().for_each(result);
            let report = post(&client, path, &input, 200)["data"].clone();
            assert_eq!(report["resultsReset"], report["users"].as_array().unwrap().len());
            report["users"].clone()
        };
        assert_eq!(reset(json!({})), json!(["ann", "bob", "cem"]));
        let of_s = get(&client, "/bridge/enrollments/defaultClass/math/s")["data"]["id"].clone();
        assert_eq!(reset(json!({"classId": of_s})), json!(["ann", "bob"]));
        assert_eq!(reset(json!({"userIds": ["cem", "ann", "cem"]})), json!(["cem", "ann"]));

        ["ann", "bob", "cem"].into_iter().for_each(result);
        let of_art = get(&client, "/bridge/enrollments/defaultClass/art")["data"]["id"].clone();
        for (input, path_of_error) in [
            (json!({"userIds": ["ann", "nobody"]}), "userIds[1]"),
            (json!({"classId": "none"}), "classId"),
            (json!({"classId": of_art}), "classId"),
            (json!({"classId": of_s, "userIds": ["ann"]}), "userIds"),
            (json!({"userIds": []}), "userIds"),
            (json!({"classID": of_s}), "classID"),
        ] {
            let refused = post(&client, path, &input, 422);
            assert_eq!(refused["imsx_error_details"][0]["path"], path_of_error, "{input}");
        }
        post(&client, "/bridge/enrollments/resetProgress/none", &json!({}), 404);
        let left = get(&client, &format!("{GRADEBOOK}/assessmentResults?limit=100"));
        assert_eq!(left["totalCount"], 3, "all or none");
    });
}

#[test]
fn a_page_of_results_names_those_of_former_students() {
    both_as(&Setup::default(), |server| {
        let client = server.client();
        schools(&client);
        let line = json!({"assessmentLineItem": {"title": "l", "course": {"sourcedId": "math"}}});
        client.put(&format!("{GRADEBOOK}/assessmentLineItems/l")).json(&line).expect(201);
        for student in ["ann", "bob"] {
            user(&client, student, "student", &[], "s");
            post(&client, &format!("/bridge/enrollments/enroll/{student}/math"), &json!({}), 201);
            let result = json!({"assessmentResult": {"score": 1, "student": {"sourcedId": student},
                "assessmentLineItem": {"sourcedId": "l"}, "scoreDate": "2026-01-15",
                "scoreStatus": "fully graded"}});
            let path = format!("{GRADEBOOK}/assessmentResults/of-{student}");
            client.put(&path).json(&result).expect(201);
        }
        client.delete("/bridge/enrollments/unenroll/ann/math").expect(204);
        let path = format!("{GRADEBOOK}/assessmentResults");
        let page = get(&client, &format!("{path}?fields=score"));
        assert_eq!(
            (&page["totalCount"], &page["ofFormerStudents"]),
            (&json!(2), &json!(["of-ann"]))
        );
        assert_eq!(get(&client, &format!("{ROSTERING}/users"))["ofFormerStudents"], Value::Null);
        let standard = client.get(&path).header("accept", r#"application/json;profile="standard""#);
        let members = standard.expect(200).json::<Value>();
        assert_eq!(members.as_object().unwrap().len(), 1, "{members}");
    });
}
