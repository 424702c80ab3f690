//! Random orders of claims, unfinished claims, moves into runs, merges and failures, compared with a map.
//!
//! On PostgreSQL, claims and a move stay open beside each other. SQLite has one writer, so there each write ends before the
//! next one begins, and larger claims become runs at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{self, Scope};

use lyceum_core::{Problem, Result};
use lyceum_runs::try_lock_lists;
use lyceum_store::{Db, SqlDialect, StatementsSee, Tx};
use lyceum_testkit::open_writes::{OpenWrite, wait, wait_for_a_wait};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::{KEYS, SCHEMA};

/// Keys that claims choose from: few, so that claims meet.
const KEY_COUNT: i64 = 120;
/// The most claims that are not committed at a time.
const CLAIMS_MAX: usize = 3;
/// From that many keys on, the only writer adds them as a run at once.
const RUN_MIN_KEYS: usize = 20;
/// The most rows that one move takes.
const MOVED_MAX: i64 = 60;

/// Numbers for claims. Each is given once.
static NEXT_NUMBER: AtomicI64 = AtomicI64::new(1);

#[derive(Clone, Debug)]
enum Step {
    /// Claims keys and stays open.
    Claim(Vec<i64>),
    /// Claims keys in a transaction that sees one state, and commits.
    ClaimSeeingOneState(Vec<i64>),
    /// Commits one of the open claims, or ends it as when its server is killed.
    EndClaim(prop::sample::Index, bool),
    /// Gives a key another number.
    SetNumber(prop::sample::Index),
    /// Begins to move rows into a run, which may merge runs.
    StartMove,
    /// Commits the move, or ends it as when its server is killed.
    EndMove(bool),
    /// Compares the numbers of all keys.
    Compare,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let keys = || {
        prop::sample::select(vec![1_usize, 5, 40, 90])
            .prop_flat_map(|count| prop::collection::vec(0..KEY_COUNT, count))
    };
    let ends_well = || prop::bool::weighted(0.67);
    let step = prop_oneof![
        5 => keys().prop_map(Step::Claim),
        1 => keys().prop_map(Step::ClaimSeeingOneState),
        2 => (any::<prop::sample::Index>(), ends_well()).prop_map(|(at, commits)| Step::EndClaim(at, commits)),
        1 => any::<prop::sample::Index>().prop_map(Step::SetNumber),
        2 => Just(Step::StartMove),
        2 => ends_well().prop_map(Step::EndMove),
        1 => Just(Step::Compare),
    ];
    prop::collection::vec(step, 60)
}

/// The outcome of a claim: the pairs that it took, and the numbers of keys that were taken.
#[derive(Clone, Debug)]
struct ClaimOutcome {
    pairs: Vec<(i64, i64)>,
    taken: BTreeMap<i64, i64>,
}

fn claim(tx: &mut Tx<'_>, keys: &[i64]) -> Result<ClaimOutcome> {
    let mut pairs: Vec<(i64, i64)> =
        keys.iter().map(|key| (*key, NEXT_NUMBER.fetch_add(1, Ordering::SeqCst))).collect();
    let taken = if tx.dialect() == SqlDialect::Sqlite && keys.len() >= RUN_MIN_KEYS {
        KEYS.claim_in_run(tx, &mut pairs)?
    } else {
        KEYS.claim(tx, &mut pairs)?
    };
    Ok(ClaimOutcome { pairs, taken })
}

/// Moves rows into a run; returns how many.
fn move_rows(tx: &mut Tx<'_>) -> Result<usize> {
    if !try_lock_lists(tx, &[KEYS.runs])? {
        return Err(Problem::internal("the list of runs is locked"));
    }
    Ok(KEYS.move_rows_to_run(tx, MOVED_MAX)?.0)
}

/// A claim that is not committed.
struct OpenClaim<'scope> {
    write: OpenWrite<'scope, ClaimOutcome>,
    new: BTreeMap<i64, i64>,
    /// The keys for which others wait: new ones, and those that it found in runs.
    held: BTreeSet<i64>,
}

/// The expected contents of a database, and the work that is under way.
struct Model<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    db: &'env Db,
    numbers: BTreeMap<i64, i64>,
    /// Keys that have rows.
    rows: BTreeSet<i64>,
    claims: Vec<OpenClaim<'scope>>,
    /// A move that is not committed, and the keys that it moves.
    moving: Option<(OpenWrite<'scope, usize>, BTreeSet<i64>)>,
}

impl Model<'_, '_> {
    fn run(&mut self, step: &Step) {
        let can_stay_open = self.db.dialect() == SqlDialect::Postgres;
        match step {
            Step::Claim(keys) if can_stay_open => self.claim(keys),
            Step::Claim(keys) | Step::ClaimSeeingOneState(keys) => self.claim_at_once(keys),
            Step::EndClaim(at, commits) => self.end_claim(*at, *commits),
            Step::SetNumber(at) => self.set_number(*at),
            Step::StartMove if can_stay_open => self.start_move(),
            Step::StartMove => {
                let moved = wait(self.db.write(move_rows)).unwrap();
                let moved: Vec<i64> = self.rows.iter().copied().take(moved).collect();
                self.rows.retain(|key| !moved.contains(key));
            }
            Step::EndMove(commits) => self.end_move(*commits),
            Step::Compare => self.compare(),
        }
    }

    /// Claims keys. If an unfinished write holds one of them, the claim waits until that write ends.
    fn claim(&mut self, keys: &[i64]) {
        if self.claims.len() == CLAIMS_MAX {
            self.end_claim_at(0, true);
        }
        let claimed = keys.to_vec();
        let write = OpenWrite::start(self.scope, self.db, move |tx| claim(tx, &claimed));
        let meets = |held: &BTreeSet<i64>| keys.iter().any(|key| held.contains(key));
        let waits_for_move = self.moving.as_ref().is_some_and(|(_, keys)| meets(keys));
        if waits_for_move || self.claims.iter().any(|claim| meets(&claim.held)) {
            wait_for_a_wait(self.db);
        }
        if waits_for_move {
            self.end_move(keys.len().is_multiple_of(2));
        }
        while let Some(at) = self.claims.iter().position(|claim| meets(&claim.held)) {
            self.end_claim_at(at, keys.len() > 5);
        }
        let new = self.check(&write.result());
        let held = keys.iter().copied().filter(|key| !self.rows.contains(key)).collect();
        self.claims.push(OpenClaim { write, new, held });
    }

    /// Claims keys in a write that sees one state, after all others have ended.
    fn claim_at_once(&mut self, keys: &[i64]) {
        self.end_all();
        let claimed = keys.to_vec();
        let outcome = wait(self.db.write(move |tx| claim(tx, &claimed))).unwrap();
        let new = self.check(&outcome);
        if self.db.dialect() == SqlDialect::Postgres || keys.len() < RUN_MIN_KEYS {
            self.rows.extend(new.keys());
        }
        self.numbers.extend(new);
    }

    /// The keys that are new. Compares the others with the model.
    fn check(&self, outcome: &ClaimOutcome) -> BTreeMap<i64, i64> {
        let mut new = BTreeMap::new();
        for (key, number) in &outcome.pairs {
            let holder = outcome.taken.get(key).unwrap_or(number);
            match self.numbers.get(key) {
                Some(known) => assert_eq!(known, holder, "{key} is known"),
                None if holder == number => {
                    assert_eq!(new.insert(*key, *number), None, "{key} is new once");
                }
                None => assert!(outcome.pairs.contains(&(*key, *holder)), "{key}: {outcome:?}"),
            }
        }
        new
    }

    fn end_claim(&mut self, at: prop::sample::Index, commits: bool) {
        if !self.claims.is_empty() {
            self.end_claim_at(at.index(self.claims.len()), commits);
        }
    }

    fn end_claim_at(&mut self, at: usize, commits: bool) {
        let OpenClaim { write, new, .. } = self.claims.swap_remove(at);
        if !commits {
            return write.roll_back();
        }
        write.commit();
        self.rows.extend(new.keys());
        self.numbers.extend(new);
    }

    /// A key that is in a run gets a row again, whose number counts.
    fn set_number(&mut self, at: prop::sample::Index) {
        if self.numbers.is_empty() {
            return;
        }
        self.end_all();
        let key = *self.numbers.keys().nth(at.index(self.numbers.len())).unwrap();
        let number = NEXT_NUMBER.fetch_add(1, Ordering::SeqCst);
        wait(self.db.write_with_locks(StatementsSee::LatestCommits, move |tx| {
            KEYS.set_number(tx, key, number)
        }))
        .unwrap();
        self.numbers.insert(key, number);
        self.rows.insert(key);
    }

    fn start_move(&mut self) {
        if self.moving.is_some() {
            return;
        }
        let write = OpenWrite::start(self.scope, self.db, move_rows);
        let moved: BTreeSet<i64> = self.rows.iter().copied().take(write.result()).collect();
        let most = usize::try_from(MOVED_MAX).unwrap();
        assert_eq!(moved.len(), self.rows.len().min(most), "the first rows move");
        self.moving = Some((write, moved));
    }

    fn end_move(&mut self, commits: bool) {
        let Some((write, moved)) = self.moving.take() else { return };
        if !commits {
            return write.roll_back();
        }
        write.commit();
        self.rows.retain(|key| !moved.contains(key));
    }

    fn end_all(&mut self) {
        self.end_move(true);
        while !self.claims.is_empty() {
            self.end_claim_at(0, true);
        }
    }

    fn compare(&self) {
        let all: Vec<i64> = (0..KEY_COUNT).collect();
        let numbers = wait(self.db.read(move |tx| KEYS.numbers(tx, &all))).unwrap();
        assert_eq!(numbers, self.numbers);
    }
}

#[test]
fn each_key_is_claimed_once_in_any_order_of_claims_moves_and_failures() {
    let cases = if lyceum_testkit::full_size() { 200 } else { 6 };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let orders = TestRunner::new(config).run(&steps(), |steps| {
        lyceum_testkit::both_stores(SCHEMA, |target| {
            let db = &Db::open(target, SCHEMA).unwrap();
            thread::scope(|scope| {
                let mut model = Model {
                    scope,
                    db,
                    numbers: BTreeMap::new(),
                    rows: BTreeSet::new(),
                    claims: Vec::new(),
                    moving: None,
                };
                // Several runs, so that moves also merge.
                for key in 0..7 {
                    model.claim_at_once(&[key]);
                    assert_eq!(
                        wait(db.write_with_locks(StatementsSee::LatestCommits, move_rows)).unwrap(),
                        1
                    );
                    model.rows.clear();
                }
                for step in &steps {
                    model.run(step);
                }
                model.end_all();
                model.compare();
            });
        });
        Ok(())
    });
    orders.unwrap();
}
