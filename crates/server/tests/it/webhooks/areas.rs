//! The topics: every kind of record has its topics, and each other area announces what it does.

use std::collections::BTreeSet;

use lyceum_api::Route;
use lyceum_roster::kind::Service;
use lyceum_server::routes;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::receiver::Receiver;
use lyceum_testserver::server::both_as;
use lyceum_webhooks::topics;
use serde_json::{Value, json};

use super::{PATIENCE, create, filter, setup};
use crate::{badges, lessons, projects};

#[test]
fn every_kind_of_record_has_topics() {
    let names: BTreeSet<String> = topics::names().collect();
    for kind in lyceum_roster::kinds::ALL {
        for action in ["created", "updated", "deleted"] {
            let topic = format!("{}.{action}", kind.one);
            assert!(names.contains(&topic), "{topic}");
        }
    }
}

/// A webhook gives its owner what the routes of the API give, with the same scopes.
#[test]
fn a_topic_has_the_scopes_of_the_route_that_reads_its_object() {
    let areas = routes::all();
    let scopes = |path: &str| {
        let reads = |base: &str, route: &Route| {
            route.method == "GET" && format!("{base}{}", route.path) == path
        };
        let mut routes =
            areas.iter().flat_map(|area| area.routes.iter().map(|one| (area.base, one)));
        let found = routes.find(|(base, route)| reads(base, route));
        found.unwrap_or_else(|| panic!("no route reads {path}")).1.access.scopes()
    };
    for group in topics::TOPICS {
        let path = match group.subject {
            "caliper" => "/caliper/events/{externalId}".to_owned(),
            "attempt" => "/adaptive/getAttempts".to_owned(),
            "badge" => "/ims/ob/v3p0/assertions/{id}".to_owned(),
            "deployment" => "/api/projects/{slug}/deployments/{version}".to_owned(),
            record => {
                let kind = lyceum_roster::kinds::by_name(record).unwrap();
                let service = match kind.service {
                    Service::Rostering => "rostering",
                    Service::Gradebook => "gradebook",
                    Service::Resources => "resources",
                };
                format!("/ims/oneroster/{service}/v1p2/{}/{{sourcedId}}", kind.path)
            }
        };
        let of_topic = group.scopes.iter().copied().collect();
        assert_eq!(scopes(&path), Some(of_topic), "{}: {path}", group.subject);
    }
}

#[test]
fn attempts_results_badges_and_deployments_are_announced() {
    both_as(&setup(), |server| {
        let receiver = Receiver::start(|_| 200);
        let client = server.client();
        let webhook = create(&client, &receiver.url("/"), &json!({}));
        filter(
            &client,
            &webhook,
            ("$type", "regexp", "^(attempt|badge|deployment|caliper|assessmentResult)"),
        );
        lessons::course(&client);
        complete_a_lesson(&client);
        let credentials = "/ims/ob/v3p0";
        client.post(&format!("{credentials}/credentials/")).json(&badges::definition()).expect(201);
        let mut award = badges::award();
        award["userId"] = "amy".into();
        let issued: Value =
            client.post(&format!("{credentials}/issue-badge/")).json(&award).expect(201).json();
        let badge = issued["id"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let revoke = format!("{credentials}/assertions/{badge}/revoke");
        client.post(&revoke).json(&json!({ "reason": "a mistake" })).expect(200);
        for text in ["one", "two"] {
            projects::deploy_called(&client, "Rivers", text);
        }
        client.post("/api/projects/rivers/rollback").json(&json!({})).expect(200);
        let found = |kind: &str| -> Vec<Value> {
            let messages = receiver.messages().into_iter().map(|message| message.json());
            messages.filter(|message| message["type"] == kind).collect()
        };
        let since = std::time::Instant::now();
        while found("deployment.rolledBack").is_empty() {
            assert!(since.elapsed() < PATIENCE, "{:?}", receiver.messages());
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let attempt = &found("attempt.completed")[0];
        assert_eq!(attempt["object"], "amy/steps/1");
        assert_eq!(
            (&attempt["data"]["student"], &attempt["data"]["score"]),
            (&json!("amy"), &json!(100.0))
        );
        // The same attempt is an event of this server, and a result in the gradebook.
        assert_eq!(found("caliper.event")[0]["data"]["type"], "ActivityEvent");
        assert!(!found("assessmentResult.created").is_empty());
        let of_badge = [found("badge.issued"), found("badge.revoked")].concat();
        assert_eq!(
            of_badge.iter().map(|one| &one["object"]).collect::<Vec<_>>(),
            [&json!(badge); 2]
        );
        assert_eq!(
            of_badge[0]["data"]["credential"]["credentialSubject"]["type"],
            issued["credentialSubject"]["type"]
        );
        assert_eq!(of_badge[1]["data"]["reason"], "a mistake");
        let versions = |kind: &str| {
            found(kind).iter().map(|one| one["data"]["version"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(versions("deployment.created"), [1, 2]);
        assert_eq!(versions("deployment.rolledBack"), [1]);
    });
}

/// Amy answers all questions of a lesson correctly.
pub(super) fn complete_a_lesson(client: &TestClient) {
    let names: Vec<String> = (0..12).map(|number| format!("q{number}")).collect();
    for name in &names {
        lessons::stored_question(client, name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    lessons::lesson(client, "steps", "powerpath-100", &names, 10.0);
    for _ in 0..50 {
        let path = "/powerpath/getNextQuestion?student=amy&lesson=steps";
        let next: Value = client.get(path).expect(200).json();
        if next["finalized"] == true {
            return;
        }
        let answer = json!({
            "student": "amy", "lesson": "steps", "question": next["question"]["id"],
            "responses": { "RESPONSE": "A" },
        });
        client.put("/powerpath/updateStudentQuestionResponse").json(&answer).expect(200);
    }
    panic!("the lesson does not end");
}
