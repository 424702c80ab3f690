//! Many who append at once: every id counts once, however they meet.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use lyceum_core::random::RandomStream;
use lyceum_events::{Appended, Event, append, facts, scan};
use lyceum_store::Db;

use crate::log::{EARLY, LATE, NOW, both, event, send, wait};

/// Senders at once.
const SENDERS: u64 = 4;
/// Ids that they share.
const IDS: u64 = 3_000;

/// What an id is called, early and late: the late one counts once somebody sent it.
const NAMES: [(&str, &str); 2] = [("early", EARLY), ("late", LATE)];

/// A lesson that is completed writes one event, in a transaction that sees no other.
pub(crate) fn complete(db: &Db, event: Event) -> Vec<Appended> {
    wait(db.write(move |tx| append(tx, NOW, "app", std::slice::from_ref(&event)))).unwrap()
}

#[test]
fn ids_count_once_under_concurrent_writes() {
    let sends = if lyceum_testkit::full_size() { 400 } else { 40 };
    both(|db| {
        let (sent, answers) = (Mutex::new(BTreeSet::new()), Mutex::new([0; 2]));
        thread::scope(|scope| {
            for sender in 0..SENDERS {
                let (sent, answers) = (&sent, &answers);
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
            })?;
            facts::unplaced(tx, 0)
        });
        assert_eq!(read.unwrap(), Vec::<facts::EventPosition>::new(), "an event has no facts");
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
    });
}
