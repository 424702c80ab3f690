//! Assessment content over HTTP: answers scored, what a learner sees, checks, feedback.

use lyceum_access::Scope;
use lyceum_api::limits::QTI_BODY_MAX_BYTES;
use lyceum_assessment::limits;
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

/// A choice item with a right answer, two feedbacks and a rubric for scorers.
pub(crate) fn choice(identifier: &str, title: &str) -> String {
    format!(
        r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="{identifier}" title="{title}" adaptive="false" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier">
    <qti-correct-response><qti-value>right</qti-value></qti-correct-response>
  </qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-outcome-declaration identifier="FEEDBACK" cardinality="single" base-type="identifier"/>
  <qti-item-body>
    <p>About {title}: the planet Neptune</p>
    <qti-choice-interaction response-identifier="RESPONSE" max-choices="1">
      <qti-prompt>Which?</qti-prompt>
      <qti-simple-choice identifier="right">Eight</qti-simple-choice>
      <qti-simple-choice identifier="wrong">Nine</qti-simple-choice>
    </qti-choice-interaction>
  </qti-item-body>
  <qti-response-processing>
    <qti-response-condition>
      <qti-response-if>
        <qti-match><qti-variable identifier="RESPONSE"/><qti-correct identifier="RESPONSE"/></qti-match>
        <qti-set-outcome-value identifier="SCORE"><qti-base-value base-type="float">1</qti-base-value></qti-set-outcome-value>
        <qti-set-outcome-value identifier="FEEDBACK"><qti-base-value base-type="identifier">CORRECT</qti-base-value></qti-set-outcome-value>
      </qti-response-if>
      <qti-response-else>
        <qti-set-outcome-value identifier="FEEDBACK"><qti-base-value base-type="identifier">INCORRECT</qti-base-value></qti-set-outcome-value>
      </qti-response-else>
    </qti-response-condition>
  </qti-response-processing>
  <qti-modal-feedback outcome-identifier="FEEDBACK" identifier="CORRECT" show-hide="show" title="Yes"><qti-content-body><p>Secret praise</p></qti-content-body></qti-modal-feedback>
  <qti-modal-feedback outcome-identifier="FEEDBACK" identifier="INCORRECT" show-hide="show" title="No"><qti-content-body><p>Secret hint</p></qti-content-body></qti-modal-feedback>
</qti-assessment-item>"#
    )
}

/// Stores a choice item and answers what was answered.
pub(crate) fn stored(client: &TestClient, identifier: &str, title: &str) -> Value {
    let body = json!({"format": "xml", "xml": choice(identifier, title)});
    client.post("/assessment-items").json(&body).expect(201).json()
}

pub(crate) fn get(client: &TestClient, path: &str) -> Value {
    client.get(path).expect(200).json()
}

fn answered(client: &TestClient, path: &str, response: &Value) -> Value {
    let body = json!({"identifier": "RESPONSE", "response": response});
    client.post(path).json(&body).expect(200).json()
}

#[test]
fn answers_are_scored_with_the_current_version_of_an_item() {
    both(|server| {
        let client = server.client();
        stored(&client, "q-1", "Planets");
        let path = "/assessment-items/q-1/process-response";
        let right = answered(&client, path, &json!("right"));
        assert_eq!(right["score"], 1.0);
        assert_eq!(right["feedback"], json!({"identifier": "FEEDBACK", "value": "CORRECT"}));
        assert_eq!(right["feedbacks"][0]["title"], "Yes");
        assert!(right["feedbacks"][0]["content"].as_str().unwrap().contains("Secret praise"));
        let wrong = answered(&client, path, &json!(["wrong"]));
        assert_eq!(
            (&wrong["score"], &wrong["feedback"]["value"]),
            (&json!(0.0), &json!("INCORRECT"))
        );
        assert_eq!(answered(&client, path, &Value::Null)["score"], 0.0);
        assert_eq!(
            answered(&client, "/qti/items/q-1/process-response", &json!("right"))["score"],
            1.0
        );

        // Another version has another key, and the server that scored the former one knows.
        let other = choice("q-1", "Planets").replace("<qti-value>right", "<qti-value>wrong");
        client.put("/assessment-items/q-1").json(&json!({"rawXml": other})).expect(200);
        assert_eq!(answered(&client, path, &json!("right"))["score"], 0.0);
        assert_eq!(answered(&client, path, &json!("wrong"))["score"], 1.0);
        // Deleted and made again: numbers go on, so that nothing remembered is mistaken for it.
        client.delete("/assessment-items/q-1").expect(204);
        client.post(path).json(&json!({"response": "right"})).expect(404);
        assert_eq!(stored(&client, "q-1", "Planets")["version"], 3);
        assert_eq!(answered(&client, path, &json!("right"))["score"], 1.0);
    });
}

#[test]
fn an_answer_of_the_wrong_type_is_refused_with_its_variable() {
    both(|server| {
        let client = server.client();
        stored(&client, "q-1", "Planets");
        let path = "/assessment-items/q-1/process-response";
        for (body, place) in [
            (json!({}), "response"),
            (json!({"response": ["right", "wrong"]}), "response.RESPONSE"),
            (json!({"response": "no-choice"}), "response.RESPONSE"),
            (json!({"responses": {"OTHER": "right"}}), "response.OTHER"),
            (json!({"responses": "right"}), "responses"),
            (json!({"response": "right", "seed": -1}), "seed"),
            (json!({"response": "right", "identifier": "RESPONSES"}), "identifier"),
            (json!({"response": "right", "identifier": 5}), "identifier"),
        ] {
            let refused: Value = client.post(path).json(&body).expect(422).json();
            assert_eq!(refused["details"][0]["path"], place, "{body}: {refused}");
        }
        let refused: Value =
            client.post(path).body("application/json", "{\n  nothing").expect(400).json();
        assert_eq!(
            (&refused["details"][0]["line"], &refused["error"]),
            (&json!(2), &json!("Bad Request"))
        );
        client
            .post("/assessment-items/none/process-response")
            .json(&json!({"response": "x"}))
            .expect(404);
    });
}

#[test]
fn choices_are_shown_in_the_order_of_the_seed() {
    both(|server| {
        let client = server.client();
        let names = ["one", "two", "three"];
        let choices = names
            .map(|name| {
                format!("<qti-simple-choice identifier=\"{name}\">{name}</qti-simple-choice>")
            })
            .concat();
        let key = names.map(|name| format!("<qti-value>{name}</qti-value>")).concat();
        let xml = format!(
            "<qti-assessment-item xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\" identifier=\"o-1\" \
             title=\"t\" time-dependent=\"false\"><qti-response-declaration identifier=\"RESPONSE\" \
             cardinality=\"ordered\" base-type=\"identifier\"><qti-correct-response>{key}</qti-correct-response>\
             </qti-response-declaration><qti-item-body><qti-order-interaction response-identifier=\"RESPONSE\" \
             shuffle=\"true\">{choices}</qti-order-interaction></qti-item-body></qti-assessment-item>"
        );
        client.post("/assessment-items").json(&json!({"xml": xml})).expect(201);
        let shown = |seed: &str| -> Vec<String> {
            let path = format!("/assessment-items/o-1/candidate{seed}");
            let view: Value = client.get(&path).expect(200).json();
            let view = view["rawXml"].as_str().unwrap().to_owned();
            let rest = view.split("<qti-simple-choice identifier=\"").skip(1);
            rest.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
        };
        let orders: Vec<_> = (0..12).map(|seed| shown(&format!("?seed={seed}"))).collect();
        assert!(orders.iter().all(|order| order.len() == 3 && *order != names), "{orders:?}");
        assert!(orders.iter().any(|order| *order != orders[0]), "{orders:?}");
        assert_eq!(shown("?seed=5"), orders[5]);
        assert_eq!(shown(""), orders[0], "without a seed it is 0");
    });
}

#[test]
fn an_invalid_answer_is_scored_and_an_essay_waits_for_a_person() {
    both(|server| {
        let client = server.client();
        let xml = choice("q-1", "Planets").replace("max-choices", "min-choices=\"1\" max-choices");
        client.post("/assessment-items").json(&json!({"xml": xml})).expect(201);
        let path = "/assessment-items/q-1/process-response";
        let none = answered(&client, path, &Value::Null);
        assert_eq!((&none["score"], &none["isValid"]), (&json!(0.0), &json!(false)), "{none}");
        assert_eq!(none["faults"][0]["identifier"], "RESPONSE");
        let right = answered(&client, path, &json!("right"));
        assert_eq!((&right["isValid"], &right["maxScore"]), (&json!(true), &json!(1.0)));
        assert_eq!(right["needsManualScoring"], false);
        let essay = json!({
            "identifier": "e-1", "title": "Essay", "type": "extended-text",
            "interaction": {"type": "extended-text", "responseIdentifier": "RESPONSE", "questionStructure": {"prompt": "Why?"}},
        });
        client.post("/assessment-items").json(&essay).expect(201);
        let response =
            answered(&client, "/assessment-items/e-1/process-response", &json!("Because"));
        assert_eq!(response["needsManualScoring"], true, "{response}");
    });
}

#[test]
fn a_learner_needs_no_scope_and_sees_no_correct_answers() {
    both(|server| {
        stored(&server.client(), "q-1", "Planets");
        let learner = server.client_with(&[Scope::AdaptiveRead], PayloadDialect::Platform);
        let shown = get(&learner, "/assessment-items/q-1/candidate");
        let xml = shown["rawXml"].as_str().unwrap();
        assert_eq!(shown["rawXml"], shown["qtiXml"]);
        assert!(xml.contains("Eight") && xml.contains("qti-choice-interaction"), "{xml}");
        for secret in ["correct-response", "response-processing", "Secret", "qti-match"] {
            assert!(!shown.to_string().contains(secret), "{secret}: {xml}");
        }
        learner.get("/assessment-items/q-1").expect(403);
        learner.get("/assessment-items").expect(403);
        learner.get("/assessment-items/q-1/versions/1").expect(403);
        let story = json!({"identifier": "story", "title": "Story", "content": "<p>Once</p>"});
        server.client().post("/stimuli").json(&story).expect(201);
        assert_eq!(get(&learner, "/stimuli/story")["title"], "Story");
        learner.get("/stimuli").expect(403);
        learner.get("/assessment-items/none/candidate").expect(404);
        learner.get("/assessment-items/q-1/candidate?seed=x").expect(422);
        // A reader of a question does not see the right answer.
        let answer = json!({"response": "right"});
        learner.post("/assessment-items/q-1/process-response").json(&answer).expect(403);
    });
}

#[test]
fn documents_are_checked_and_not_stored() {
    both(|server| {
        let client = server.client();
        let check =
            |body: Value| -> Value { client.post("/validate").json(&body).expect(200).json() };
        let good =
            check(json!({"schema": "item", "xml": choice("q-1", "Planets"), "entityId": "mine"}));
        assert_eq!((&good["success"], &good["entityId"]), (&json!(true), &json!("mine")));
        assert_eq!(good["validationErrors"], json!([]));
        assert_eq!(get(&client, "/assessment-items")["total"], 0);

        let bad = choice("q-1", "Planets").replace("max-choices=\"1\"", "max-choices=\"many\"");
        let bad = check(json!({"schema": "item", "xml": bad}));
        assert_eq!((&bad["success"], &bad["entityId"]), (&json!(false), &json!("q-1")));
        assert_eq!(bad["faults"][0]["line"], 9, "{bad}");
        assert!(bad["validationErrors"][0].as_str().unwrap().contains("line 9"), "{bad}");
        let broken = check(json!({"schema": "item", "xml": "<a>\n<b></a>", "entityId": "x"}));
        assert_eq!((&broken["success"], &broken["faults"][0]["line"]), (&json!(false), &json!(2)));
        let other = check(json!({"schema": "test", "xml": choice("q-1", "Planets")}));
        assert_eq!(other["success"], false);

        stored(&client, "q-2", "Moons");
        let there = check(json!({"schema": "item", "entityId": "q-2"}));
        assert_eq!(there["success"], true);
        assert!(there["xmlContent"].as_str().unwrap().contains("Moons"));

        let body =
            json!({"schema": "item", "xml": [choice("a", "A"), "<x/>"], "entityIds": ["1", "2"]});
        let both: Value = client.post("/validate/batch").json(&body).expect(200).json();
        let found: Vec<_> = both["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| (&r["entityId"], &r["success"]))
            .collect();
        assert_eq!(found, [(&json!("1"), &json!(true)), (&json!("2"), &json!(false))]);
        for (path, body, place) in [
            ("/validate", json!({"schema": "items", "xml": "<a/>"}), "schema"),
            ("/validate", json!({"schema": "item"}), "xml"),
            ("/validate/batch", json!({"schema": "item", "xml": "<a/>"}), "xml"),
            (
                "/validate/batch",
                json!({"schema": "item", "xml": [], "entityIds": ["1"]}),
                "entityIds",
            ),
        ] {
            let refused: Value = client.post(path).json(&body).expect(422).json();
            assert_eq!(refused["details"][0]["path"], place, "{body}: {refused}");
        }
        client.post("/validate").json(&json!({"schema": "item", "entityId": "none"})).expect(404);
    });
}

#[test]
fn feedback_is_kept_and_read_after_a_restart() {
    both(|server| {
        let client = server.client();
        let say =
            |path: &str, body: Value| -> Value { client.post(path).json(&body).expect(201).json() };
        let about = |text: &str| json!({"userId": "ann", "lessonId": "l/1", "feedback": text});
        let first = say("/lesson", about("too long"));
        assert_eq!((&first["type"], &first["lessonId"]), (&json!("LESSON"), &json!("l/1")));
        let mut question = about("unclear");
        question["questionId"] = json!("q-1");
        question["humanApproved"] = json!(true);
        let second = say("/question", question);
        assert_eq!((&second["type"], &second["questionId"]), (&json!("QUESTION"), &json!("q-1")));
        say("/lesson", json!({"userId": "bob", "lessonId": "l-2", "feedback": "fine"}));

        server.restart();
        let client = server.client();
        let read = get(&client, "/lesson/l%2F1");
        assert_eq!(read["id"], first["id"], "the newest on the lesson itself");
        assert_eq!(read["all"], json!([second, first]));
        assert_eq!(read["all"][0]["humanApproved"], true);

        // One goes by its id, all of a lesson by the lesson's.
        let id = first["id"].as_str().unwrap();
        client.delete(&format!("/{id}")).expect(200);
        assert_eq!(get(&client, "/qti/lesson/l%2F1")["id"], second["id"]);
        client.delete("/qti/l%2F1").expect(200);
        client.get("/lesson/l%2F1").expect(404);
        client.delete("/l%2F1").expect(404);
        assert_eq!(get(&client, "/lesson/l-2")["feedback"], "fine");

        for (body, place) in [
            (json!({"lessonId": "l", "feedback": "x"}), "userId"),
            (json!({"userId": "u", "feedback": "x"}), "lessonId"),
            (json!({"userId": "u", "lessonId": "l"}), "feedback"),
            (
                json!({"userId": "u", "lessonId": "l", "feedback": "x", "humanApproved": 1}),
                "humanApproved",
            ),
            (json!({"userId": "u", "lessonId": "l", "feedback": "x".repeat(65_537)}), "feedback"),
        ] {
            let refused: Value = client.post("/question").json(&body).expect(422).json();
            assert_eq!(refused["details"][0]["path"], place, "{refused}");
        }
        client
            .post("/lesson")
            .json(&json!({"userId": "u", "lessonId": "l", "feedback": "x".repeat(65_536)}))
            .expect(201);
    });
}

#[test]
fn documents_above_their_limits_are_refused() {
    both(|server| {
        let client = server.client();
        let batch = |count: usize, status: u16| {
            let body = json!({"schema": "item", "xml": vec!["<x/>"; count]});
            client.post("/validate/batch").json(&body).expect(status).json::<Value>()
        };
        let most = limits::QTI_BATCH_MAX_COUNT;
        assert_eq!(batch(most, 200)["results"].as_array().unwrap().len(), most);
        assert!(batch(most + 1, 422)["message"].as_str().unwrap().contains("1000"));

        let longest = "i".repeat(limits::QTI_IDENTIFIER_MAX_CHARS);
        stored(&client, &longest, "Long");
        let longer = json!({"xml": choice(&format!("{longest}i"), "Longer")});
        client.post("/assessment-items").json(&longer).expect(422);

        let body = vec![b' '; QTI_BODY_MAX_BYTES];
        client.post("/validate").body("application/json", body.clone()).expect(400);
        client.post("/validate").body("application/json", [body, vec![b' ']].concat()).expect(413);

        for number in 0..=limits::FEEDBACK_SHOWN_COUNT {
            let feedback =
                json!({"userId": "ann", "lessonId": "l", "feedback": number.to_string()});
            client.post("/lesson").json(&feedback).expect(201);
        }
        let read = get(&client, "/lesson/l");
        assert_eq!(read["feedback"], limits::FEEDBACK_SHOWN_COUNT.to_string());
        assert_eq!(read["all"].as_array().unwrap().len(), limits::FEEDBACK_SHOWN_COUNT);
    });
}

#[test]
fn a_token_with_only_lesson_scopes_cannot_learn_correct_answers() {
    both(|server| {
        let client = server.client();
        stored(&client, "q-secret", "Q");
        let lessons = server
            .client_with(&[Scope::AdaptiveRead, Scope::AdaptiveWrite], PayloadDialect::Platform);
        let reader = server.client_with(&[Scope::QtiRead], PayloadDialect::Platform);
        let answer = json!({"identifier": "RESPONSE", "response": "right"});
        for base in ["/assessment-items", "/qti/items", "/items"] {
            let path = format!("{base}/q-secret/process-response");
            lessons.post(&path).json(&answer).expect(403);
            let scored: Value = reader.post(&path).json(&answer).expect(200).json();
            assert_eq!(scored["score"].as_f64(), Some(1.0), "{scored}");
        }
        lessons.get("/assessment-items/q-secret").expect(403);
        let shown = lessons.get("/assessment-items/q-secret/candidate").expect(200).text();
        assert!(!shown.contains("correct-response"), "{shown}");
    });
}
