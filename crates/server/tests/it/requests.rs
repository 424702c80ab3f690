//! Refused requests: repeated keys in JSON, and unknown, misspelled or repeated parameters. Notices about what was
//! ignored.

use lyceum_core::PayloadDialect;
use lyceum_http::limits::NOTICE_HEADER_MAX_BYTES;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";

fn send(client: &TestClient, path: &str, body: &str, status: u16) -> String {
    client.post(path).body("application/json", body.as_bytes().to_vec()).expect(status).text()
}

#[test]
fn a_repeated_key_is_refused_in_every_area_with_its_path() {
    both(|server| {
        let client = server.client();
        for (path, body, key) in [
            (
                format!("{ROSTERING}/courses"),
                r#"{"course":{"sourcedId":"c","title":"a","title":"b"}}"#,
                "course.title",
            ),
            (
                format!("{ROSTERING}/courses/structure"),
                r#"{"course":{"sourcedId":"c","title":"a"},"courseStructure":{"subComponents":[{"title":"x","title":"y"}]}}"#,
                "courseStructure.subComponents[0].title",
            ),
            ("/adaptive/createNewAttempt".into(), r#"{"student":"a","student":"b"}"#, "student"),
            ("/bridge/enrollments/enroll/u/c".into(), r#"{"role":"a","role":"b"}"#, "role"),
            (
                "/assessment-items".into(),
                r#"{"identifier":"a","\u0069dentifier":"b"}"#,
                "identifier",
            ),
            ("/badges".into(), r#"{"id":"a","id":"b"}"#, "id"),
            ("/clr".into(), r#"{"credentialSubject":{"id":"a","id":"b"}}"#, "credentialSubject.id"),
            (
                "/ims/case/v1p1/CFPackages".into(),
                r#"{"CFDocument":{},"CFDocument":{}}"#,
                "CFDocument",
            ),
            ("/caliper/event".into(), r#"{"sensor":"a","sensor":"b"}"#, "sensor"),
            (
                "/caliper/event/validate".into(),
                r#"{"data":[{"actor":{},"actor":{}}]}"#,
                "data[0].actor",
            ),
            ("/api/games".into(), r#"{"slug":"a","slug":"b"}"#, "slug"),
        ] {
            let response = send(&client, &path, body, 400);
            assert!(response.contains(&format!("{key}: appears twice")), "{path}: {response}");
        }
        let body = "{\"course\":{\"sourcedId\":\"c\",\"title\":\"a\"}}\n{\"sourcedId\":\"d\",\"title\":\"a\",\"title\":\"b\"}";
        for media in ["application/x-ndjson", "application/json"] {
            let bulk = client.post(&format!("{ROSTERING}/courses/bulk?atomic=false"));
            let response = bulk.body(media, body.as_bytes().to_vec()).expect(200).text();
            let lines: Vec<Value> =
                response.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_ne!(lines[0]["outcome"], "refused", "{response}");
            assert_eq!(lines[1]["outcome"], "refused", "{response}");
            assert!(
                lines[1]["message"].as_str().unwrap().contains("title: appears twice"),
                "{response}"
            );
        }
        client.get(&format!("{ROSTERING}/courses/d")).expect(404);
    });
}

#[test]
fn an_envelope_with_a_repeated_key_is_listed_as_rejected() {
    both(|server| {
        let client = server.client();
        send(&client, "/caliper/event", r#"{"sensor":"https://x.example","sensor":"b"}"#, 400);
        let kept =
            server.db().read_blocking(|tx| lyceum_events::repository::refused(tx, 10)).unwrap();
        assert_eq!(kept.len(), 1);
    });
}

#[test]
fn a_repeated_query_parameter_is_refused() {
    both(|server| {
        let client = server.client();
        let users = format!("{ROSTERING}/users");
        for name in ["limit", "offset", "filter", "sort", "orderBy", "fields", "search", "cursor"] {
            let message = client.get(&format!("{users}?{name}=1&{name}=2")).expect(422).text();
            assert!(message.contains(&format!("{name}: was sent more than once")), "{message}");
        }
        for path in [
            "/assessment-items?limit=5&limit=6",
            "/caliper/events?limit=5&offset=1&limit=6",
            "/ims/case/v1p1/CFDocuments?limit=1&limit=1",
            "/bridge/analytics/activity?email=a@x.org&email=b@x.org",
            "/adaptive/getAttempts?student=a&student=b&lesson=c",
            "/api/games?limit=1&limit=2",
        ] {
            let message = client.get(path).expect(422).text();
            assert!(message.contains("was sent more than once"), "{path}: {message}");
        }
        // The published bridge client repeats these.
        client
            .get("/bridge/users?roles=student&roles=teacher&orgSourcedIds=a&orgSourcedIds=b")
            .expect(200);
    });
}

#[test]
fn a_misspelled_query_parameter_is_refused_with_the_right_name() {
    both(|server| {
        let client = server.client();
        for (path, meant) in [
            (format!("{ROSTERING}/users?fliter=status='active'"), "filter"),
            (format!("{ROSTERING}/users?Limit=5"), "limit"),
            (format!("{ROSTERING}/users?order_by=asc"), "orderBy"),
            (format!("{ROSTERING}/users/u?field=title"), "fields"),
            ("/bridge/analytics/activity?studentid=a".into(), "studentId"),
            ("/assessment-items?querry=x".into(), "query"),
            (format!("{ROSTERING}/users?order=desc"), "orderBy"),
            ("/ims/oneroster/v1p1/users?sortBy=familyName".into(), "sort"),
            ("/ims/ob/v3p0/credentials?user=u".into(), "userId"),
            ("/bridge/analytics/activity?studentId=u&tz=Asia/Taipei".into(), "timezone"),
            ("/caliper/events?email=u@example.org".into(), "actorEmail"),
            ("/adaptive/getAttempts?studentId=a&lesson=c".into(), "student"),
        ] {
            let message = client.get(&path).expect(422).text();
            assert!(message.contains(&format!("did you mean '{meant}'?")), "{path}: {message}");
        }
    });
}

#[test]
fn a_notice_names_each_ignored_parameter() {
    const IGNORED: &str = "is not a parameter of this address and was ignored";
    both(|server| {
        let users = format!("{ROSTERING}/users");
        for dialect in [PayloadDialect::Standard, PayloadDialect::Platform] {
            let client = server.client_with(&[], dialect);
            for (query, names) in [
                ("_=17", vec!["_"]),
                ("utm_source=mail&page=2", vec!["utm_source", "page"]),
                ("x=1&x=2&limit=5", vec!["x"]),
            ] {
                let reply = client.get(&format!("{users}?{query}")).expect(200);
                let texts: Vec<String> =
                    names.iter().map(|name| format!("\"{name}: {IGNORED}\"")).collect();
                assert_eq!(reply.header("x-lyceum-notice"), texts.join(", "), "{query}");
                let warnings: Vec<Value> =
                    names.iter().map(|name| json!({"path": name, "message": IGNORED})).collect();
                let expected = match dialect {
                    // The standard's schema is closed.
                    PayloadDialect::Standard => Value::Null,
                    PayloadDialect::Platform => warnings.into(),
                };
                assert_eq!(reply.json::<Value>()["warnings"], expected, "{query}");
            }
            let reply = client.get(&format!("{users}?limit=5")).expect(200);
            assert!(!reply.headers.contains_key("x-lyceum-notice"));
            assert_eq!(reply.json::<Value>()["warnings"], Value::Null);
        }
        let client = server.client();
        for path in ["/assessment-items", "/assessment-banks", "/caliper/events"] {
            let reply = client.get(&format!("{path}?zzz=1")).expect(200);
            assert_eq!(reply.header("x-lyceum-notice"), format!("\"zzz: {IGNORED}\""));
            assert_eq!(reply.json::<Value>()["warnings"][0]["path"], "zzz", "{path}");
        }
        let reply = client.get("/ims/oneroster/v1p1/users?%C3%A4%22=1").expect(200);
        assert_eq!(reply.header("x-lyceum-notice"), format!("\"%C3%A4\\\": {IGNORED}\""));
        // Proxies and clients have limits for headers.
        let many: Vec<String> = (0..100).map(|n| format!("{}{n}=1", "n".repeat(80))).collect();
        let reply = client.get(&format!("{users}?{}", many.join("&"))).expect(200);
        let header = reply.header("x-lyceum-notice");
        assert!(header.len() < NOTICE_HEADER_MAX_BYTES + 20, "{header}");
        assert!(header.ends_with(" more\""), "{header}");
    });
}

#[test]
fn a_notice_says_that_a_limit_was_lowered() {
    both(|server| {
        let client = server.client();
        let document = server.anonymous().get("/openapi.json").expect(200).json::<Value>();
        for (path, maximum) in [
            ("/ims/oneroster/rostering/v1p2/users", 3000),
            ("/ims/oneroster/v1p1/users", 3000),
            ("/ims/case/v1p1/CFDocuments", 3000),
            ("/assessment-items", 3000),
            ("/caliper/events", 3000),
            ("/ims/ob/v3p0/credentials", 3000),
            ("/ims/ob/v3p0/badges", 3000),
            ("/adaptive/test-assignments/admin", 3000),
            ("/api/games", 100),
        ] {
            let asked = maximum + 1;
            let reply = client.get(&format!("{path}?limit={asked}")).expect(200);
            let notice = format!("\"limit: was lowered from {asked} to the maximum of {maximum}\"");
            assert_eq!(reply.header("x-lyceum-notice"), notice, "{path}");
            let reply = client.get(&format!("{path}?limit={maximum}")).expect(200);
            assert!(!reply.headers.contains_key("x-lyceum-notice"), "{path}");
            let parameters = document["paths"][path]["get"]["parameters"].as_array();
            let resolved = parameters.into_iter().flatten().map(|parameter| {
                let place = parameter["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
                place.map_or(parameter, |place| document.pointer(place).unwrap())
            });
            let limit = resolved.clone().find(|parameter| parameter["name"] == "limit");
            assert_eq!(limit.map(|limit| &limit["schema"]["maximum"]), Some(&json!(maximum)));
        }
    });
}

#[test]
fn a_write_refuses_unknown_parameters() {
    both(|server| {
        let client = server.client();
        let org = json!({"org": {"sourcedId": "s", "name": "S", "type": "school"}});
        let path = format!("{ROSTERING}/orgs");
        let message = client.post(&format!("{path}?dryRun=true")).json(&org).expect(422).text();
        assert!(
            message.contains("dryRun: is not a parameter of this address, which has none"),
            "{message}"
        );
        client.get(&format!("{path}/s")).expect(404);
        client.post(&path).json(&org).expect(201);
        let message = client.delete(&format!("{path}/s?force=true")).expect(422).text();
        assert!(message.contains("it has 'cascade'"), "{message}");
        let message = client.delete(&format!("{path}/s?casscade=true")).expect(422).text();
        assert!(message.contains("did you mean 'cascade'?"), "{message}");
        client.get(&format!("{path}/s")).expect(200);
        client.delete(&format!("{path}/s?cascade=true")).expect(204);
    });
}

#[test]
fn the_standard_answers_every_put_in_the_gradebook_with_201() {
    both(|server| {
        for (dialect, again) in [(PayloadDialect::Standard, 201), (PayloadDialect::Platform, 200)] {
            let client = server.client_with(&[], dialect);
            let id = format!("g-{again}");
            let path = format!("{GRADEBOOK}/categories/{id}");
            let body = |title: &str| json!({"category": {"sourcedId": id, "title": title}});
            client.put(&path).json(&body("Tests")).expect(201);
            client.put(&path).json(&body("Tests")).expect(again);
            let reply = client.put(&path).json(&body("Quizzes")).expect(again);
            assert_eq!(reply.body.is_empty(), dialect == PayloadDialect::Standard);
        }
    });
}
