//! Subject tracks over HTTP: which students they enroll, and when.

use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, both, both_as};
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, courses, enrollments, get, post, schools, user};

const TRACKS: &str = "/bridge/subject-track/";

fn put(client: &TestClient, body: &Value, status: u16) -> Value {
    client.put(TRACKS).json(body).expect(status).json::<Value>()["subjectTrack"].clone()
}

#[test]
fn a_track_is_put_listed_grouped_and_deleted() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let third = json!({"subject": "Math", "grade": "3", "courseId": "math"});
        let created = put(&client, &third, 201);
        assert_eq!(created["course"]["sourcedId"], "math");
        assert_eq!(created["course"]["title"], "Maths 3");
        assert_eq!(created["org"], Value::Null);
        // Subject, value of the grade and organization identify a track.
        let same =
            json!({"subject": "math", "grade": "03", "courseId": "art", "orgSourcedId": null});
        let changed = put(&client, &same, 200);
        assert_eq!(changed["id"], created["id"]);
        assert_eq!(changed["course"]["sourcedId"], "art");
        let at_t = json!({"subject": "Math", "grade": 3, "courseId": "math", "orgSourcedId": "t"});
        let at_t = put(&client, &at_t, 201);
        assert_eq!(at_t["org"], json!({"sourcedId": "t", "name": "School t"}));
        let kindergarten =
            put(&client, &json!({"subject": "Art", "grade": "-1", "courseId": "art"}), 201);
        let eleventh =
            put(&client, &json!({"subject": "math", "grade": "11", "courseId": "art"}), 201);

        server.restart();
        let client = server.client();
        let listed = get(&client, "/edubridge/subject-track")["subjectTrack"].clone();
        assert_eq!(listed, json!([kindergarten, changed, at_t, eleventh]));
        let groups = get(&client, &format!("{TRACKS}groups"))["groups"].clone();
        assert_eq!(groups[0]["name"], "Art");
        assert_eq!(groups[1]["tracks"].as_array().unwrap().len(), 3);

        let id = at_t["id"].as_str().unwrap();
        client.delete(&format!("{TRACKS}{id}")).expect(204);
        client.delete(&format!("{TRACKS}{id}")).expect(404);
        assert_eq!(get(&client, TRACKS)["subjectTrack"].as_array().unwrap().len(), 3);
    });
}

#[test]
fn a_track_to_an_unknown_course_is_refused() {
    both(|server| {
        let client = server.client();
        schools(&client);
        for (body, place) in [
            (json!({"grade": "3", "courseId": "math"}), "subject"),
            (json!({"subject": " ", "grade": "3", "courseId": "math"}), "subject"),
            (json!({"subject": "Math", "courseId": "math"}), "grade"),
            (json!({"subject": "Math", "grade": 3.5, "courseId": "math"}), "grade"),
            (json!({"subject": "Math", "grade": "3", "courseId": "none"}), "courseId"),
            (
                json!({"subject": "Math", "grade": "3", "courseId": "math", "orgSourcedId": "x"}),
                "orgSourcedId",
            ),
        ] {
            let refused = client.put(TRACKS).json(&body).expect(422).json::<Value>();
            assert_eq!(refused["imsx_error_details"][0]["path"], place, "{body}: {refused}");
        }
        client.put(TRACKS).body("application/json", "").expect(422);
        assert_eq!(get(&client, TRACKS)["subjectTrack"], json!([]));
    });
}

#[test]
fn tracks_enroll_by_subject_and_grade() {
    both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &["3"], "s");
        user(&client, "bob", "student", &["04"], "s");
        user(&client, "tom", "teacher", &["03"], "s");
        let third = json!({"subject": "Math", "grade": "3", "courseId": "math"});
        put(&client, &third, 201);
        // Existing students are enrolled immediately, as the OneRoster records show.
        let listed = get(&client, &format!("{ROSTERING}/enrollments?filter=user.sourcedId='ann'"));
        assert_eq!(listed["totalCount"], 1);
        let none = Vec::<String>::new();
        assert_eq!(courses(&client, "ann"), ["math"]);
        assert_eq!(enrollments(&client, "ann")[0]["role"], "student");
        assert_eq!(
            (courses(&client, "bob"), courses(&client, "tom")),
            (none.clone(), none.clone())
        );

        // Students are also enrolled when they are added or enter the grade.
        let listed = |id: &str| {
            let filter = format!("{ROSTERING}/enrollments?filter=user.sourcedId='{id}'");
            get(&client, &filter)["totalCount"].clone()
        };
        user(&client, "cat", "student", &["03"], "t");
        assert_eq!(listed("cat"), 1, "nobody has read anything through the bridge");
        user(&client, "eva", "student", &["05"], "t");
        assert_eq!(listed("eva"), 0);
        let moved = json!({"user": {"sourcedId": "eva", "enabledUser": true, "givenName": "eva",
            "familyName": "X", "grades": ["3"],
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "t"}}]}});
        client.put(&format!("{ROSTERING}/users/eva")).json(&moved).expect(200);
        assert_eq!(listed("eva"), 1);
        let line = json!({"sourcedId": "flo", "enabledUser": true, "givenName": "F", "familyName": "L",
            "grades": ["03"],
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]});
        let bulk = format!("{ROSTERING}/users/bulk");
        client.post(&bulk).body("application/x-ndjson", line.to_string()).expect(200);
        assert_eq!(listed("flo"), 1);
        assert_eq!(courses(&client, "cat"), ["math"]);
        assert_eq!(enrollments(&client, "cat")[0]["school"]["id"], "t", "at the student's school");
        let grade = json!({"user": {"grades": ["3"]}});
        client.patch(&format!("{ROSTERING}/users/bob")).json(&grade).expect(200);
        assert_eq!(listed("bob"), 1);
        assert_eq!(courses(&client, "bob"), ["math"]);

        // Unenrolled students stay unenrolled, even if the same track is stored again.
        client.delete("/bridge/enrollments/unenroll/ann/math").expect(204);
        put(&client, &third, 200);
        assert_eq!(courses(&client, "ann"), none);
        // A new course of the track enrolls students, and they keep the previous course.
        put(&client, &json!({"subject": "Math", "grade": "3", "courseId": "art"}), 200);
        assert_eq!(courses(&client, "ann"), ["art"]);
        assert_eq!(courses(&client, "cat"), ["math", "art"]);
    });
}

/// Nobody reads or changes the student's enrollments through the bridge here.
#[test]
fn due_enrollments_are_created_without_a_request() {
    let mut setup = Setup::default();
    setup.config.roster.settle_interval_s = 1;
    both_as(&setup, |server| {
        let client = server.client();
        schools(&client);
        put(&client, &json!({"subject": "Math", "grade": "3", "courseId": "math"}), 201);
        user(&client, "ann", "student", &["3"], "s");
        let expected = format!("{ROSTERING}/enrollments?filter=user.sourcedId='ann'");
        let since = Instant::now();
        while get(&client, &expected)["totalCount"] != 1 {
            assert!(since.elapsed() < Duration::from_mins(1), "ann was never enrolled");
            sleep(Duration::from_millis(50));
        }
        assert_eq!(courses(&client, "ann"), ["math"]);
    });
}

#[test]
fn a_track_reaches_more_students_than_one_page_holds() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let many = 600;
        let lines: Vec<String> = (0..many)
            .map(|n| {
                json!({"sourcedId": format!("u{n}"), "enabledUser": true, "givenName": "G",
                    "familyName": "F", "grades": ["03"],
                    "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]})
                .to_string()
            })
            .collect();
        let bulk = format!("{ROSTERING}/users/bulk");
        client.post(&bulk).body("application/x-ndjson", lines.join("\n")).expect(200);
        put(&client, &json!({"subject": "Math", "grade": "3", "courseId": "math"}), 201);
        let listed = get(&client, &format!("{ROSTERING}/enrollments?limit=1"));
        assert_eq!(listed["totalCount"], many);
    });
}

#[test]
fn users_are_listed_by_role_and_organization() {
    both(|server| {
        let client = server.client();
        schools(&client);
        for (id, org) in [("ann", "s"), ("bob", "s"), ("cat", "t")] {
            user(&client, id, "student", &["03"], org);
        }
        user(&client, "tom", "teacher", &[], "t");
        let both_roles = json!({"user": {
            "sourcedId": "eve", "enabledUser": true, "givenName": "Eve", "familyName": "Y",
            "email": "eve@example.org", "primaryOrg": {"sourcedId": "t"},
            "userProfiles": [{"profileId": "urn:p", "profileType": "login", "vendorId": "v",
                "applicationId": "rivers", "credentials": [{"type": "password", "username": "eve"}]}],
            "roles": [
                {"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}},
                {"roleType": "secondary", "role": "teacher", "org": {"sourcedId": "t"}},
            ],
        }});
        post(&client, &format!("{ROSTERING}/users"), &both_roles, 201);
        let ids = |query: &str| -> Vec<String> {
            let page = get(&client, &format!("/bridge/users/?{query}"));
            let users = page["users"].as_array().unwrap().iter();
            users.map(|user| user["sourcedId"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(ids("roles=student"), ["ann", "bob", "cat"], "these roles and no others");
        assert_eq!(ids("roles=student&roles=teacher").len(), 5);
        assert_eq!(ids("roles=student,teacher&orgSourcedIds=t"), ["cat", "tom", "eve"]);
        assert_eq!(ids("roles=student&orgSourcedIds=s&orgSourcedIds=t&search=CAT"), ["cat"]);
        assert_eq!(ids("roles=student&filter=givenName='bob'"), ["bob"]);
        assert_eq!(ids("roles=student&sort=givenName&orderBy=desc&limit=2"), ["cat", "bob"]);
        assert_eq!(ids("roles=student&limit=1&offset=1"), ["bob"]);
        assert_eq!(ids("roles=parent"), Vec::<String>::new());
        let page = get(&client, "/bridge/users?roles=student&limit=2");
        assert_eq!((&page["totalCount"], &page["pageCount"]), (&json!(3), &json!(2)));
        let ann = &page["users"][0];
        assert_eq!(ann["grades"], json!(["3"]), "as the bridge's clients read grades");
        assert_eq!((&ann["email"], &ann["agents"]), (&json!(""), &json!([])));
        let all = get(&client, "/bridge/users?roles=student&roles=teacher&fields=givenName");
        let eve = all["users"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(eve["primaryOrg"]["name"], "School t");
        assert_eq!(eve["userProfiles"][0]["app"]["sourcedId"], "rivers");
        assert!(eve["userProfiles"][0]["credentials"][0]["id"].is_string());
        assert_eq!(eve.get("grades"), None, "it was not selected");

        client.get("/bridge/users/").expect(422);
        client.get("/bridge/users/?roles=student&limit=0").expect(422);
        client.get("/bridge/users/?roles=student&filter=no='x'").expect(400);
        client.get("/bridge/users/?roles=student&fields=no").expect(400);
        let bridge = server.client_with(
            &[lyceum_access::Scope::BridgeRead],
            lyceum_core::PayloadDialect::Platform,
        );
        bridge.get("/bridge/users/?roles=student").expect(403);
    });
}
