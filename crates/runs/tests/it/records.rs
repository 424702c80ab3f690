//! Runs of many chunks, which are merged while records are added.

use std::collections::BTreeSet;

use lyceum_runs::{KeyNumber, Runs};
use lyceum_store::Db;

use crate::{KEYS, SCHEMA};

#[test]
fn all_records_of_a_key_are_found_in_all_runs() {
    lyceum_testkit::both_stores(SCHEMA, |target| {
        let db = Db::open(target, SCHEMA).unwrap();
        let mut all = BTreeSet::new();
        for size in [1, 7, 60, 700, 5000].into_iter().cycle().take(40) {
            let numbers = (0_i64..).skip(all.len()).take(size);
            let records: Vec<KeyNumber> =
                numbers.map(|number| KeyNumber { key: number * 7919 % 3000, number }).collect();
            all.extend(records.iter().copied());
            db.write_blocking(|tx| Runs::open(tx, KEYS.runs)?.add(tx, records)).unwrap();
        }
        let keys: Vec<i64> = (0..3000).step_by(7).chain([5000]).collect();
        let mut found = BTreeSet::new();
        let is_complete = db.read_blocking(|tx| {
            Runs::open(tx, KEYS.runs)?.find(tx, &keys, |record| {
                assert!(found.insert(record), "found twice");
            })
        });
        assert!(is_complete.unwrap());
        all.retain(|record| keys.contains(&record.key));
        assert!(found == all);
    });
}
