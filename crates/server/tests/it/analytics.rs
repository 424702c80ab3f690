//! Analytics over HTTP: formats, access and refusals. The bridge's tests check the sums.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_core::time::Timestamp;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::enrolling::{post, schools, user};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";

fn prepare(server: &TestServer) {
    let client = server.client();
    let post = |path: &str, body: &Value| {
        client.post(&format!("{ROSTERING}/{path}")).json(body).expect(201);
    };
    post("orgs", &json!({"org": {"sourcedId": "s", "name": "School", "type": "school"}}));
    post(
        "users",
        &json!({"user": {
            "sourcedId": "ann", "enabledUser": true, "givenName": "Ann", "familyName": "X",
            "email": "ann@example.org",
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
        }}),
    );
    post(
        "courses",
        &json!({"course": {
            "sourcedId": "c", "title": "Maths", "courseCode": "M", "subjects": ["Math"],
            "org": {"sourcedId": "s"},
        }}),
    );
    post(
        "enrollments",
        &json!({"enrollment": {
            "sourcedId": "e", "role": "student", "user": {"sourcedId": "ann"},
            "course": {"sourcedId": "c"},
        }}),
    );
    let envelope = json!({
        "sensor": "https://app.example.org/s",
        "sendTime": "2026-03-12T12:00:00.000Z",
        "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2",
        "data": [{
            "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "id": "urn:uuid:00000000-0000-4000-8000-000000000001",
            "type": "ActivityEvent", "action": "Completed", "profile": "TimebackProfile",
            "eventTime": "2026-03-11T03:00:00.000Z",
            "actor": {"id": "https://lyceum.example.org/users/ann", "type": "TimebackUser"},
            "object": {
                "id": "https://app.example.org/a/1", "type": "TimebackActivityContext",
                "subject": "Math", "app": {"name": "Abacus"},
            },
            "generated": {
                "id": "https://app.example.org/m/1",
                "type": "TimebackActivityMetricsCollection",
                "items": [{"type": "xpEarned", "value": 7.5}],
            },
        }],
    });
    let now: Timestamp = "2026-03-12T12:00:00Z".parse().unwrap();
    let events = lyceum_events::parse(&envelope.to_string(), now).unwrap().events;
    let taken = server.db().write_blocking(|tx| lyceum_events::append(tx, now, "app", &events));
    assert_eq!(taken.unwrap().len(), 1);
}

#[test]
fn analytics_are_read_by_day_in_both_spellings_of_the_path() {
    both(|server| {
        prepare(server);
        let client = server.client();
        let get = |path: &str| -> Value { client.get(path).expect(200).json() };
        for area in ["/bridge", "/edubridge"] {
            let whole = get(&format!("{area}/analytics/enrollment/e"));
            assert_eq!(whole["enrollmentId"], "e");
            assert_eq!(whole["startDate"], Value::Null);
            let metrics = &whole["facts"]["2026-03-11"]["Math"];
            assert_eq!(metrics["activityMetrics"]["xpEarned"], 7.5);
            assert_eq!(whole["factsByApp"]["Abacus"]["2026-03-11"]["Math"], *metrics);
            let days = "startDate=2026-03-10&endDate=2026-03-10&timezone=America/New_York";
            for who in ["studentId=ann", "email=ANN%40example.org"] {
                let day = get(&format!("{area}/analytics/activity?{who}&{days}"));
                assert_eq!(day["facts"]["2026-03-10"]["Math"], *metrics);
                assert_eq!(day["endDate"], "2026-03-10");
            }
        }
        let week = get("/bridge/analytics/facts/weekly?studentId=ann&weekDate=2026-03-12");
        assert_eq!(week["facts"][0]["activeSeconds"], "0");
        let grades = get("/bridge/analytics/highestGradeMastered/ann/Math");
        assert_eq!(grades["grades"], json!({}));
    });
}

#[test]
fn analytics_need_their_scope_and_explain_errors() {
    both(|server| {
        prepare(server);
        let path = "/bridge/analytics/enrollment/e";
        server.anonymous().get(path).expect(401);
        server.client_with(&[Scope::RosterRead], PayloadDialect::Platform).get(path).expect(403);
        server.client_with(&[Scope::BridgeRead], PayloadDialect::Platform).get(path).expect(200);
        let client = server.client();
        for (path, status) in [
            ("/bridge/analytics/enrollment/none", 404),
            ("/bridge/analytics/enrollment/e?timezone=Nowhere", 422),
            ("/bridge/analytics/enrollment/e?startDate=soon", 422),
            ("/bridge/analytics/activity?studentId=ann", 422),
            ("/bridge/analytics/activity?startDate=2026-01-01&endDate=2026-02-01", 422),
            (
                "/bridge/analytics/activity?studentId=bob&startDate=2026-01-01&endDate=2026-02-01",
                404,
            ),
            ("/bridge/analytics/facts/weekly?studentId=ann", 422),
            ("/bridge/analytics/highestGradeMastered/bob/Math", 404),
        ] {
            let body: Value = client.get(path).expect(status).json();
            assert_eq!(body["imsx_codeMajor"], "failure", "{path}: {body}");
        }
    });
}

/// A student whom events name in several ways counts as one user, and so does an unknown actor.
#[test]
fn a_user_of_an_application_is_counted_once() {
    both(|server| {
        prepare(server);
        let client = server.client();
        let actors = [
            ("https://lyceum.example.org/users/ann", "ann@example.org"),
            ("http://other.example.org/people/7", "Ann@Example.org"),
            ("http://other.example.org/people/8", "nobody@example.org"),
        ];
        for (number, (actor, email)) in (2..).zip(actors) {
            let envelope = json!({
                "sensor": "https://app.example.org/s",
                "sendTime": "2026-03-12T12:00:00.000Z",
                "dataVersion": lyceum_events::CONTEXT,
                "data": [{
                    "@context": lyceum_events::CONTEXT,
                    "id": format!("urn:uuid:00000000-0000-4000-8000-{number:012}"),
                    "type": "ActivityEvent", "action": "Completed", "profile": "TimebackProfile",
                    "eventTime": "2026-03-11T03:00:00.000Z",
                    "actor": {"id": actor, "type": "TimebackUser", "email": email},
                    "object": {
                        "id": "https://app.example.org/a/1", "type": "TimebackActivityContext",
                        "subject": "Math", "app": {"name": "Abacus"},
                    },
                    "generated": {
                        "id": "https://app.example.org/m/1",
                        "type": "TimebackActivityMetricsCollection",
                        "items": [{"type": "xpEarned", "value": 1}],
                    },
                }],
            });
            client.post("/caliper/event").json(&envelope).expect(200);
        }
        let metrics = client.get("/bridge/applicationMetrics/Abacus").expect(200).json::<Value>();
        assert_eq!(metrics["data"]["totalUsers"], 2, "{metrics}");
    });
}

#[test]
fn a_range_that_ends_before_it_starts_is_refused() {
    both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &["03"], "s");
        let path = "/bridge/analytics/activity?studentId=ann";
        for (start, end) in [
            ("2026-01-16", "2026-01-15"),
            ("2026-01-15T08:00:00.001Z", "2026-01-15T08:00:00Z"),
            ("2026-01-16", "2026-01-15T23:59:59.999Z"),
        ] {
            let refused: Value =
                client.get(&format!("{path}&startDate={start}&endDate={end}")).expect(422).json();
            assert_eq!(refused["imsx_error_details"][0]["path"], "endDate", "{refused}");
        }
        client.get(&format!("{path}&startDate=2026-01-15&endDate=2026-01-15")).expect(200);
        client
            .get(&format!("{path}&startDate=2026-01-15T08:00:00Z&endDate=2026-01-15T08:00:00Z"))
            .expect(200);
        // Samoa skipped 30 December 2011.
        client
            .get(&format!("{path}&startDate=2011-12-30&endDate=2011-12-30&timezone=Pacific/Apia"))
            .expect(200);
    });
}

#[test]
fn an_address_that_is_not_the_students_is_refused() {
    both(|server| {
        let client = server.client();
        schools(&client);
        for id in ["ann", "bob", "cat"] {
            let email = (id != "cat").then(|| format!("{id}@example.org"));
            let user = json!({"user": {
                "sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "X", "email": email,
                "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
            }});
            post(&client, &format!("{ROSTERING}/users"), &user, 201);
        }
        for path in [
            "/bridge/analytics/activity?startDate=2026-01-15&endDate=2026-01-16",
            "/bridge/analytics/facts/weekly?weekDate=2026-01-15",
        ] {
            client.get(&format!("{path}&studentId=ann&email=ANN@example.org")).expect(200);
            client.get(&format!("{path}&studentId=cat&email=cat@example.org")).expect(200);
            for (id, email) in
                [("ann", "bob@example.org"), ("ann", "x@example.org"), ("cat", "bob@example.org")]
            {
                let refused: Value =
                    client.get(&format!("{path}&studentId={id}&email={email}")).expect(422).json();
                assert_eq!(refused["imsx_error_details"][0]["path"], "email", "{refused}");
            }
        }
    });
}
