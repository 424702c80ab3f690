//! The rules of envelopes: each case changes one thing in a good one and names the place of the
//! fault.

use std::collections::BTreeMap;

use lyceum_core::ProblemKind;
use lyceum_core::random::RandomStream;
use lyceum_events::{CONTEXT, parse};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::AFTER_ALL;

/// An envelope with an activity, time spent and an event of a standard profile.
pub(crate) fn good() -> Value {
    let actor = json!({
        "id": "https://lyceum.example.org/ims/oneroster/rostering/v1p2/users/u-1",
        "type": "TimebackUser",
        "email": "ada@example.org",
    });
    let object = json!({
        "id": "https://app.example.org/activities/math/g3/fractions",
        "type": "TimebackActivityContext",
        "subject": "Math",
        "app": {"name": "Fractions"},
        "course": {"id": "https://lyceum.example.org/courses/c-1", "name": "Math 3"},
        "activity": {"name": "Halves"},
    });
    json!({
        "sensor": "https://app.example.org/sensors/1",
        "sendTime": "2026-01-15T09:00:00.000Z",
        "dataVersion": CONTEXT,
        "data": [
            {
                "@context": CONTEXT,
                "id": "urn:uuid:7e10e4f3-a0d8-4430-95bd-783ffae4d916",
                "type": "ActivityEvent",
                "profile": "TimebackProfile",
                "actor": actor,
                "action": "Completed",
                "object": object,
                "eventTime": "2026-01-15T08:00:00.123456Z",
                "generated": {
                    "id": "urn:uuid:8e10e4f3-a0d8-4430-95bd-783ffae4d916",
                    "type": "TimebackActivityMetricsCollection",
                    "attempt": 1,
                    "items": [
                        {"type": "xpEarned", "value": 12.5},
                        {"type": "totalQuestions", "value": 10},
                        {"type": "correctQuestions", "value": 9},
                        {"type": "masteredUnits", "value": 1},
                    ],
                },
                "extensions": {"courseId": "c-1"},
            },
            {
                "@context": [CONTEXT],
                "id": "urn:uuid:9e10e4f3-a0d8-4430-95bd-783ffae4d916",
                "type": "TimeSpentEvent",
                "profile": "ServiceProfile",
                "actor": {"id": "urn:uuid:u-1", "type": "ServiceUser"},
                "action": "SpentTime",
                "object": {
                    "id": "https://app.example.org/activities/1",
                    "type": "ServiceActivityContext",
                    "subject": "Reading",
                    "app": {"name": "Stories"},
                },
                "eventTime": "2026-01-15T08:00:00Z",
                "generated": {
                    "id": "urn:uuid:ae10e4f3-a0d8-4430-95bd-783ffae4d916",
                    "type": "ServiceTimeSpentMetricsCollection",
                    "items": [
                        {"type": "active", "value": 1800, "start_date": "2026-01-15T07:30:00Z"},
                        {"type": "anti-pattern", "value": 30, "subType": "rushing"},
                    ],
                },
            },
            {
                "@context": CONTEXT,
                "id": "urn:uuid:be10e4f3-a0d8-4430-95bd-783ffae4d916",
                "type": "AssessmentItemEvent",
                "profile": "AssessmentProfile",
                "actor": "https://example.org/users/1",
                "action": "Completed",
                "object": {
                    "id": "https://example.org/items/1",
                    "type": "AssessmentItem",
                    "isPartOf": {"id": "https://example.org/tests/1", "type": "Assessment"},
                    "maxScore": 15,
                    "dateCreated": "2026-01-01T00:00:00.000Z",
                },
                "generated": {
                    "id": "https://example.org/responses/1",
                    "type": "FillinBlankResponse",
                    "attempt": "https://example.org/attempts/1",
                    "duration": "PT5M30.5S",
                    "values": ["one", "two"],
                },
                "eventTime": "2026-01-15T08:00:00.000Z",
            },
        ],
    })
}

/// Pointer, what stands there instead (none: nothing), and the place that the fault must name.
fn cases() -> Vec<(&'static str, Option<Value>, &'static str)> {
    let gone = |at, path| (at, None, path);
    let with = |at, value, path| (at, Some(value), path);
    vec![
        gone("/sensor", "sensor"),
        with("/sensor", json!("not an iri"), "sensor"),
        with("/sensor", json!(7), "sensor"),
        gone("/sendTime", "sendTime"),
        with("/sendTime", json!("2026-01-15T09:00:00+01:00"), "sendTime"),
        gone("/dataVersion", "dataVersion"),
        gone("/data", "data"),
        with("/data", json!([]), "data"),
        with("/data", json!({}), "data"),
        with("/more", json!(1), "more"),
        with("/data/0", json!(7), "data[0]"),
        with("/data/0/@context", json!("https://example.org"), "data[0].@context"),
        with("/data/0/id", json!("7e10e4f3-a0d8-4430-95bd-783ffae4d916"), "data[0].id"),
        with("/data/0/eventTime", json!("2026-01-15"), "data[0].eventTime"),
        with("/data/0/generated/items/1/value", json!(8), "data[0].generated.items[2].value"),
        with("/data/0/eventTime", json!("2026-02-30T08:00:00Z"), "data[0].eventTime"),
        with("/data/0/eventTime", json!("2026-01-15T08:00:00+01:00"), "data[0].eventTime"),
        with("/data/0/eventTime", json!("2026-01-15T08:00+00:00"), "data[0].eventTime"),
        with("/data/0/action", json!("Started"), "data[0].action"),
        with("/data/0/profile", json!("GeneralProfile"), "data[0].profile"),
        gone("/data/0/profile", "data[0].profile"),
        gone("/data/0/actor", "data[0].actor"),
        with("/data/0/actor/type", json!("Person"), "data[0].actor.type"),
        with("/data/0/actor/email", json!("ada"), "data[0].actor.email"),
        with("/data/0/actor/id", json!("u 1"), "data[0].actor.id"),
        with("/data/0/actor/id", json!("https://example.org/users/a%00b"), "data[0].actor.id"),
        gone("/data/0/object/subject", "data[0].object.subject"),
        with("/data/0/object/subject", json!("Ma\0th"), "data[0].object.subject"),
        gone("/data/0/object/app", "data[0].object.app"),
        gone("/data/0/object/app/name", "data[0].object.app.name"),
        with("/data/0/object/app/name", json!("\0"), "data[0].object.app.name"),
        with("/data/0/object/course", json!({}), "data[0].object.course.name"),
        with("/data/0/object/course/id", json!("c\0"), "data[0].object.course.id"),
        with("/data/0/object/course/id", json!("a:/courses/%00"), "data[0].object.course"),
        with("/data/0/extensions/courseId", json!("c\0"), "data[0].extensions.courseId"),
        with("/data/0/session", json!(5), "data[0].session"),
        with("/data/0/generated/id", json!(5), "data[0].generated.id"),
        with("/data/0/generated/attempt", json!(1.5), "data[0].generated.attempt"),
        with("/data/0/generated/attempt", json!(0), "data[0].generated.attempt"),
        gone("/data/0/generated/items", "data[0].generated.items"),
        with("/data/0/generated/items/1/type", json!("active"), "data[0].generated.items[1].type"),
        with("/data/0/generated/items/1/value", json!(-1), "data[0].generated.items[1].value"),
        with("/data/0/generated/items/2/value", json!("9"), "data[0].generated.items[2].value"),
        with("/data/0/generated/items/0/value", json!(1e10), "data[0].generated.items[0].value"),
        with(
            "/data/1/generated/items/0/start_date",
            json!("yesterday"),
            "data[1].generated.items[0].start_date",
        ),
        with(
            "/data/1/generated/type",
            json!("ServiceActivityMetricsCollection"),
            "data[1].generated.type",
        ),
        with("/data/2/type", json!("ItemEvent"), "data[2].type"),
        gone("/data/2/type", "data[2].type"),
        with("/data/2/action", json!("Deleted"), "data[2].action"),
        with("/data/2/profile", json!("ItemProfile"), "data[2].profile"),
        with("/data/2/actor", Value::Null, "data[2].actor"),
        with("/data/2/actor", json!("Ada"), "data[2].actor"),
        with(
            "/data/2/actor",
            json!({"id": "a:b", "type": "Person", "email": "e".repeat(321)}),
            "data[2].actor.email",
        ),
        with(
            "/data/2",
            json!({"type": "SystemIdentifier", "identifierType": "Other", "identifier": "i".repeat(1025)}),
            "data[2].identifier",
        ),
        with("/data/2/eventTime", json!("2026-01-15T08:00:00+00:00"), "data[2].eventTime"),
        with("/data/2/object/type", json!("Person"), "data[2].object.type"),
        with("/data/2/object/type", json!("Thing"), "data[2].object.type"),
        with("/data/2/object/isPartOf/id", json!(""), "data[2].object.isPartOf.id"),
        with("/data/2/object/maxScore", json!("15"), "data[2].object.maxScore"),
        with("/data/2/object/dateCreated", json!("2026"), "data[2].object.dateCreated"),
        with("/data/2/generated/duration", json!("5 minutes"), "data[2].generated.duration"),
        with("/data/2/generated/duration", json!("PT5S30M"), "data[2].generated.duration"),
        with("/data/2/generated/values/1", json!(2), "data[2].generated.values[1]"),
        with("/data/2/session", json!("here"), "data[2].session"),
        with("/data/2/score", json!(1), "data[2].score"),
    ]
}

#[test]
fn a_good_envelope_is_read() {
    let envelope = parse(&good().to_string(), AFTER_ALL).unwrap();
    assert_eq!(envelope.events.len(), 3);
    let activity = &envelope.events[0];
    assert_eq!(activity.time.to_string(), "2026-01-15T08:00:00.123Z");
    assert_eq!(activity.email, "ada@example.org");
    assert_eq!(activity.context().course, "c-1");
    assert_eq!(envelope.events[2].actor, "https://example.org/users/1");
}

#[test]
fn other_spellings_of_instants_and_json_are_equal() {
    for time in
        ["2026-01-15T08:00:00+00:00", "2026-01-15t08:00:00.000z", "2026-01-15T08:00:00-00:00"]
    {
        let mut envelope = good();
        for pointer in ["/sendTime", "/data/0/eventTime", "/data/1/generated/items/0/start_date"] {
            *envelope.pointer_mut(pointer).unwrap() = time.into();
        }
        envelope["data"][0]["generated"]["attempt"] = json!(2.0);
        let read = parse(&envelope.to_string(), AFTER_ALL).unwrap();
        assert_eq!(read.send_time.to_string(), "2026-01-15T08:00:00.000Z");
        assert_eq!(read.events[0].time, read.send_time);
    }
}

#[test]
fn each_error_has_its_path_in_the_envelope() {
    for (pointer, value, path) in cases() {
        let mut envelope = good();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        let parent = envelope.pointer_mut(parent).unwrap();
        match (parent, value.clone()) {
            (Value::Array(items), Some(value)) => items[member.parse::<usize>().unwrap()] = value,
            (Value::Object(members), Some(value)) => drop(members.insert(member.to_owned(), value)),
            (Value::Object(members), None) => drop(members.remove(member)),
            (other, None) => panic!("nothing to remove in {other}"),
            (other, Some(_)) => panic!("nothing to change in {other}"),
        }
        let Err(problem) = parse(&envelope.to_string(), AFTER_ALL) else {
            panic!("{pointer} = {value:?} was accepted")
        };
        assert_eq!(problem.kind, ProblemKind::Malformed, "{pointer}: {problem}");
        let [fault] = &problem.details[..] else { panic!("{pointer}: {:?}", problem.details) };
        assert_eq!(fault.path, path, "{pointer} = {value:?}: {}", fault.message);
        assert!(
            !fault.message.template().is_empty() && !fault.message.to_string().ends_with('.'),
            "{}",
            fault.message
        );
    }
}

#[test]
fn a_time_more_than_a_day_ahead_is_refused() {
    let now = "2026-01-15T08:00:00Z".parse().unwrap();
    for (pointer, path) in [("/sendTime", "sendTime"), ("/data/1/eventTime", "data[1].eventTime")] {
        let mut envelope = good();
        *envelope.pointer_mut(pointer).unwrap() = "2026-01-16T08:00:00.000Z".into();
        assert!(parse(&envelope.to_string(), now).is_ok(), "{path}");
        *envelope.pointer_mut(pointer).unwrap() = "2026-01-16T08:00:00.001Z".into();
        let problem = parse(&envelope.to_string(), now).unwrap_err();
        let [fault] = &problem.details[..] else { panic!("{:?}", problem.details) };
        assert_eq!(fault.path, path);
        assert_eq!(
            fault.message,
            "must be at most 24 h after the time of the server, 2026-01-15T08:00:00.000Z \
             (got 2026-01-16T08:00:00.001Z); check the clock of the sensor"
        );
    }
}

#[test]
fn negative_experience_is_allowed() {
    let mut envelope = good();
    envelope["data"][0]["generated"]["items"][0]["value"] = json!(-3);
    assert!(parse(&envelope.to_string(), AFTER_ALL).is_ok());
}

#[test]
fn more_correct_answers_than_questions_are_refused_with_both_numbers() {
    let mut envelope = good();
    envelope["data"][0]["generated"]["items"][1]["value"] = json!(1);
    let problem = parse(&envelope.to_string(), AFTER_ALL).unwrap_err();
    assert_eq!(
        problem.details[0].message,
        "must be at most totalQuestions, 1 (got 9); count every question that was asked in \
         totalQuestions"
    );
}

#[test]
fn caliper_1_1_is_accepted_under_the_same_rules() {
    let old = "http://purl.imsglobal.org/ctx/caliper/v1p1";
    let mut envelope: Value =
        serde_json::from_str(&good().to_string().replace(CONTEXT, old)).unwrap();
    // As the published sensors for 1.1 write the time.
    envelope["sendTime"] = json!("2026-01-15T09:00:00.000+0000");
    let read = parse(&envelope.to_string(), AFTER_ALL).unwrap();
    assert_eq!(read.send_time.to_string(), "2026-01-15T09:00:00.000Z");
    envelope["data"][2]["action"] = json!("Viewed");
    assert_eq!(
        parse(&envelope.to_string(), AFTER_ALL).unwrap_err().details[0].path,
        "data[2].action"
    );
}

#[test]
fn another_caliper_version_is_recognised() {
    let mut envelope = good();
    envelope["dataVersion"] = json!("http://purl.imsglobal.org/ctx/caliper/v1p0");
    let problem = parse(&envelope.to_string(), AFTER_ALL).unwrap_err();
    assert_eq!((problem.kind, &*problem.details[0].path), (ProblemKind::Invalid, "dataVersion"));
}

#[test]
fn a_repeated_member_is_an_error() {
    let good = good().to_string();
    let many: Vec<String> = (0..100).map(|number| format!(r#""m{}":1,"#, number % 99)).collect();
    let many = many.concat();
    for (place, added, path) in [
        ("{", r#"{"sensor":"https://other.example.org","#, "sensor"),
        ("{", r#"{"more":[1,{"a":1,"a":1}],"#, "more[1].a"),
        (r#""email":"#, r#""id":"a:b","email":"#, "data[0].actor.id"),
        (
            r#"{"courseId":"#,
            r#"{"list":[1,{"a":1,"b":{},"a":1}],"courseId":"#,
            "data[0].extensions.list[1].a",
        ),
        (r#"{"courseId":"#, &format!(r#"{{{many}"courseId":"#), "data[0].extensions.m0"),
    ] {
        let text = good.replacen(place, added, 1);
        assert_ne!(text, good, "{place}");
        let problem = parse(&text, AFTER_ALL).unwrap_err();
        let [fault] = &problem.details[..] else { panic!("{path}: {:?}", problem.details) };
        assert_eq!(
            (&*fault.path, problem.kind),
            (path, ProblemKind::Malformed),
            "{}",
            fault.message
        );
    }
}

#[test]
fn numbers_that_are_too_large_and_deep_lists_are_errors() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    for value in ["1e999", &deep] {
        for (place, path, message) in [
            (r#"{"courseId":"#, "data[0]", "cannot be read"),
            ("{", "more", "is not a member of an envelope"),
        ] {
            let added = format!(r#"{{"more":{value},{}"#, &place[1..]);
            let text = good().to_string().replacen(place, &added, 1);
            let problem = parse(&text, AFTER_ALL).unwrap_err();
            assert_eq!(problem.details[0].path, path, "{problem}");
            assert!(problem.details[0].message.contains(message), "{problem}");
        }
    }
}

#[test]
fn data_that_is_not_a_list_is_reported_with_the_other_errors() {
    for value in
        [json!(null), json!({ "a": [1] }), json!("event"), json!(1.5), json!(-1), json!(true)]
    {
        let mut envelope = good();
        envelope["data"] = value.clone();
        envelope["sendTime"] = json!("yesterday");
        let problem = parse(&envelope.to_string(), AFTER_ALL).unwrap_err();
        let paths: Vec<&str> = problem.details.iter().map(|detail| &*detail.path).collect();
        assert_eq!(paths, ["sendTime", "data"], "{value}");
        assert_eq!(problem.details[1].message, "must be an array of events");
    }
}

#[test]
fn errors_are_limited_in_number_and_ordered() {
    let mut envelope = good();
    envelope["data"] = json!(vec![json!({"type": "Person"}); 500]);
    let problem = parse(&envelope.to_string(), AFTER_ALL).unwrap_err();
    assert_eq!(problem.details.len(), 100);
    assert_eq!(problem.details[7].path, "data[7].id");
    assert!(problem.message.contains("and 499 more"), "{}", problem.message);
}

#[test]
fn too_many_items_are_one_error() {
    let mut envelope = good();
    envelope["data"] = json!(vec![1; 10_001]);
    let problem = parse(&envelope.to_string(), AFTER_ALL).unwrap_err();
    assert_eq!(problem.details.len(), 1);
    assert_eq!(
        problem.message,
        "data: must have at most 10000 items (got 10001); send several envelopes"
    );
}

/// The parser answers every text, however broken, and what it accepts it accepts again.
#[test]
fn broken_envelopes_never_stop_the_parser() {
    let good = good().to_string();
    let nested = br#"{"data":[[[[{"a":"\u0000"}]]]],"sensor":"a:b","sensor":"a:b"}"#;
    lyceum_testkit::fuzz::run("envelope", &[good.as_bytes(), nested], |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let parsed = parse(text, AFTER_ALL);
        // What is JSON, another reader says, too.
        let is_object = serde_json::from_str::<BTreeMap<String, &RawValue>>(text).is_ok();
        let is_no_object =
            matches!(&parsed, Err(problem) if problem.message.contains("must be a JSON object"));
        // A key that stands twice is told before a fault behind it.
        assert!(if is_object { !is_no_object } else { parsed.is_err() }, "{parsed:?}");
        if let Ok(envelope) = parsed {
            assert_eq!(parse(text, AFTER_ALL).unwrap(), envelope);
        }
    });
    let mut random = RandomStream::seeded(7);
    for _ in 0..200 {
        let cut = usize::try_from(random.below(good.len() as u64)).unwrap();
        if good.is_char_boundary(cut) {
            assert!(parse(&good[..cut], AFTER_ALL).is_err());
        }
    }
}
