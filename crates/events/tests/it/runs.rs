//! The log when it is longer than what stays young: the ids of most events stand in runs, and their facts are summed.

use std::collections::BTreeMap;

use lyceum_core::random::RandomStream;
use lyceum_events::repository::{EventFilter, EventOrder, GatherOutcome, gather, list, read};
use lyceum_events::{Appended, Event, facts, scan};
use lyceum_store::{Db, StatementsSee};
use lyceum_testkit::open_writes::wait;

use crate::log::{EARLY, LATE, both, event, send};

/// Events that are new.
const EVENTS: u32 = 9_000;

#[test]
fn events_in_runs_are_known_corrected_and_found() {
    both(|db| {
        let mut random = RandomStream::seeded(57);
        let mut names: BTreeMap<u32, &str> = BTreeMap::new();
        while names.len() < EVENTS as usize {
            let size = *random.pick(&[1, 40, 300, 1900]);
            let batch: Vec<(u32, &str)> = (0..size)
                .map(|_| {
                    let next = u32::try_from(names.len()).unwrap();
                    let number = match random.below(10) {
                        0 if next > 0 => u32::try_from(random.below(next.into())).unwrap(),
                        _ => next,
                    };
                    let is_corrected = names.contains_key(&number) && random.below(3) == 0;
                    let name = if is_corrected { "late" } else { "early" };
                    let former = names.get(&number).copied();
                    names.insert(number, if former == Some("late") { "late" } else { name });
                    (number, name)
                })
                .collect();
            let time = |name| if name == "late" { LATE } else { EARLY };
            let events: Vec<Event> =
                batch.iter().map(|&(number, name)| event(number, name, time(name))).collect();
            let new = send(db, "app", &events);
            if random.below(4) == 0 {
                gather_all(db);
            }
            if random.below(8) == 0 {
                sum_all(db);
            }
            assert!(new.iter().zip(&batch).all(|(it, (_, name))| match it {
                Appended::Correction { .. } => *name == "late",
                Appended::Older { .. } => *name == "early",
                Appended::New { .. } | Appended::Same { .. } => true,
            }));
        }
        let mut found = BTreeMap::new();
        db.read_blocking(|tx| {
            scan(tx, 0, i64::MAX, |logged| {
                let name = logged.event.content()["object"]["name"].as_str().map(str::to_owned);
                assert!(found.insert(logged.event.id.clone(), name).is_none(), "counted twice");
                Ok(())
            })
        })
        .unwrap();
        assert_eq!(found.len(), names.len());
        for (number, name) in &names {
            assert_eq!(found[&id(*number)].as_deref(), Some(*name), "{number}");
        }
        for number in names.keys().step_by(97) {
            let one = db
                .read_blocking(|tx| read(tx, &id(*number), &lyceum_events::ActorFilter::Everyone))
                .unwrap()
                .unwrap();
            assert_eq!(one.event.content()["object"]["name"], names[number]);
        }
        assert_eq!(
            db.read_blocking(|tx| read(tx, &id(EVENTS * 2), &lyceum_events::ActorFilter::Everyone))
                .unwrap(),
            None
        );
        for actor in 0..3 {
            let filter = EventFilter {
                actor_id: Some(format!("https://example.org/users/{actor}")),
                ..EventFilter::default()
            };
            let page = db
                .read_blocking(|tx| {
                    list(
                        tx,
                        &filter,
                        &lyceum_events::ActorFilter::Everyone,
                        EventOrder::default(),
                        3,
                        2500,
                    )
                })
                .unwrap();
            let wanted = names.keys().filter(|number| *number % 3 == actor).count();
            assert_eq!((page.total, page.events.len()), (i64::try_from(wanted).unwrap(), 3));
        }
        gather_all(db);
        let young = "SELECT count(*) FROM event_ids";
        let count = db.read_blocking(|tx| tx.row::<i64>(young, &[])).unwrap().unwrap();
        assert!(count < 5_000, "{count} stayed rows");
    });
}

/// Moves what is young into runs, as a server does beside its other work.
pub(crate) fn gather_all(db: &Db) -> GatherOutcome {
    let mut all = GatherOutcome { moved: 0, has_more: true };
    while all.has_more {
        let done = wait(db.write_with_locks(StatementsSee::LatestCommits, gather))
            .unwrap()
            .unwrap_or_default();
        all = GatherOutcome { moved: all.moved + done.moved, ..done };
    }
    all
}

/// Sums the facts that are stored now, as a server does beside its other work.
pub(crate) fn sum_all(db: &Db) {
    while wait(db.write_with_locks(StatementsSee::LatestCommits, facts::sum)).unwrap() == Some(true)
    {
    }
}

/// All ids are in a run, and a known event is sent again and again.
#[test]
fn known_events_are_recognised_after_all_ids_became_a_run() {
    both(|db| {
        let events: Vec<Event> = (0..4095).map(|number| event(number, "a", EARLY)).collect();
        send(db, "app", &events);
        gather_all(db);
        for _ in 0..3 {
            let again = send(db, "app", &events[..1]);
            assert!(matches!(again[..], [Appended::Same { .. }]), "{again:?}");
        }
    });
}

fn id(number: u32) -> String {
    event(number, "", EARLY).id
}
