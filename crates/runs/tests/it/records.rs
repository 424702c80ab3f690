//! Adding, merging and removing records in random order, compared with a set.

use std::collections::BTreeSet;

use lyceum_runs::{KeyNumber, Runs};
use lyceum_store::{Db, Tx};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::{KEYS, SCHEMA};

#[derive(Clone, Debug)]
enum Step {
    /// Adds a run of so many records.
    Add(usize),
    /// Removes the first records, so many, of the runs before.
    RemoveFirst(usize),
    /// Removes the records of a range of keys.
    Remove(i64, i64),
    /// Looks for some keys.
    Find(Vec<i64>),
}

/// The greatest key.
const LAST_KEY: i64 = 3000;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => prop::sample::select(vec![1_usize, 7, 60, 700]).prop_map(Step::Add),
        2 => prop::sample::select(vec![1_usize, 300, 5000]).prop_map(Step::RemoveFirst),
        1 => (0..LAST_KEY, 0..300_i64).prop_map(|(first, more)| Step::Remove(first, first + more)),
        2 => prop::collection::vec(0..LAST_KEY, 20).prop_map(Step::Find),
    ];
    prop::collection::vec(step, 50)
}

fn open(tx: &mut Tx<'_>) -> lyceum_core::Result<Runs<KeyNumber>> {
    Runs::open_alone(tx, KEYS.runs)
}

#[test]
fn runs_contain_the_records_that_were_added_and_not_removed() {
    let cases = if lyceum_testkit::full_size() { 200 } else { 8 };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let orders = TestRunner::new(config).run(&steps(), |steps| {
        lyceum_testkit::both_stores(SCHEMA, |target| {
            check(&Db::open(target, SCHEMA).unwrap(), &steps);
        });
        Ok(())
    });
    orders.unwrap();
}

fn check(db: &Db, steps: &[Step]) {
    let mut model: BTreeSet<KeyNumber> = BTreeSet::new();
    let mut number = 0;
    for step in steps {
        match step {
            Step::Add(count) => {
                let mut records = Vec::new();
                for _ in 0..*count {
                    number += 1;
                    records.push(KeyNumber { key: number * 7919 % LAST_KEY, number });
                }
                model.extend(&records);
                db.write_blocking(|tx| open(tx)?.add(tx, records)).unwrap();
            }
            Step::RemoveFirst(limit) => {
                let take = |tx: &mut Tx<'_>| {
                    let mut runs = open(tx)?;
                    let end = runs.next_number();
                    runs.remove_first(tx, end, *limit)
                };
                let taken = db.write_blocking(take).unwrap();
                assert_eq!(taken.is_none(), model.is_empty());
                for record in taken.into_iter().flatten() {
                    assert!(model.remove(&record), "{record:?}");
                }
            }
            Step::Remove(first, last) => {
                let goes = |record: &KeyNumber| (*first..=*last).contains(&record.key);
                let removed =
                    db.write_blocking(|tx| open(tx)?.remove(tx, *first, *last, |_| true)).unwrap();
                let before = model.len();
                model.retain(|record| !goes(record));
                assert_eq!(usize::try_from(removed).unwrap(), before - model.len());
            }
            Step::Find(keys) => {
                let keys: BTreeSet<i64> = keys.iter().copied().collect();
                let sorted: Vec<i64> = keys.iter().copied().collect();
                let mut found = BTreeSet::new();
                let find = |tx: &mut Tx<'_>| {
                    Runs::open(tx, KEYS.runs)?.find(tx, &sorted, &(0..1), |record: KeyNumber| {
                        assert!(found.insert(record));
                    })
                };
                assert!(db.read_blocking(find).unwrap());
                let wanted =
                    model.iter().filter(|record| keys.contains(&record.key)).copied().collect();
                assert_eq!(found, wanted);
            }
        }
    }
    let mut found = BTreeSet::new();
    let scan = |tx: &mut Tx<'_>| {
        Runs::open(tx, KEYS.runs)?.scan(tx, &(0..1), |record: KeyNumber| {
            assert!(found.insert(record));
        })
    };
    db.read_blocking(scan).unwrap();
    assert_eq!(found, model);
}
