//! The filter engine agrees with the naive evaluator, whatever is asked.

use lyceum_core::ProblemKind;
use lyceum_core::filter::{FILTER_OPERATORS, FilterExpression, FilterOperator, FilterValue, parse};
use lyceum_roster::query::ListParameters;
use lyceum_store::Db;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::kit::{both, create, ids, list, records};
use crate::naive;

const NAMES: &[&str] = &["Ada", "ada", "Bo", "O'Neil", "Zoë", "ZOË", "100%", "_x"];

/// Users with every combination of a few values, some fields missing in some.
fn populate(db: &Db) {
    for org in ["north", "south"] {
        create(db, "orgs", json!({"sourcedId": org, "name": org, "type": "school"}));
    }
    for n in 0..48_usize {
        let mut user = json!({
            "sourcedId": format!("user-{n}"),
            "enabledUser": n % 2 == 0,
            "givenName": NAMES[n % NAMES.len()],
            "familyName": NAMES[(n / 3) % NAMES.len()],
            "roles": [{
                "roleType": "primary",
                "role": if n % 3 == 0 { "teacher" } else { "student" },
                "org": {"sourcedId": if n % 5 < 2 { "north" } else { "south" }},
            }],
        });
        let fields = user.as_object_mut().unwrap();
        if n % 4 != 0 {
            fields.insert("email".into(), format!("U{}@Example.org", n % 7).into());
            fields.insert(
                "grades".into(),
                [json!(["03"]), json!(["4"]), json!(["03", "04"]), json!(["KG"])][n % 4].clone(),
            );
            fields.insert(
                "metadata".into(),
                json!({
                    "points": n % 6, "team": NAMES[n % 5], "deep": {"flag": n % 2 == 0},
                }),
            );
        }
        if n % 7 == 0 {
            fields.insert("primaryOrg".into(), json!({"sourcedId": "north"}));
            fields.insert("status".into(), "tobedeleted".into());
        }
        create(db, "users", user);
    }
}

fn clause() -> impl Strategy<Value = FilterExpression> {
    let text = prop_oneof![
        prop::sample::select(NAMES).prop_map(str::to_owned),
        prop::sample::select(vec![
            "user-3",
            "user-33",
            "U3@example.ORG",
            "@",
            "student",
            "teacher",
            "north",
            "03",
            "3",
            "4,03",
            "03,04",
            "true",
            "false",
            "0",
            "3",
            "active",
            "tobedeleted",
            "",
            "primary",
        ])
        .prop_map(str::to_owned),
    ];
    let all = FILTER_OPERATORS.map(|(_, op)| op).to_vec();
    let lists = vec![FilterOperator::Equal, FilterOperator::NotEqual, FilterOperator::Contains];
    let scalar = prop::sample::select(vec![
        "sourcedId",
        "givenName",
        "familyName",
        "email",
        "status",
        "enabledUser",
        "middleName",
        "primaryOrg.sourcedId",
        "metadata.team",
        "metadata.deep.flag",
        "metadata.none",
    ]);
    let list = prop::sample::select(vec![
        "grades",
        "roles.role",
        "roles.roleType",
        "roles.org.sourcedId",
        "userIds.identifier",
    ]);
    let quoted = |text: String| FilterValue { text, quoted: true };
    prop_oneof![
        4 => (scalar, prop::sample::select(all.clone()), text.clone())
            .prop_map(move |(name, op, text)| FilterExpression::Clause(name.into(), op, quoted(text))),
        2 => (list, prop::sample::select(lists), text)
            .prop_map(move |(name, op, text)| FilterExpression::Clause(name.into(), op, quoted(text))),
        1 => (prop::sample::select(all[..6].to_vec()), -1i64..8).prop_map(|(op, number)| {
            let literal = FilterValue { text: number.to_string(), quoted: false };
            FilterExpression::Clause("metadata.points".into(), op, literal)
        }),
    ]
}

fn expr() -> impl Strategy<Value = FilterExpression> {
    clause().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(FilterExpression::And),
            prop::collection::vec(inner, 2..4).prop_map(FilterExpression::Or),
        ]
    })
}

/// The text of a filter, so that the grammar is tested with the rest.
fn written(expr: &FilterExpression) -> String {
    match expr {
        FilterExpression::And(parts) | FilterExpression::Or(parts) => {
            let with = if matches!(expr, FilterExpression::And(_)) { " AND " } else { " OR " };
            let parts: Vec<String> = parts
                .iter()
                .map(|part| match part {
                    FilterExpression::Clause(..) => written(part),
                    _ => format!("({})", written(part)),
                })
                .collect();
            parts.join(with)
        }
        FilterExpression::Clause(name, op, literal) => {
            let (sign, _) = FILTER_OPERATORS.iter().find(|(_, other)| other == op).unwrap();
            let value = match literal.quoted {
                true => format!("'{}'", literal.text.replace('\'', "''")),
                false => literal.text.clone(),
            };
            format!("{name}{sign}{value}")
        }
    }
}

#[test]
fn the_engine_agrees_with_the_naive_evaluator() {
    both(|db| {
        populate(db);
        let everyone = records(
            &list(
                db,
                "users",
                None,
                &ListParameters {
                    filter: Some("status='active' OR status='tobedeleted'"),
                    limit: Some("3000"),
                    ..ListParameters::default()
                },
            )
            .unwrap(),
        );
        assert_eq!(everyone.len(), 48);
        let cases = if lyceum_testkit::full_size() { 5000 } else { 400 };
        let mut runner =
            TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
        runner
            .run(&expr(), |expr| {
                let text = written(&expr);
                prop_assert_eq!(&parse(&text).unwrap(), &expr, "the grammar reads {}", text);
                let all = text.contains("status");
                let expected: Vec<&str> = everyone
                    .iter()
                    .filter(|user| all || user["status"] == "active")
                    .filter(|user| naive::passes(user, &expr))
                    .map(|user| user["sourcedId"].as_str().unwrap())
                    .collect();
                let parameters = ListParameters {
                    filter: Some(&text),
                    limit: Some("3000"),
                    ..ListParameters::default()
                };
                let found = list(db, "users", None, &parameters).unwrap();
                prop_assert_eq!(ids(&found), expected.clone(), "{}", text);
                prop_assert_eq!(found.total, expected.len() as u64);
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn and_binds_tighter_than_or() {
    let expr = parse("a='1' OR b='2' AND c='3'").unwrap();
    let FilterExpression::Or(parts) = expr else { panic!("{expr:?}") };
    assert!(matches!(parts[1], FilterExpression::And(_)));
    assert!(matches!(parse("(a='1' or b=2) and c~'x'").unwrap(), FilterExpression::And(_)));
}

#[test]
fn nonsense_is_refused_with_its_place() {
    let refused = |text: &str| parse(text).expect_err(text);
    for (text, part) in [
        ("title", "character 6"),
        ("title='x", "no closing quote for the value that begins at character 7"),
        ("title=x", "single quotes"),
        ("title='x' title='y'", "AND, OR or the end"),
        ("(title='x'", "')'"),
        ("='x'", "a field"),
        ("title=='x'", "single quotes"),
    ] {
        let problem = refused(text);
        assert_eq!(problem.kind, ProblemKind::BadFilter);
        assert!(problem.message.contains(part), "{text}: {}", problem.message);
    }
    let deep = format!("{}a='1'{}", "(".repeat(40), ")".repeat(40));
    assert!(refused(&deep).message.contains("nests parentheses deeper"));
    let many = vec!["a='1'"; 100].join(" AND ");
    assert!(refused(&many).message.contains("more than 64 clauses"));
}

#[test]
fn unknown_fields_and_wrong_values_are_refused() {
    both(|db| {
        for (path, filter, part) in [
            ("users", "shoeSize='42'", "has no field 'shoeSize'"),
            ("users", "password='x'", "has no field 'password'"),
            ("users", "grades>'03'", "has no order"),
            ("users", "dateLastModified>'yesterday'", "must be compared with an instant"),
            ("results", "score>'many'", "must be compared with a number"),
            ("users", "metadata.a b='1'", "expected one of"),
            ("enrollments", "user='x'", "use 'user.sourcedId'"),
        ] {
            let parameters = ListParameters { filter: Some(filter), ..ListParameters::default() };
            let problem = list(db, path, None, &parameters).expect_err(filter);
            assert_eq!(problem.kind, ProblemKind::BadFilter, "{filter}");
            assert!(problem.message.contains(part), "{filter}: {}", problem.message);
        }
    });
}

#[test]
fn flattened_names_and_bare_values_work() {
    both(|db| {
        populate(db);
        let count = |filter: &str| {
            let parameters = ListParameters { filter: Some(filter), ..ListParameters::default() };
            list(db, "users", None, &parameters).unwrap().total
        };
        assert_eq!(count("primaryOrgSourcedId='north'"), 0, "they are deleted");
        assert_eq!(
            count("primaryOrgSourcedId='north' AND status='tobedeleted'"),
            count("primaryOrg.sourcedId='north' AND status='tobedeleted'"),
        );
        assert!(count("primaryOrg.sourcedId='north' AND status='tobedeleted'") > 0);
        assert_eq!(count("enabledUser=true"), count("enabledUser='true'"));
    });
}

proptest! {
    #![proptest_config(Config { cases: 2000, failure_persistence: None, ..Config::default() })]
    #[test]
    fn no_text_makes_the_grammar_panic(text in "[a-z.' =!<>~()ANDOR0-9\u{e9}]{0,60}") {
        let _ = parse(&text);
    }
}
