//! Records come back as they were sent, whatever is in them.

use lyceum_core::PayloadDialect;
use lyceum_core::time::Timestamp;
use lyceum_roster::kind::{Field, FieldType, Presence, RecordKind};
use lyceum_roster::record::{ModifiedTime, Object, Record};
use lyceum_roster::render::RecordView;
use lyceum_roster::{kinds, repository};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::kit::{BASE, both};

fn value(ty: FieldType) -> BoxedStrategy<Value> {
    let text = || "[ -~\u{e9}\u{4e2d}\t\n\"\\\\]{0,12}".prop_map(Value::from).boxed();
    match ty {
        FieldType::Text | FieldType::Uri | FieldType::Secret => text(),
        FieldType::Flag => {
            prop::sample::select(vec!["true", "false"]).prop_map(Value::from).boxed()
        }
        FieldType::Integer => any::<i32>().prop_map(Value::from).boxed(),
        FieldType::Number => (-1e9..1e9f64).prop_map(Value::from).boxed(),
        FieldType::Date => (1i16..9999, 1u8..=12, 1u8..=28)
            .prop_map(|(y, m, d)| format!("{y:04}-{m:02}-{d:02}").into())
            .boxed(),
        FieldType::Instant => (0i64..4_000_000_000_000)
            .prop_map(|ms| Timestamp::from_milliseconds(ms).to_string().into())
            .boxed(),
        FieldType::Word(words) => prop::sample::select(words.words).prop_map(Value::from).boxed(),
        FieldType::Reference(kind) => {
            target().prop_map(move |id| json!({"sourcedId": id, "type": kind})).boxed()
        }
        FieldType::References(kind) => {
            let one = target().prop_map(move |id| json!({"sourcedId": id, "type": kind}));
            prop::collection::vec(one, 1..4).prop_map(Value::from).boxed()
        }
        FieldType::Texts => prop::collection::vec(text(), 1..4).prop_map(Value::from).boxed(),
        FieldType::Grades => {
            let grades = vec!["PK", "KG", "-1", "0", "03", "3", "13", "IT", "UG", "other"];
            let grades = prop::collection::vec(prop::sample::select(grades), 1..4);
            grades.prop_map(Value::from).boxed()
        }
        FieldType::WordList(words) => {
            prop::collection::vec(prop::sample::select(words.words), 1..3)
                .prop_map(Value::from)
                .boxed()
        }
        FieldType::Objects(fields) => {
            prop::collection::vec(members(fields), 1..3).prop_map(Value::from).boxed()
        }
        FieldType::Json => any::<bool>().prop_map(Value::from).boxed(),
    }
}

fn id() -> impl Strategy<Value = String> {
    "[A-Za-z0-9/:%' \"\\\\\u{e9}-]{1,20}"
}

/// The id in a reference: no record has it, so that rules of what it leads to have nothing to say.
fn target() -> impl Strategy<Value = String> {
    id().prop_map(|id| format!("none {id}"))
}

fn members(fields: &'static [Field]) -> BoxedStrategy<Value> {
    let mut all: BoxedStrategy<Object> = Just(Object::new()).boxed();
    for field in fields.iter().filter(|field| !matches!(field.ty, FieldType::Secret)) {
        let must = matches!(field.presence, Presence::Required | Presence::Derived);
        let one = if must && matches!(field.ty, FieldType::Text) || field.is_title {
            value(field.ty)
                .prop_map(|text| Some(format!("x{}", text.as_str().unwrap()).into()))
                .boxed()
        } else if field.name == "resultValueMin" {
            Just(None).boxed()
        } else if field.name == "endDate" {
            Just(Some(Value::from("9999-12-31"))).boxed()
        } else if must {
            value(field.ty).prop_map(Some).boxed()
        } else {
            prop::option::of(value(field.ty)).boxed()
        };
        all = (all, one)
            .prop_map(move |(mut object, value)| {
                match (value, field.presence) {
                    (Some(value), _) => {
                        object.insert(field.name.into(), value);
                    }
                    (None, Presence::Nullable) => {
                        object.insert(field.name.into(), Value::Null);
                    }
                    (None, Presence::OrElse(value)) => {
                        object.insert(field.name.into(), value.into());
                    }
                    (None, _) => {}
                }
                object
            })
            .boxed();
    }
    all.prop_map(Value::from).boxed()
}

fn record(kind: &'static RecordKind) -> impl Strategy<Value = Object> {
    let free = prop::collection::btree_map("m[a-z]{1,5}", "[ -~]{0,9}", 0..3);
    (id(), members(kind.fields), free, any::<bool>()).prop_map(|(id, value, free, extra)| {
        let Value::Object(mut object) = value else { unreachable!("members make an object") };
        object.insert("sourcedId".into(), id.into());
        object.insert("status".into(), "active".into());
        object.insert("metadata".into(), json!(free));
        if extra {
            object.insert("x-own".into(), json!({"deep": [1, "two", null, 3.5]}));
        }
        object
    })
}

/// The record as its reader sees it, hrefs taken off again.
fn shown(body: &str, extra: Option<&str>) -> Value {
    let view = RecordView { base_url: BASE, dialect: PayloadDialect::Platform, fields: None };
    let mut text = String::new();
    view.render(body, extra, &mut text).unwrap();
    let mut value: Value = serde_json::from_str(&text).expect("what is shown is JSON");
    without_hrefs(&mut value);
    value
}

fn without_hrefs(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(href) = object.remove("href") {
                let id = object["sourcedId"].as_str().unwrap();
                let last = href.as_str().unwrap().rsplit('/').next().unwrap();
                let decoded = percent_decode(last);
                assert_eq!(decoded, id, "the href leads to the record");
            }
            object.values_mut().for_each(without_hrefs);
        }
        Value::Array(items) => items.iter_mut().for_each(without_hrefs),
        _ => {}
    }
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let hex = std::str::from_utf8(&tail[..2]).unwrap();
            bytes.push(u8::from_str_radix(hex, 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn every_kind_round_trips_through_both_stores() {
    both(|db| {
        for kind in kinds::ALL {
            let cases = if lyceum_testkit::full_size() { 500 } else { 40 };
            let config = Config { cases, failure_persistence: None, ..Config::default() };
            TestRunner::new(config)
                .run(&record(kind), |sent| {
                    let now = Timestamp::from_milliseconds(1_768_464_000_000);
                    let record = Record::parse(
                        kind,
                        &sent,
                        PayloadDialect::Platform,
                        ModifiedTime::Now(now),
                    )
                    .map_err(|problem| TestCaseError::fail(format!("{problem:?}")))?;
                    let again =
                        Record::stored(kind, &record.body, record.extra.as_deref()).unwrap();
                    prop_assert_eq!(&again.body, &record.body);
                    prop_assert_eq!(&again.links, &record.links);
                    prop_assert_eq!(&again.columns, &record.columns);
                    // References are another test's; here they would point to nothing.
                    let id = record.sourced_id.clone();
                    db.write_blocking(|tx| {
                        repository::put_all(tx, kind, std::slice::from_ref(&record))
                    })
                    .unwrap();
                    let stored =
                        db.read_blocking(|tx| repository::find(tx, kind, &id)).unwrap().unwrap();
                    let mut expected = Value::Object(sent);
                    expected["dateLastModified"] = now.to_string().into();
                    prop_assert_eq!(shown(&stored.body, stored.extra.as_deref()), expected);
                    Ok(())
                })
                .unwrap_or_else(|error| panic!("{}: {error}", kind.one));
        }
    });
}

#[test]
fn the_standard_dialect_shows_no_extra_member() {
    let sent = json!({
        "sourcedId": "c", "title": "x", "course": {"sourcedId": "c"}, "school": {"sourcedId": "s"},
        "terms": [{"sourcedId": "t"}], "org": {"sourcedId": "s"}, "colour": "red",
    });
    let Value::Object(sent) = sent else { unreachable!("it is one") };
    let now = ModifiedTime::Now(Timestamp::from_milliseconds(0));
    let record = Record::parse(&kinds::CLASS, &sent, PayloadDialect::Platform, now).unwrap();
    let view = RecordView { base_url: BASE, dialect: PayloadDialect::Standard, fields: None };
    let mut text = String::new();
    view.render(&record.body, record.extra.as_deref(), &mut text).unwrap();
    let shown: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(shown.get("org"), None);
    assert_eq!(shown.get("colour"), None);
    assert_eq!(
        shown["course"],
        json!({
            "href": format!("{BASE}/ims/oneroster/rostering/v1p2/courses/c"),
            "sourcedId": "c",
            "type": "course",
        })
    );
}

/// A record that a client of the platform sends, in both dialects.
fn in_both(kind: &'static RecordKind, sent: Value) -> [Value; 2] {
    let Value::Object(sent) = sent else { unreachable!("records are objects") };
    let now = ModifiedTime::Now(Timestamp::from_milliseconds(0));
    let record = Record::parse(kind, &sent, PayloadDialect::Platform, now).unwrap();
    let again = Record::stored(kind, &record.body, record.extra.as_deref()).unwrap();
    assert_eq!((&again.body, &again.extra), (&record.body, &record.extra));
    [PayloadDialect::Platform, PayloadDialect::Standard].map(|dialect| {
        let view = RecordView { base_url: BASE, dialect, fields: None };
        let mut text = String::new();
        view.render(&record.body, record.extra.as_deref(), &mut text).unwrap();
        serde_json::from_str(&text).unwrap()
    })
}

#[test]
fn lists_have_known_members_in_the_standard_dialect_and_all_in_the_platform_dialect() {
    let values = json!([{"itemValueLHS": "A", "itemValueRHS": "4", "value": "top"}]);
    let scale = json!({"sourcedId": "s", "title": "x", "type": "y", "class": {"sourcedId": "c"},
        "scoreScaleValue": values, "colour": "red"});
    let [platform, standard] = in_both(&kinds::SCORE_SCALE, scale);
    assert_eq!(platform["scoreScaleValue"], values);
    assert_eq!(platform["colour"], "red");
    let known = json!([{"itemValueLHS": "A", "itemValueRHS": "4"}]);
    assert_eq!(standard["scoreScaleValue"], known);
    assert_eq!(standard.get("colour"), None);

    let resource =
        json!({"sourcedId": "r", "vendorResourceId": "v", "roles": ["primary", "teacher"]});
    let [platform, standard] = in_both(&kinds::RESOURCE, resource);
    assert_eq!(platform["roles"], json!(["primary", "teacher"]));
    assert_eq!(standard["roles"], json!(["teacher"]));

    let role =
        json!({"roleType": "primary", "role": "student", "org": {"sourcedId": "o"}, "x": [1]});
    let user = json!({"sourcedId": "u", "enabledUser": true, "givenName": "a", "familyName": "b",
        "roles": [role]});
    let [platform, standard] = in_both(&kinds::USER, user);
    assert_eq!(platform["roles"][0]["x"], json!([1]));
    assert_eq!(platform["roles"][0]["org"], standard["roles"][0]["org"]);
    assert_eq!(
        standard["roles"][0]["org"]["href"],
        format!("{BASE}/ims/oneroster/rostering/v1p2/orgs/o")
    );
    assert_eq!(standard["roles"][0].get("x"), None);
}
