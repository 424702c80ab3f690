//! Many records in one request: written in batches, told line by line.

use lyceum_core::{Message, Problem, Result};
use lyceum_roster::bulk::{self, LineOutcome};
use lyceum_roster::repository;
use lyceum_roster::{kinds, record};
use lyceum_store::{Db, Tx};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::kit::{both, collection, create, rules};

type Lines = Vec<(u64, Result<Value, Message>)>;

fn numbered(values: Vec<Result<Value, Message>>) -> Lines {
    (1..).zip(values).collect()
}

/// The number, id and outcome or errors of each line.
fn summary(outcomes: &[LineOutcome]) -> Vec<Value> {
    let summary = |one: &LineOutcome| match &one.result {
        Ok(outcome) => json!([one.line, one.sourced_id, outcome.word()]),
        Err(problem) => json!([one.line, one.sourced_id, problem.message, problem.details]),
    };
    outcomes.iter().map(summary).collect()
}

/// Runs the work and undoes it. Returns the outcomes, and what was stored before the undoing.
fn tried(
    db: &Db,
    work: impl FnOnce(&mut Tx<'_>) -> Result<Vec<LineOutcome>>,
) -> (Vec<Value>, Value) {
    let mut seen = None;
    let undone = db.write_blocking(|tx| {
        let outcomes = work(tx)?;
        let mut stored = Vec::new();
        for kind in [&kinds::USER, &kinds::ORG] {
            repository::each(tx, kind, |body, extra| {
                stored.push(record::members(body, extra)?);
                Ok(())
            })?;
        }
        seen = Some((summary(&outcomes), json!(stored)));
        Err::<(), _>(Problem::internal("undone"))
    });
    seen.unwrap_or_else(|| panic!("{undone:?}"))
}

fn user() -> impl Strategy<Value = Result<Value, Message>> {
    let agents = prop::collection::vec(0..6_u8, 0..2);
    let org = prop::sample::select(&["s", "s", "s", "gone"][..]);
    (0..6_u8, 0..3_u8, agents, org, 0..12_u8).prop_map(|(id, name, agents, org, luck)| {
        let role = if name == 1 { "aide" } else { "student" };
        let agents: Vec<Value> =
            agents.iter().map(|id| json!({"sourcedId": format!("u{id}")})).collect();
        match luck {
            0 => return Err("is not JSON".into()),
            1 => return Ok(json!(["no", "object"])),
            2 => return Ok(json!({"sourcedId": format!("u{id}"), "givenName": 5})),
            _ => {}
        }
        Ok(json!({
            "sourcedId": format!("u{id}"), "enabledUser": true, "familyName": "F",
            "givenName": format!("G{name}"), "agents": agents, "primaryOrg": {"sourcedId": org},
            "roles": [{"roleType": "primary", "role": role,
                       "org": {"sourcedId": "s"}}],
        }))
    })
}

fn org() -> impl Strategy<Value = Result<Value, Message>> {
    (0..5_u8, 0..6_u8, 0..2_u8).prop_map(|(id, parent, name)| {
        Ok(json!({
            "sourcedId": format!("o{id}"), "name": format!("N{name}"), "type": "department",
            "parent": {"sourcedId": if parent == 5 { "s".to_owned() } else { format!("o{parent}") }},
        }))
    })
}

#[test]
fn lines_have_the_same_outcome_in_a_batch_as_one_by_one() {
    both(|db| {
        create(db, "orgs", json!({"sourcedId": "s", "name": "S", "type": "school"}));
        let lines = |path: &'static str, one: BoxedStrategy<_>| {
            prop::collection::vec(one, 0..24).prop_map(move |values| (path, numbered(values)))
        };
        let any = prop_oneof![lines("users", user().boxed()), lines("orgs", org().boxed())];
        let mut runner = TestRunner::new(ProptestConfig { cases: 60, ..Default::default() });
        runner
            .run(&any, |(path, lines)| {
                let load = |tx: &mut Tx<'_>, lines: &[_], atomic| {
                    bulk::load(tx, collection(path), lines, atomic, &rules())
                };
                let single = tried(db, |tx| {
                    let mut all = Vec::new();
                    for line in &lines {
                        all.extend(load(tx, std::slice::from_ref(line), false)?);
                    }
                    Ok(all)
                });
                let batched = tried(db, |tx| load(tx, &lines, false));
                prop_assert_eq!(&batched, &single);

                let faulty = single.0.iter().filter(|one| one.as_array().unwrap().len() == 4);
                let faulty: Vec<u64> = faulty.map(|one| one[0].as_u64().unwrap()).collect();
                let mut problem = None;
                let atomic = db.write_blocking(|tx| {
                    problem = load(tx, &lines, true).err();
                    Err::<(), _>(Problem::internal("undone"))
                });
                prop_assert!(atomic.is_err());
                let details = problem.map(|problem| problem.details).unwrap_or_default();
                let named = |line: &u64| {
                    let start = format!("line {line}: ");
                    details.iter().any(|detail| detail.path.starts_with(&start))
                };
                prop_assert!(faulty.iter().all(named), "{faulty:?} {details:?}");
                prop_assert_eq!(faulty.is_empty(), details.is_empty());
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn several_batches_of_lines_are_created_kept_and_changed() {
    both(|db| {
        let org = |n: u32, name: &str| Ok(json!({"sourcedId": format!("c{n}"), "title": name}));
        let all = |name: &str| numbered((0..1201).map(|n| org(n, name)).collect());
        let load = |lines: &Lines| {
            let outcomes = db
                .write_blocking(|tx| {
                    bulk::load(tx, collection("categories"), lines, true, &rules())
                })
                .unwrap();
            let words: Vec<&str> =
                outcomes.iter().map(|one| one.result.as_ref().unwrap().word()).collect();
            assert_eq!(words.len(), 1201);
            assert!(outcomes.iter().zip(1..).all(|(one, line)| one.line == line));
            words.iter().all(|word| *word == words[0]).then(|| words[0].to_owned())
        };
        assert_eq!(load(&all("A")).as_deref(), Some("created"));
        assert_eq!(load(&all("A")).as_deref(), Some("unchanged"));
        assert_eq!(load(&all("B")).as_deref(), Some("updated"));
        let checked = db.write_blocking(|tx| repository::check(tx, |_, _| {})).unwrap();
        assert_eq!((checked.records, checked.faults), (1201, Vec::new()));
    });
}
