//! The examples of the API document, sent to a new server; and what lists answer to a wrong `limit`.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_access::{NewClient, Scopes};
use lyceum_api::examples;
use lyceum_core::PayloadDialect;
use lyceum_core::text::segment;
use lyceum_roster::kinds;
use lyceum_server::routes;
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Map, Value};
use ureq::http::Method;

use crate::game_tokens::player;

/// The operations that the platform's two documents describe, as paths below their area.
const DOCUMENTED: &str = "
    POST /oauth2/token
    GET /health
    POST /ims/oneroster/rostering/v1p2/courses
    GET /ims/oneroster/rostering/v1p2/courses
    POST /ims/oneroster/rostering/v1p2/courses/components
    POST /ims/oneroster/rostering/v1p2/courses/component-resources
    POST /ims/oneroster/rostering/v1p2/enrollments
    GET /ims/oneroster/rostering/v1p2/enrollments
    POST /ims/oneroster/resources/v1p2/resources
    GET /adaptive/getNextQuestion
    PUT /adaptive/updateStudentQuestionResponse
    POST /finalStudentAssessmentResponse
    GET /getAssessmentProgress
    GET /placement/getNextPlacementTest
    GET /adaptive/syllabus/{courseId}
    POST /assessment-items
    GET /assessment-items/{identifier}
    POST /items
    GET /items/{identifier}
    POST /stimuli
    POST /assessment-tests
    GET /assessment-tests/{identifier}
    POST /ims/ob/v3p0/credentials
    POST /ims/ob/v3p0/issue-badge
    POST /badges
    GET /badges/{id}
    POST /assertions
    GET /assertions/{id}
    POST /ims/clr/v2p0/credentials
    POST /clr
    GET /clr/{id}
    PUT /clr/{id}
    GET /clr/{id}/achievements
    POST /bridge/enrollments/enroll/{userId}/{courseId}/{schoolId}
    GET /bridge/enrollments/user/{userId}
    GET /bridge/analytics/enrollment/{enrollmentId}
    GET /bridge/analytics/activity
    GET /bridge/analytics/highestGradeMastered/{studentId}/{subject}
    GET /bridge/subject-track
    GET /ims/case/v1p0/CFDocuments
    GET /ims/case/v1p0/CFPackages/{sourcedId}
    GET /ims/case/v1p0/CFItems/{sourcedId}
    POST /ims/caliper/v1p2/events
    GET /api/users
    GET /api/games
    GET /api/inventory
    GET /api/lms/integrations/{gameId}
    POST /api/lms/setup
    DELETE /api/lms/integrations/{gameId}
    GET /api/lms/verify/{gameId}
    GET /api/lms/config/{gameId}
    POST /api/lms/end-activity
    GET /api/lms/xp/today
    PUT /api/lms/xp/today
    GET /api/lms/xp/total
    GET /api/lms/xp/history
";

fn document() -> Value {
    routes::document("http://localhost:4321")
}

/// All operations: method, path, and the description.
fn operations(document: &Value) -> Vec<(Method, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap();
        methods.iter().map(|(method, it)| (method.to_uppercase().parse().unwrap(), &**path, it))
    });
    all.collect()
}

/// The parameters of an operation, with references followed.
fn parameters<'d>(document: &'d Value, operation: &'d Value) -> Vec<&'d Value> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    let full = |one: &'d Value| match one["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap(),
        None => one,
    };
    all.map(full).collect()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The path with the values of its parameters; the others are the query.
fn filled(path: &str, values: &Map<String, Value>) -> String {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for (name, value) in values {
        let value = segment(&text(value)).to_string();
        let place = format!("{{{name}}}");
        match path.contains(&place) {
            true => path = path.replace(&place, &value),
            false => query.push(format!("{name}={value}")),
        }
    }
    format!("{path}?{}", query.join("&"))
}

/// A server that accepted all examples, and a client of it.
fn with_examples(server: &TestServer) -> TestClient {
    let document = document();
    let operations: BTreeMap<&str, (Method, &str)> = operations(&document)
        .into_iter()
        .map(|(method, path, it)| (it["operationId"].as_str().unwrap(), (method, path)))
        .collect();
    let scopes = Scopes::EVERYTHING;
    let new = NewClient { scopes, dialect: PayloadDialect::Platform, ..NewClient::named("app") };
    let (id, secret) = server.register(&new);
    let client = server.anonymous().with_token(server.token_of(&id, &secret));
    let mut issued = Value::Null;
    for mut example in examples::all() {
        let (method, path) = operations[&*example.operation].clone();
        // The ids of a client and of an issued badge are the server's.
        if example.operation == "getAssertion" {
            example.parameters["id"] = issued.clone();
        }
        if path == "/oauth2/token" {
            let form = [
                ("grant_type", "client_credentials"),
                ("client_id", &id),
                ("client_secret", &secret),
            ];
            server.anonymous().post(path).form(&form).expect(200);
            continue;
        }
        let is_of_player = ["/api/inventory", "/api/lms/end", "/api/lms/xp"];
        let caller = match is_of_player.iter().any(|start| path.starts_with(start)) {
            true => player(server, &client, "ann", "rivers"),
            false => client.clone(),
        };
        let call = caller.call(method, &filled(path, &example.parameters));
        let reply = match &example.body {
            Some(body) => call.json(body).send(),
            None => call.send(),
        };
        assert!((200..300).contains(&reply.status), "{example:?}: {}", reply.text());
        if example.operation == "issueBadge" {
            issued = reply.json::<Value>()["id"].clone();
        }
    }
    client
}

#[test]
fn a_new_server_accepts_every_example() {
    both(|server| drop(with_examples(server)));
}

#[test]
fn documented_operations_and_record_kinds_have_examples_of_known_parameters() {
    let document = document();
    let examples = examples::all();
    let names: BTreeSet<&str> = examples.iter().map(|example| &*example.operation).collect();
    for line in DOCUMENTED.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (method, path) = line.split_once(' ').unwrap();
        let operation = &document["paths"][path][method.to_lowercase()];
        let name = operation["operationId"].as_str().unwrap_or_else(|| panic!("no {line}"));
        let name = name.trim_end_matches(lyceum_http::openapi::SHORT_SUFFIX);
        assert!(names.contains(name), "{line} has no example");
    }
    for kind in kinds::ALL {
        let name = format!("create{}{}", kind.one[..1].to_uppercase(), &kind.one[1..]);
        assert!(names.contains(&*name), "{name} has no example");
    }
    for example in &examples {
        let (_, _, operation) = operations(&document)
            .into_iter()
            .find(|(_, _, it)| it["operationId"] == *example.operation)
            .unwrap_or_else(|| panic!("there is no operation {}", example.operation));
        let shown: BTreeMap<&str, &Value> = parameters(&document, operation)
            .into_iter()
            .filter_map(|one| Some((one["name"].as_str()?, one.get("example")?)))
            .collect();
        let sent: BTreeMap<&str, &Value> =
            example.parameters.iter().map(|(name, value)| (&**name, value)).collect();
        assert_eq!(shown, sent, "{}", example.operation);
    }
}

/// The ids of records of the examples, by the name of the parameter in a path.
const IDS: [(&str, &str); 14] = [
    ("classSourcedId", "maths-a"),
    ("courseSourcedId", "maths"),
    ("schoolSourcedId", "hill"),
    ("termSourcedId", "autumn"),
    ("studentSourcedId", "ann"),
    ("userSourcedId", "ann"),
    ("userId", "ann"),
    ("lineItemSourcedId", "halves-grade"),
    ("gameId", "rivers"),
    ("identifier", "half"),
    ("part", "p"),
    ("section", "s"),
    ("teacherSourcedId", "ann"),
    ("slug", "rivers"),
];

#[test]
fn each_list_refuses_a_wrong_limit_with_the_same_status() {
    both(|server| {
        let (client, document) = (with_examples(server), document());
        let mut count = 0;
        for (method, path, operation) in operations(&document) {
            let parameters = parameters(&document, operation);
            // Only administrators list accounts.
            if !parameters.iter().any(|one| one["name"] == "limit") || path == "/api/people" {
                continue;
            }
            let mut values = Map::from_iter([("limit".to_owned(), "x".into())]);
            // Missing ones would be reported first.
            let is_needed = |one: &&&Value| {
                one["required"] == true || one["name"] == "gameId" || one["name"] == "roles"
            };
            for one in parameters.iter().filter(is_needed) {
                let name = text(&one["name"]);
                let known = IDS.iter().find(|(known, _)| *known == name);
                values.insert(name, known.map_or("none", |(_, id)| id).into());
            }
            if path.starts_with("/assessment-tests") {
                values.insert("identifier".into(), "halves-test".into());
            }
            let reply: Reply = client.call(method, &filled(path, &values)).send();
            assert_eq!(reply.status, 422, "{path}: {}", reply.text());
            assert!(reply.text().contains("limit"), "{path}: {}", reply.text());
            count += 1;
        }
        assert!(count > 120, "{count} lists");
    });
}
