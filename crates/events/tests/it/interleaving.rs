//! Random orders of claims, commits, failures and moves into runs, compared with a set of ids.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::{self, Scope};

use lyceum_core::random::RandomStream;
use lyceum_events::repository::{GatherOutcome, gather};
use lyceum_events::{Appended, scan};
use lyceum_store::Db;

use crate::log::{EARLY, event, send};
use crate::open_writes::{KNOWN, OpenWrite, on_postgres, start_claim, wait_for_a_wait};
use crate::runs::gather_all;

/// Ids that claims choose from: few, so that claims meet.
const IDS: u64 = 120;
/// Steps of one order.
const STEPS: u32 = 60;

/// The most claims that are not committed at a time.
const CLAIMS_MAX: usize = 3;

/// What a database should contain, and what is under way.
struct Model<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    db: &'env Db,
    random: RandomStream,
    /// The ids of committed claims, each with the number of its event.
    numbers: BTreeMap<u32, i64>,
    /// Those that are not in a run.
    young: BTreeSet<u32>,
    claims: Vec<OpenClaim<'scope>>,
    /// A move that is not committed, and the ids that it moves.
    gathering: Option<(OpenWrite<'scope, GatherOutcome>, BTreeSet<u32>)>,
}

/// A claim that is not committed.
struct OpenClaim<'scope> {
    write: OpenWrite<'scope, Vec<Appended>>,
    /// The numbers of new ids.
    new: BTreeMap<u32, i64>,
    /// The ids for which others wait: new ones, and those that it found in runs.
    held: BTreeSet<u32>,
}

impl Model<'_, '_> {
    fn step(&mut self) {
        match self.random.below(10) {
            0..5 => self.claim(),
            5..7 => self.end_some_claim(),
            7 if self.gathering.is_none() => {
                let gathering = OpenWrite::start(self.scope, self.db, gather);
                let moved = gathering.result().moved;
                assert_eq!(moved > 0, !self.young.is_empty(), "{moved} of {:?}", self.young);
                self.gathering = Some((gathering, self.young.clone()));
            }
            _ => self.end_gathering(),
        }
    }

    /// Claims random ids. If an unfinished write holds one of them, the claim waits until that write ends.
    fn claim(&mut self) {
        if self.claims.len() == CLAIMS_MAX {
            self.end_some_claim();
        }
        let count = *self.random.pick(&[1, 5, 40, 90]);
        let ids: Vec<u32> =
            (0..count).map(|_| u32::try_from(self.random.below(IDS)).unwrap()).collect();
        let events = ids.iter().map(|id| event(*id, "early", EARLY)).collect();
        let write = start_claim(self.scope, self.db, events);
        let meets = |held: &BTreeSet<u32>| ids.iter().any(|id| held.contains(id));
        let waits_for_move = self.gathering.as_ref().is_some_and(|(_, moving)| meets(moving));
        if waits_for_move || self.claims.iter().any(|claim| meets(&claim.held)) {
            wait_for_a_wait(self.db);
        }
        if waits_for_move {
            self.end_gathering();
        }
        while let Some(at) = self.claims.iter().position(|claim| meets(&claim.held)) {
            self.end_claim(at);
        }
        let mut new = BTreeMap::new();
        for (id, appended) in ids.iter().zip(write.result()) {
            match (self.numbers.get(id).or(new.get(id)), appended) {
                (None, Appended::New { seq }) => drop(new.insert(*id, seq)),
                (Some(known), Appended::Same { seq }) => assert_eq!(*known, seq, "{id}"),
                (known, appended) => panic!("{id} is {appended:?}, known as {known:?}"),
            }
        }
        let held = ids.into_iter().filter(|id| !self.young.contains(id)).collect();
        self.claims.push(OpenClaim { write, new, held });
    }

    fn end_some_claim(&mut self) {
        if !self.claims.is_empty() {
            let at = self.random.below(self.claims.len() as u64);
            self.end_claim(usize::try_from(at).unwrap());
        }
    }

    fn end_claim(&mut self, at: usize) {
        let OpenClaim { write, new, .. } = self.claims.swap_remove(at);
        if self.random.below(3) == 0 {
            return write.roll_back();
        }
        write.commit();
        self.young.extend(new.keys());
        self.numbers.extend(new);
    }

    fn end_gathering(&mut self) {
        let Some((gathering, moved)) = self.gathering.take() else { return };
        if self.random.below(3) == 0 {
            return gathering.roll_back();
        }
        gathering.commit();
        self.young.retain(|id| !moved.contains(id));
    }
}

#[test]
fn any_order_of_claims_and_moves_counts_each_id_once() {
    let orders = if lyceum_testkit::full_size() { 200 } else { 6 };
    for seed in 0..orders {
        on_postgres(|db| {
            let mut numbers = BTreeMap::new();
            // Several runs, so that moves also merge.
            for number in KNOWN.start..KNOWN.end + 3 {
                numbers.insert(number, send(db, "app", &[event(number, "early", EARLY)])[0].seq());
                gather_all(db);
            }
            thread::scope(|scope| {
                let mut model = Model {
                    scope,
                    db,
                    random: RandomStream::seeded(seed),
                    numbers,
                    young: BTreeSet::new(),
                    claims: Vec::new(),
                    gathering: None,
                };
                for _ in 0..STEPS {
                    model.step();
                }
                model.end_gathering();
                while !model.claims.is_empty() {
                    model.end_claim(0);
                }
                let mut stored = BTreeMap::new();
                let read = db.read_blocking(|tx| {
                    scan(tx, 0, i64::MAX, |logged| {
                        assert!(stored.insert(logged.event.id, logged.seq).is_none());
                        Ok(())
                    })
                });
                read.unwrap();
                let id = |number: u32| event(number, "early", EARLY).id;
                let counted: BTreeMap<String, i64> =
                    model.numbers.into_iter().map(|(number, seq)| (id(number), seq)).collect();
                assert_eq!(stored, counted, "seed {seed}");
            });
        });
    }
}
