//! The 1.1 forms: they fit the kinds, and a filter finds exactly the records that show what it asks for.

use lyceum_core::{PayloadDialect, Reach};
use lyceum_roster::kind::FieldType;
use lyceum_roster::query::ListParameters;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository;
use lyceum_roster::v1p1::{self, FieldSource, FormView};
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::kit::{BASE, both, collection, create, records};

/// The records of a 1.1 list. Errors: those of the parameters.
fn list(db: &Db, path: &str, parameters: &ListParameters<'_>) -> lyceum_core::Result<Vec<Value>> {
    let collection = collection(path);
    let form = v1p1::form(collection.kind).expect("the kind has a form");
    let query = v1p1::query(form, collection, None, Reach::Everything, parameters, db.dialect())?;
    let view = RecordView { base_url: BASE, dialect: PayloadDialect::Standard, fields: None };
    let mut listed = db.read_blocking(|tx| repository::list(tx, &query, &view))?;
    listed.records = FormView::new(form, collection, None)?.render(BASE, &listed.records)?;
    Ok(records(&listed))
}

#[test]
fn every_form_takes_its_values_from_fields_and_words_of_its_kind() {
    for (collection, form) in v1p1::collections() {
        for field in form.fields {
            let stored = field.stored(collection.kind);
            let place = format!("{}.{}", form.kind.one, field.name);
            match field.source {
                FieldSource::Role(_) | FieldSource::OrgsOfRoles => {
                    assert!(stored.is_none(), "{place}");
                }
                FieldSource::Word(words) => {
                    let (FieldType::Word(vocabulary) | FieldType::WordList(vocabulary)) =
                        stored.expect(&place).ty
                    else {
                        panic!("{place} has no words")
                    };
                    for (shown, all) in words.words {
                        for word in *all {
                            assert!(vocabulary.words.contains(word), "{place}: {word}");
                            assert_eq!(words.shown(Some(word)), Some(*shown), "{place}");
                        }
                    }
                }
                FieldSource::Same | FieldSource::TextOrEmpty | FieldSource::NumberOrZero => {
                    assert!(!stored.expect(&place).platform, "{place}");
                }
            }
        }
    }
}

type Comparison = fn(&str, &str) -> bool;

const OPERATORS: [(&str, Comparison); 7] = [
    ("=", |shown, word| shown == word),
    ("!=", |shown, word| shown != word),
    (">", |shown, word| shown > word),
    (">=", |shown, word| shown >= word),
    ("<", |shown, word| shown < word),
    ("<=", |shown, word| shown <= word),
    ("~", |shown, word| shown.contains(word)),
];

#[test]
fn filters_by_words_find_what_the_records_show() {
    both(|db| {
        create(db, "orgs", json!({"sourcedId": "s", "name": "S", "type": "school"}));
        for word in ["district", "local", "state", "ext:network", "ext:zone"] {
            create(db, "orgs", json!({"sourcedId": word, "name": "O", "type": word}));
        }
        for word in [
            "student",
            "teacher",
            "aide",
            "counselor",
            "principal",
            "siteAdministrator",
            "guardian",
            "ext:nurse",
        ] {
            let role = json!({"roleType": "primary", "role": word, "org": {"sourcedId": "s"}});
            let user = json!({"sourcedId": word, "enabledUser": true, "givenName": "A",
                              "familyName": "B", "roles": [role]});
            create(db, "users", user);
        }
        let terms = json!({"sourcedId": "t", "title": "T", "type": "term", "schoolYear": "2026",
                           "startDate": "2026-01-01", "endDate": "2026-02-01"});
        create(db, "academicSessions", terms);
        create(db, "courses", json!({"sourcedId": "c", "title": "C", "org": {"sourcedId": "s"}}));
        for word in [Some("homeroom"), Some("scheduled"), Some("ext:club"), None] {
            let mut class = json!({"sourcedId": word.unwrap_or("none"), "title": "K",
                                   "course": {"sourcedId": "c"}, "school": {"sourcedId": "s"},
                                   "terms": [{"sourcedId": "t"}]});
            if let Some(word) = word {
                class["classType"] = word.into();
            }
            create(db, "classes", class);
        }
        for (path, field) in [("orgs", "type"), ("users", "role"), ("classes", "classType")] {
            let all = list(db, path, &ListParameters::default()).unwrap();
            let words = ["local", "administrator", "aide", "student", "scheduled", "st", "none"];
            for (word, (operator, holds)) in
                words.iter().flat_map(|word| OPERATORS.map(|operator| (word, operator)))
            {
                let filter = format!("{field}{operator}'{word}'");
                let parameters =
                    ListParameters { filter: Some(&filter), ..ListParameters::default() };
                let wanted: Vec<&Value> = all
                    .iter()
                    .filter(|record| holds(record[field].as_str().unwrap(), word))
                    .collect();
                let found = list(db, path, &parameters).unwrap();
                assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{path} with {filter}");
            }
        }
    });
}

#[test]
fn names_that_only_version_1_2_has_are_refused() {
    both(|db| {
        for (filter, message) in [
            ("roles.role='student'", "in OneRoster 1.1, user has no field 'roles.role'"),
            ("pronouns='x'", "in OneRoster 1.1, user has no field 'pronouns'"),
            ("role.name='x'", "in OneRoster 1.1, user has no field 'role.name'"),
            ("orgs='s'", "'orgs' cannot be filtered; use 'orgs.sourcedId'"),
            ("orgs.name='s'", "'orgs.name' cannot be filtered; use 'orgs.sourcedId'"),
        ] {
            let parameters = ListParameters { filter: Some(filter), ..ListParameters::default() };
            let refused = list(db, "users", &parameters).unwrap_err();
            assert!(refused.message.to_string().starts_with(message), "{}", refused.message);
        }
        for sort in ["role", "orgs", "roles", "pronouns"] {
            let parameters = ListParameters { sort: Some(sort), ..ListParameters::default() };
            let refused = list(db, "users", &parameters).unwrap_err();
            assert!(refused.message.contains("cannot be sorted by"), "{}", refused.message);
        }
    });
}

#[test]
fn a_user_with_several_roles_has_the_role_of_the_list() {
    both(|db| {
        for id in ["s", "t"] {
            create(db, "orgs", json!({"sourcedId": id, "name": "S", "type": "school"}));
        }
        let role = |kind: &str, role: &str, org: &str| json!({"roleType": kind, "role": role, "org": {"sourcedId": org}});
        create(
            db,
            "users",
            json!({"sourcedId": "u", "enabledUser": true, "givenName": "A", "familyName": "B", "roles": [
                role("secondary", "student", "s"), role("primary", "teacher", "t"), role("secondary", "parent", "s"),
            ]}),
        );
        for (path, role, orgs) in [
            ("users", "teacher", ["t", "s"]),
            ("teachers", "teacher", ["t", "s"]),
            ("students", "student", ["s", "t"]),
        ] {
            let user = list(db, path, &ListParameters::default()).unwrap().remove(0);
            assert_eq!((&user["role"], &user["username"]), (&json!(role), &json!("")), "{path}");
            let address = |id: &str| {
                let href = format!("{BASE}/ims/oneroster/v1p1/orgs/{id}");
                json!({"href": href, "sourcedId": id, "type": "org"})
            };
            assert_eq!(user["orgs"], json!(orgs.map(address)), "{path}");
        }
    });
}
