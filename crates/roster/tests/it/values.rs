//! Values that no record may hold, at every door by which records come.

use lyceum_core::{PayloadDialect, ProblemKind, Reach};
use lyceum_roster::bulk;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{self, COURSE, ORG, RESOURCE, USER};
use lyceum_roster::query::ListParameters;
use lyceum_roster::record::{ModifiedTime, Object, Record, members};
use lyceum_roster::repository;
use lyceum_roster::write::{self, WriteRules};
use serde_json::{Value, json};

use crate::kit::{both, collection, create, ids, list, object, rules};

fn user(grades: &Value) -> Value {
    json!({"sourcedId": "u", "enabledUser": true, "givenName": "A", "familyName": "B", "grades": grades,
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]})
}

/// The paths at which a record is refused in both dialects.
fn faults(kind: &'static RecordKind, value: &Value) -> Vec<String> {
    let now = ModifiedTime::Now(rules().now);
    let paths = [PayloadDialect::Platform, PayloadDialect::Standard].map(|dialect| {
        let problem = Record::parse(kind, &object(value.clone()), dialect, now).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Invalid, "{value}");
        let details = problem.details.into_iter();
        details.map(|detail| format!("{}: {}", detail.path, detail.message)).collect::<Vec<_>>()
    });
    let [platform, standard] = paths;
    assert!(platform.iter().all(|one| standard.contains(one)), "{platform:?} {standard:?}");
    platform
}

#[test]
fn an_unknown_status_is_refused_and_does_not_delete() {
    for status in ["inactive", "ACTIVE", "deleted"] {
        let errors = faults(
            &COURSE,
            &json!({"sourcedId": "c", "title": "x", "courseCode": "", "status": status}),
        );
        assert_eq!(
            errors,
            [format!("course.status: must be 'active' or 'tobedeleted' (got \"{status}\")")]
        );
    }
}

#[test]
fn titles_are_strings_that_are_not_empty() {
    for (kind, field) in [(&COURSE, "title"), (&RESOURCE, "title"), (&ORG, "name")] {
        for value in [json!(""), json!(" \t\n"), json!("\u{a0}"), json!(5), json!(true)] {
            let record = json!({"sourcedId": "x", "title": "x", "name": "x", "type": "school", "identifier": "",
                "vendorResourceId": "v", "courseCode": ""});
            let mut record: Object = object(record);
            record.retain(|name, _| name == "sourcedId" || kind.field(name).is_some());
            record.insert(field.into(), value.clone());
            let errors = faults(kind, &Value::Object(record));
            assert!(
                errors[0].starts_with(&format!("{}.{field}: must ", kind.one)),
                "{value} {errors:?}"
            );
        }
    }
    let errors = faults(&USER, &{
        let mut user = user(&json!([]));
        user["familyName"] = " ".into();
        user
    });
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].starts_with("user.familyName: must not be blank"), "{errors:?}");
}

#[test]
fn grades_outside_of_the_table_are_refused_in_every_field() {
    for grade in ["banana", "99", "", "-2"] {
        let errors = faults(&USER, &user(&json!(["03", grade])));
        assert!(errors[0].starts_with("user.grades[1]: must be a grade"), "{errors:?}");
        assert!(errors[0].ends_with(&format!("(got '{grade}')")), "{errors:?}");
        let resource =
            json!({"sourcedId": "r", "vendorResourceId": "v", "metadata": {"grades": [grade]}});
        assert!(faults(&RESOURCE, &resource)[0].starts_with("resource.metadata.grades[0]: "));
    }
    let class = json!({"sourcedId": "k", "title": "x", "grades": ["x"], "course": {"sourcedId": "c"},
        "school": {"sourcedId": "s"}, "terms": [{"sourcedId": "t"}]});
    assert!(faults(&kinds::CLASS, &class)[0].starts_with("class.grades[0]: "));
    let course = json!({"sourcedId": "c", "title": "x", "courseCode": "", "grades": ["14"]});
    assert!(faults(&COURSE, &course)[0].starts_with("course.grades[0]: "));
}

#[test]
fn grades_are_stored_as_sent_and_found_by_value() {
    both(|db| {
        create(db, "orgs", json!({"sourcedId": "s", "name": "S", "type": "school"}));
        let grades =
            json!(["PK", "KG", -1, 0, "3", 12, "13", "IT", "PR", "TK", "PS", "UG", "Other"]);
        create(db, "users", user(&grades));
        let stored = db.read_blocking(|tx| repository::find(tx, &USER, "u")).unwrap().unwrap();
        let stored = members(&stored.body, None).unwrap();
        let expected =
            json!(["PK", "KG", "-1", "00", "3", "12", "13", "IT", "PR", "TK", "PS", "UG", "Other"]);
        assert_eq!(stored["grades"], expected);
        for (grade, is_found) in [
            ("0", true),
            ("K", true),
            ("kg", true),
            ("pk", true),
            ("03", true),
            ("ug", true),
            ("1", false),
        ] {
            let filter = format!("grades~'{grade}'");
            let parameters = ListParameters { filter: Some(&filter), ..ListParameters::default() };
            let found = !ids(&list(db, "users", None, &parameters).unwrap()).is_empty();
            assert_eq!(found, is_found, "{grade}");
        }
    });
}

#[test]
fn metadata_of_a_resource_is_checked() {
    let resource = |metadata: Value| json!({"sourcedId": "r", "title": "x", "vendorResourceId": "v", "metadata": metadata});
    for (metadata, path) in [
        (json!({"xp": "ten"}), "xp: must be a number of at least 0 (got \"ten\")"),
        (json!({"xp": -5}), "xp: must be a number of at least 0 (got -5)"),
        (json!({"xp": [1]}), "xp: "),
        (json!({"type": "pdf"}), "type: must be one of interactive, video"),
        (json!({"type": 5}), "type: "),
        (json!({"grades": "03"}), "grades: must be an array"),
    ] {
        let errors = faults(&RESOURCE, &resource(metadata.clone()));
        assert!(
            errors[0].starts_with(&format!("resource.metadata.{path}")),
            "{metadata} {errors:?}"
        );
    }
    let now = ModifiedTime::Now(rules().now);
    for metadata in [
        json!({"xp": 0, "type": "qti", "subType": "qti-test", "grades": [3, "KG"], "own": {"type": "pdf"}}),
        json!({"xp": 12.5, "type": "course-material"}),
        json!({"xp": null, "type": null, "grades": null}),
    ] {
        let sent = object(resource(metadata));
        Record::parse(&RESOURCE, &sent, PayloadDialect::Platform, now).unwrap();
    }
}

#[test]
fn an_end_before_the_start_is_refused() {
    let session = |start: &str, end: &str| {
        json!({"sourcedId": "t", "title": "x", "type": "term", "schoolYear": "2026",
            "startDate": start, "endDate": end})
    };
    let errors = faults(&kinds::ACADEMIC_SESSION, &session("2026-09-01", "2026-08-31T23:00:00Z"));
    assert_eq!(
        errors,
        ["academicSession.endDate: must not be before startDate '2026-09-01' (got '2026-08-31')"]
    );
    let same_day = object(session("2026-09-01", "2026-09-01"));
    let now = ModifiedTime::Now(rules().now);
    Record::parse(&kinds::ACADEMIC_SESSION, &same_day, PayloadDialect::Standard, now).unwrap();
    let enrollment = json!({"sourcedId": "e", "user": {"sourcedId": "u"}, "class": {"sourcedId": "c"},
        "school": {"sourcedId": "s"}, "role": "student", "beginDate": "2026-02-01", "endDate": "2026-01-01"});
    assert!(faults(&kinds::ENROLLMENT, &enrollment)[0].starts_with("enrollment.endDate: "));
    let mut user = user(&json!([]));
    user["roles"][0]["beginDate"] = "2026-02-01".into();
    user["roles"][0]["endDate"] = "2026-01-01".into();
    assert!(faults(&USER, &user)[0].starts_with("user.roles[0].endDate: "));
}

#[test]
fn the_highest_score_is_not_below_the_lowest() {
    let item = |most: i32| json!({"sourcedId": "i", "title": "x", "resultValueMin": 10, "resultValueMax": most});
    let errors = faults(&kinds::ASSESSMENT_LINE_ITEM, &item(9));
    assert!(
        errors[0].starts_with("assessmentLineItem.resultValueMax: must be at least"),
        "{errors:?}"
    );
    let now = ModifiedTime::Now(rules().now);
    Record::parse(&kinds::ASSESSMENT_LINE_ITEM, &object(item(10)), PayloadDialect::Standard, now)
        .unwrap();
}

#[test]
fn an_instant_is_accepted_for_a_date_and_its_date_is_stored() {
    let now = ModifiedTime::Now(rules().now);
    for dialect in [PayloadDialect::Platform, PayloadDialect::Standard] {
        for (sent, kept) in [
            ("2026-11-24", "2026-11-24"),
            ("2026-11-24T18:44:21.729Z", "2026-11-24"),
            ("2026-11-24t23:30:00-08:00", "2026-11-24"),
            ("2026-11-24 00:30:00+08:00", "2026-11-24"),
        ] {
            let result = json!({"sourcedId": "r", "lineItem": {"sourcedId": "l"}, "student": {"sourcedId": "u"},
                "scoreStatus": "fully graded", "scoreDate": sent});
            let record = Record::parse(&kinds::RESULT, &object(result), dialect, now).unwrap();
            assert_eq!(members(&record.body, None).unwrap()["scoreDate"], kept, "{sent}");
        }
        for sent in
            ["2026-11-24T", "2026-11-24T18:44", "2026-11-24Tten", "2026-13-01", "24/11/2026", ""]
        {
            let result = json!({"sourcedId": "r", "lineItem": {"sourcedId": "l"}, "student": {"sourcedId": "u"},
                "scoreStatus": "fully graded", "scoreDate": sent});
            let problem = Record::parse(&kinds::RESULT, &object(result), dialect, now).unwrap_err();
            assert_eq!(problem.details[0].path, "result.scoreDate", "{sent}");
        }
    }
}

#[test]
fn every_interface_checks_the_same_values() {
    both(|db| {
        create(db, "courses", json!({"sourcedId": "c", "title": "Maths"}));
        let bad = json!({"sourcedId": "c", "title": " ", "grades": ["99"]});
        let paths = |result: lyceum_core::Result<()>| {
            let details = result.unwrap_err().details.into_iter();
            details.map(|detail| detail.path).collect::<Vec<_>>()
        };
        let courses = collection("courses");
        let rules = &rules();
        let put = db.write_blocking(|tx| {
            write::put(tx, courses, "c", object(bad.clone()), None, false, rules).map(drop)
        });
        let patch = db.write_blocking(|tx| {
            write::patch(tx, courses, "c", &object(bad.clone()), None, rules).map(drop)
        });
        let bulk = db.write_blocking(|tx| {
            bulk::load(tx, courses, &[(1, Ok(bad.clone()))], true, rules).map(drop)
        });
        assert_eq!(paths(put), ["course.title", "course.grades[0]"]);
        assert_eq!(paths(patch), ["course.title", "course.grades[0]"]);
        assert_eq!(paths(bulk), ["line 1: course.title", "line 1: course.grades[0]"]);
    });
}

/// A rule must not lock away what was stored before there was the rule.
#[test]
fn records_from_before_a_rule_can_be_read_and_deleted() {
    both(|db| {
        create(db, "courses", json!({"sourcedId": "c", "title": "Maths", "grades": ["03"]}));
        let sql = "UPDATE courses SET body = REPLACE(body, '\"03\"', '\"banana\"')";
        db.write_blocking(|tx| tx.execute(sql, &[])).unwrap();
        let now = rules().now;
        db.write_blocking(|tx| {
            write::delete(tx, collection("courses"), "c", now, false, None, &Reach::Everything)
        })
        .unwrap();
        let restored = db.write_blocking(|tx| {
            let status = object(json!({"status": "active"}));
            write::patch(tx, collection("courses"), "c", &status, None, &WriteRules { ..rules() })
        });
        assert_eq!(restored.unwrap_err().details[0].path, "course.grades[0]");
    });
}
