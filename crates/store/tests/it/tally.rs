use std::collections::{BTreeMap, BTreeSet};

use lyceum_store::{Db, LARGE_BLOCK_BITS};
use proptest::prelude::*;

use crate::{on_both, wait};

/// Changes in transactions: sequence numbers that appear and disappear, and whether it commits.
fn changes() -> impl Strategy<Value = Vec<(Vec<i64>, bool)>> {
    let near = 0_i64..3000;
    let far = 60_000_i64..400_000;
    let seqs = proptest::collection::vec(prop_oneof![near, far], 1..60);
    proptest::collection::vec((seqs, proptest::bool::weighted(0.8)), 1..8)
}

fn toggle(db: &Db, live: &mut BTreeSet<i64>, seqs: &[i64], commits: bool) {
    let mut next = live.clone();
    let deltas: Vec<(i64, i64)> = seqs
        .iter()
        .map(|&seq| if next.remove(&seq) { (seq, -1) } else { (seq, i64::from(next.insert(seq))) })
        .collect();
    let written = wait(db.write(move |tx| {
        for &(seq, delta) in &deltas {
            tx.tally("things", seq, delta);
            tx.tally_part(format!("things@{}", seq % 2), seq, delta);
            tx.tally("others", seq + 1, 1);
        }
        if commits { Ok(()) } else { Err(lyceum_core::Problem::not_found("thing", "x")) }
    }));
    assert_eq!(written.is_ok(), commits);
    if commits {
        *live = next;
    }
}

#[test]
fn totals_and_positions_agree_with_a_plain_count() {
    on_both(|db| {
        proptest!(ProptestConfig::with_cases(12), |(changes in changes())| {
            wait(db.write(|tx| tx.execute("DELETE FROM tally", &[]))).unwrap();
            let mut live = BTreeSet::new();
            for (seqs, commits) in &changes {
                toggle(db, &mut live, seqs, *commits);
            }
            let total = wait(db.read(|tx| tx.tally_total("things"))).unwrap();
            prop_assert_eq!(total, i64::try_from(live.len()).unwrap());
            for (name, parity) in [("things", None), ("things@0", Some(0)), ("things@1", Some(1))] {
                let mut expected = BTreeMap::new();
                for seq in live.iter().filter(|&seq| parity.is_none_or(|it| seq % 2 == it)) {
                    *expected.entry(seq >> LARGE_BLOCK_BITS).or_insert(0) += 1;
                }
                let blocks = wait(db.read(move |tx| tx.tally_blocks(name))).unwrap();
                prop_assert_eq!(blocks, expected);
            }
            let live: Vec<i64> = live.into_iter().collect();
            for offset in (0..live.len()).step_by(7).chain([live.len(), live.len() + 300]) {
                let at = i64::try_from(offset).unwrap();
                let place = wait(db.read(move |tx| tx.tally_seek("things", at))).unwrap();
                let found = place.map(|(first, skip)| {
                    let skip = usize::try_from(skip).unwrap();
                    live.iter().filter(|&&seq| seq >= first).nth(skip).copied()
                });
                prop_assert_eq!(found, live.get(offset).map(|&seq| Some(seq)));
            }
        });
    });
}

#[test]
fn concurrent_writers_of_a_block_leave_exact_counts() {
    on_both(|db| {
        wait(async {
            let writes: Vec<_> = (0..300)
                .map(|seq| {
                    let db = db.clone();
                    tokio::spawn(async move {
                        db.write(move |tx| {
                            tx.tally("things", seq, 1);
                            Ok(())
                        })
                        .await
                    })
                })
                .collect();
            for write in writes {
                write.await.unwrap().unwrap();
            }
        });
        assert_eq!(wait(db.read(|tx| tx.tally_total("things"))).unwrap(), 300);
        assert_eq!(wait(db.read(|tx| tx.tally_seek("things", 299))).unwrap(), Some((256, 43)));
    });
}
