//! Many who append at once: every id counts once, however they meet.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Scope};

use lyceum_core::ProblemKind;
use lyceum_core::random::RandomStream;
use lyceum_events::repository::gather;
use lyceum_events::{Appended, Event, append, facts, parse, scan};
use lyceum_store::{Db, SqlDialect, StatementsSee, Tx};
use lyceum_testkit::open_writes::{OpenWrite, wait, wait_for_a_wait};

use crate::AFTER_ALL;
use crate::log::{EARLY, LATE, NOW, assert_found_by_actors, both, event, send};
use crate::open_writes::{KNOWN, events, on_postgres, start_claim};
use crate::runs::{gather_all, sum_all};
use crate::validation::good;

/// Senders at once.
const SENDERS: u64 = 4;
/// Ids that they share.
const IDS: u64 = 3_000;

/// The names of an id, early and late: the late one counts once somebody sent it.
const NAMES: [(&str, &str); 2] = [("early", EARLY), ("late", LATE)];

/// A lesson that is completed writes one event, in a transaction that sees no other.
pub(crate) fn complete(db: &Db, event: Event) -> Vec<Appended> {
    wait(db.write(move |tx| append(tx, NOW, "app", std::slice::from_ref(&event)))).unwrap()
}

#[test]
fn ids_are_claimed_once_under_concurrent_writes() {
    let sends = if lyceum_testkit::full_size() { 400 } else { 20 };
    lyceum_testkit::both_stores(lyceum_events::MIGRATIONS, |target| {
        let db = &Db::open(target, lyceum_events::MIGRATIONS).unwrap();
        // A second server. SQLite serves one.
        let is_shared = db.dialect() == SqlDialect::Postgres;
        let other = is_shared.then(|| Db::open(target, lyceum_events::MIGRATIONS).unwrap());
        let other = other.as_ref().unwrap_or(db);
        let (sent, answers) = (Mutex::new(BTreeSet::new()), Mutex::new([0; 2]));
        let (left, moved) = (AtomicU64::new(SENDERS), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                while left.load(Ordering::SeqCst) > 0 {
                    moved.fetch_add(gather_all(db).moved, Ordering::SeqCst);
                    gather_all(other);
                    sum_all(db);
                }
            });
            for sender in 0..SENDERS {
                let (sent, answers, left) = (&sent, &answers, &left);
                let db = if sender % 2 == 0 { db } else { other };
                scope.spawn(move || {
                    let mut random = RandomStream::seeded(63 + sender);
                    for _ in 0..sends {
                        let size = *random.pick(&[1, 1, 20, 60, 300]);
                        let batch: Vec<(u64, usize)> = (0..size)
                            .map(|_| (random.below(IDS), usize::from(random.below(20) == 0)))
                            .collect();
                        let events: Vec<Event> = batch
                            .iter()
                            .map(|&(id, at)| {
                                event(u32::try_from(id).unwrap(), NAMES[at].0, NAMES[at].1)
                            })
                            .collect();
                        let appended = match &events[..] {
                            [one] => complete(db, one.clone()),
                            many => send(db, "app", many),
                        };
                        sent.lock().unwrap().extend(batch);
                        let mut answers = answers.lock().unwrap();
                        for one in appended {
                            match one {
                                Appended::New { .. } => answers[0] += 1,
                                Appended::Correction { .. } => answers[1] += 1,
                                Appended::Same { .. } | Appended::Older { .. } => {}
                            }
                        }
                    }
                    left.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        let (sent, [new, corrections]) =
            (sent.into_inner().unwrap(), answers.into_inner().unwrap());
        let ids: BTreeSet<u64> = sent.iter().map(|(id, _)| *id).collect();
        let both: usize =
            ids.iter().filter(|id| (0..2).all(|at| sent.contains(&(**id, at)))).count();
        assert_eq!(new, ids.len(), "an id is new once");
        assert!(corrections <= both, "{corrections} corrections of {both}");
        let mut counted = BTreeSet::new();
        let read = db.read_blocking(|tx| {
            scan(tx, 0, i64::MAX, |logged| {
                let name = logged.event.content()["object"]["name"].clone();
                assert!(counted.insert((logged.event.id.clone(), name.to_string())));
                Ok(())
            })
        });
        read.unwrap();
        assert_found_by_actors(db);
        let wanted: BTreeSet<(String, String)> = ids
            .iter()
            .map(|id| {
                let (name, time) = NAMES[usize::from(sent.contains(&(*id, 1)))];
                let name_as_json = format!("\"{name}\"");
                (event(u32::try_from(*id).unwrap(), name, time).id, name_as_json)
            })
            .collect();
        assert_eq!(counted, wanted);
        let total = db.read_blocking(|tx| tx.tally_total("events")).unwrap();
        assert_eq!(total, i64::try_from(ids.len()).unwrap(), "what is counted is there");
        assert!(moved.into_inner() > 0, "ids moved while they were claimed");
    });
}

/// A claim of these ids that is not committed.
fn claim<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    db: &'env Db,
    numbers: Range<u32>,
) -> OpenWrite<'scope, Vec<Appended>> {
    let claim = start_claim(scope, db, events(numbers));
    claim.result();
    claim
}

fn new_count(appended: &[Appended]) -> usize {
    appended.iter().filter(|one| matches!(one, Appended::New { .. })).count()
}

#[test]
fn a_claim_waits_only_for_an_unfinished_claim_of_the_same_id() {
    on_postgres(|db| {
        thread::scope(|scope| {
            let first = claim(scope, db, 0..40);
            assert_eq!(new_count(&send(db, "app", &events(40..80))), 40, "others do not wait");
            let later = scope.spawn(|| send(db, "app", &events(39..81)));
            wait_for_a_wait(db);
            first.commit();
            assert_eq!(new_count(&later.join().unwrap()), 1, "39 was taken");
            let first = claim(scope, db, 100..140);
            let later = scope.spawn(|| send(db, "app", &events(100..141)));
            wait_for_a_wait(db);
            first.roll_back();
            assert_eq!(new_count(&later.join().unwrap()), 41, "a claim that failed takes nothing");
        });
    });
}

/// Between the first statement of a transaction and its claim, the ids appear and move into a run.
#[test]
fn an_id_that_was_moved_into_a_run_before_its_claim_is_found() {
    on_postgres(|db| {
        let others = |numbers: Range<u32>| {
            let db = db.clone();
            let mut others = Some(move || {
                let sent = send(&db, "app", &events(numbers));
                assert!(gather_all(&db).moved > 0);
                new_count(&sent)
            });
            // A closure that runs again does this once.
            move || others.take().map(|others| thread::spawn(others).join().unwrap())
        };
        let mut come_first = others(0..50);
        let latest = db.write_with_locks(StatementsSee::LatestCommits, move |tx| {
            tx.query_one("SELECT COUNT(*) FROM event_log", &[], |row| row.int(0))?;
            come_first();
            append(tx, NOW, "app", &events(0..51))
        });
        assert_eq!(new_count(&wait(latest).unwrap()), 1);
        let mut come_first = others(100..150);
        let runs = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&runs);
        let of_one_state = db.write(move |tx| {
            seen.fetch_add(1, Ordering::SeqCst);
            tx.query_one("SELECT COUNT(*) FROM event_log", &[], |row| row.int(0))?;
            come_first();
            append(tx, NOW, "app", &events(100..151))
        });
        assert_eq!(new_count(&wait(of_one_state).unwrap()), 1);
        assert_eq!(runs.load(Ordering::SeqCst), 2, "it ran again, with the later state");
    });
}

/// A server that is killed while it moves ids leaves them where they were.
#[test]
fn a_move_that_fails_changes_nothing() {
    on_postgres(|db| {
        send(db, "app", &events(0..200));
        thread::scope(|scope| {
            let moving = OpenWrite::start(scope, db, gather);
            assert!(moving.result().unwrap().moved > 0);
            assert_eq!(new_count(&send(db, "app", &events(300..400))), 100, "claims go on");
            assert_eq!(gather_all(db).moved, 0, "one at a time");
            let repeated = scope.spawn(|| send(db, "app", &events(150..250)));
            wait_for_a_wait(db);
            moving.roll_back();
            assert_eq!(new_count(&repeated.join().unwrap()), 50);
        });
        assert!(gather_all(db).moved > 0);
        assert_eq!(new_count(&send(db, "app", &events(0..450))), 100);
        assert_found_by_actors(db);
    });
}

/// Completed lessons that follow each other closely would keep the ids of other events from moving.
#[test]
fn a_move_does_not_wait_for_writes_that_see_one_state() {
    on_postgres(|db| {
        send(db, "app", &events(0..200));
        thread::scope(|scope| {
            let lesson = OpenWrite::start_seeing_one_state(scope, db, |tx| {
                append(tx, NOW, "app", &events(200..201))
            });
            assert_eq!(new_count(&lesson.result()), 1);
            assert!(gather_all(db).moved >= 200);
            lesson.commit();
        });
        assert_eq!(new_count(&send(db, "app", &events(0..202))), 1);
    });
}

/// As in a damaged database.
#[test]
fn an_id_whose_event_is_missing_is_an_error() {
    both(|db| {
        // The later event keeps its number, so that the number of the removed one is not given again.
        let seq = send(db, "app", &events(0..2))[0].seq();
        let remove = "DELETE FROM event_log WHERE seq = $1";
        assert_eq!(db.write_blocking(|tx| tx.execute(remove, &[seq.into()])).unwrap(), 1);
        let refused = wait(db.write_with_locks(StatementsSee::LatestCommits, |tx| {
            append(tx, NOW, "app", &events(0..1))
        }));
        assert_eq!(refused.unwrap_err().kind, ProblemKind::Internal);
    });
}

/// Two corrections of one event that do not see each other would both replace the former version.
#[test]
fn corrections_of_one_event_run_one_after_the_other() {
    on_postgres(|db| {
        send(db, "app", &events(0..40));
        thread::scope(|scope| {
            let correct = |name: &'static str, at: &'static str| {
                move |tx: &mut Tx<'_>| append(tx, NOW, "app", &[event(1, name, at)]).map(drop)
            };
            let first = OpenWrite::start(scope, db, correct("second", LATE));
            first.result();
            let later =
                scope.spawn(|| send(db, "app", &[event(1, "third", "2026-01-15T11:00:00Z")]));
            wait_for_a_wait(db);
            assert_eq!(
                wait(db.write_with_locks(StatementsSee::LatestCommits, facts::sum)).unwrap(),
                None,
                "a correction is under way"
            );
            first.commit();
            let [Appended::Correction { former, .. }] = &later.join().unwrap()[..] else {
                panic!("no correction")
            };
            assert_eq!(former.content()["object"]["name"], "second");
        });
        let total = db.read_blocking(|tx| tx.tally_total("events")).unwrap();
        let known = i64::try_from(KNOWN.len()).unwrap();
        assert_eq!(total, 40 + known, "one version counts");
    });
}

/// Otherwise two transactions could wait for each other: one for the context, the other for the sums.
#[test]
fn a_correction_that_waits_for_a_context_does_not_lock_the_sums() {
    let activity = |number: u32, subject: &str, send_time: &str| {
        let mut envelope = good();
        envelope["sendTime"] = send_time.into();
        envelope["data"][0]["id"] = event(number, "", EARLY).id.into();
        envelope["data"][0]["object"]["subject"] = subject.into();
        parse(&envelope.to_string(), AFTER_ALL).unwrap().events.remove(0)
    };
    let [first, second] = [1, 2];
    on_postgres(|db| {
        send(db, "app", &[activity(first, "Math", EARLY)]);
        thread::scope(|scope| {
            let other = start_claim(scope, db, vec![activity(second, "Reading", EARLY)]);
            other.result();
            let correction = scope.spawn(|| send(db, "app", &[activity(first, "Reading", LATE)]));
            wait_for_a_wait(db);
            let summed =
                wait(db.write_with_locks(StatementsSee::LatestCommits, facts::sum)).unwrap();
            assert!(summed.is_some(), "the sums are locked");
            other.commit();
            let corrected = correction.join().unwrap();
            assert!(matches!(corrected[..], [Appended::Correction { .. }]), "{corrected:?}");
        });
    });
}
