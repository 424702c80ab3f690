//! Appending: every id once, corrections in any order.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_core::random::RandomStream;
use lyceum_core::redaction::Redaction;
use lyceum_core::time::Timestamp;
use lyceum_events::repository::{ErasedActor, rename_actors};
use lyceum_events::{
    Appended, ClientEvents, Event, KnownNames, actors_behind, append_all, of_actor, parse, scan,
};
use lyceum_store::{Db, StatementsSee, outbox};
use lyceum_testkit::open_writes::wait;
use serde_json::{Value, json};

use crate::AFTER_ALL;

/// Runs the body on a fresh database of each store.
pub(crate) fn both(body: impl Fn(&Db)) {
    lyceum_testkit::both_stores(lyceum_events::MIGRATIONS, |target| {
        body(&Db::open(target, lyceum_events::MIGRATIONS).expect("a fresh database opens"));
    });
}

pub(crate) fn event(number: u32, name: &str, send_time: &str) -> Event {
    let time = "2026-01-15T08:00:00.000Z";
    event_at(number, name, send_time, "https://app.example.org/sensors/1", time)
}

pub(crate) fn event_at(
    number: u32,
    name: &str,
    send_time: &str,
    sensor: &str,
    time: &str,
) -> Event {
    let envelope = json!({
        "sensor": sensor,
        "sendTime": send_time,
        "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2",
        "data": [{
            "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "id": format!("urn:uuid:00000000-0000-4000-8000-{number:012}"),
            "type": "Event",
            "profile": "GeneralProfile",
            "actor": {"id": format!("https://example.org/users/{}", number % 3), "type": "Person"},
            "action": "Created",
            "object": {"id": "https://example.org/documents/1", "type": "Document", "name": name},
            "eventTime": time,
        }],
    });
    parse(&envelope.to_string(), AFTER_ALL).unwrap().events.remove(0)
}

/// When all events of these tests arrive.
pub(crate) const NOW: Timestamp = Timestamp::from_milliseconds(1_768_464_000_000);

/// Appends as a server does that takes events in.
pub(crate) fn send(db: &Db, client: &'static str, events: &[Event]) -> Vec<Appended> {
    let events = events.to_vec();
    let write = db.write_with_locks(StatementsSee::LatestCommits, move |tx| {
        append_all(tx, NOW, &[ClientEvents { client, events: &events }], &KnownNames::default())
    });
    wait(write).unwrap().0
}

/// The events that count: number and name of each.
fn current(db: &Db) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    db.read_blocking(|tx| {
        scan(tx, 0, 1000, |logged| {
            found.push((logged.event.id.clone(), logged.event.content()["object"]["name"].clone()));
            Ok(())
        })
    })
    .unwrap();
    found.sort_by_key(|(id, name)| (id.clone(), name.to_string()));
    found
}

/// Each event that counts is found by its actor.
pub(crate) fn assert_found_by_actors(db: &Db) {
    let (mut of_log, mut of_actors) = (BTreeSet::new(), BTreeSet::new());
    db.read_blocking(|tx| {
        scan(tx, 0, i64::MAX, |logged| {
            of_log.insert((logged.actor, logged.seq));
            Ok(())
        })?;
        for actor in actors_behind(tx, 0, i64::MAX)? {
            of_actor(tx, actor, i64::MIN..i64::MAX, |logged| {
                assert!(of_actors.insert((logged.actor, logged.seq)), "found twice");
                Ok(())
            })?;
        }
        Ok(())
    })
    .unwrap();
    assert!(of_log == of_actors, "an event is not found by its actor");
}

fn empty(db: &Db) {
    let tables = [
        "event_log",
        "event_blocks",
        "event_spans",
        "event_ids",
        "event_versions",
        "event_unsummed",
    ];
    let emptied = db.write_blocking(|tx| {
        tables
            .iter()
            .try_for_each(|table| tx.execute(&format!("DELETE FROM {table}"), &[]).map(drop))
    });
    emptied.unwrap();
}

pub(crate) const EARLY: &str = "2026-01-15T09:00:00.000Z";
pub(crate) const LATE: &str = "2026-01-15T10:00:00.000Z";

#[test]
fn the_same_event_is_counted_once() {
    both(|db| {
        let events: Vec<Event> = (0..150).map(|number| event(number, "a", EARLY)).collect();
        let first = send(db, "app", &events);
        assert!(first.iter().all(|it| matches!(it, Appended::New { .. })), "{first:?}");
        let again = send(db, "app", &events);
        assert!(again.iter().all(|it| matches!(it, Appended::Same { .. })), "{again:?}");
        let numbers = |answers: &[Appended]| answers.iter().map(Appended::seq).collect::<Vec<_>>();
        assert_eq!(numbers(&first), numbers(&again));
        let twice = send(db, "app", &[event(500, "a", EARLY), event(500, "a", EARLY)]);
        assert!(matches!(twice[..], [Appended::New { .. }, Appended::Same { .. }]), "{twice:?}");
        assert_eq!(current(db).len(), 151);
    });
}

#[test]
fn new_events_and_corrections_of_a_wanted_sensor_are_announced() {
    both(|db| {
        let wanted = [("caliper.event", "https://app.test/one")];
        db.write_blocking(|tx| outbox::set_wanted_topics(tx, &wanted)).unwrap();
        let time = "2026-01-15T08:00:00.000Z";
        let sent = |number, name, send_time, sensor| {
            send(db, "app", &[event_at(number, name, send_time, sensor, time)]);
        };
        sent(1, "a", EARLY, "https://app.test/one");
        sent(2, "a", EARLY, "https://app.test/two");
        sent(1, "a", EARLY, "https://app.test/one");
        sent(1, "b", LATE, "https://app.test/one");
        sent(1, "c", EARLY, "https://app.test/one");
        let changes = db.write_blocking(|tx| outbox::remove_oldest(tx, 10)).unwrap();
        let id = event(1, "a", EARLY).id;
        for (change, name) in changes.iter().zip(["a", "b"]) {
            assert_eq!(
                (&*change.topic, &*change.sensor, &change.object),
                ("caliper.event", "https://app.test/one", &id)
            );
            let data: Value = serde_json::from_str(&change.data).unwrap();
            assert_eq!(data["object"]["name"], name);
        }
        assert_eq!(changes.len(), 2, "a repetition and an older version are no changes");
    });
}

#[test]
fn an_actor_that_is_renamed_twice_is_counted_once() {
    both(|db| {
        send(db, "app", &[event(1, "a", EARLY), event(2, "a", EARLY)]);
        let mut numbers = Vec::new();
        db.read_blocking(|tx| {
            scan(tx, 0, 10, |logged| {
                numbers.push(logged.actor);
                Ok(())
            })
        })
        .unwrap();
        let rename = |numbers: &[i64]| {
            let erased = ErasedActor {
                numbers: numbers.to_vec(),
                pseudonym: "erased-1".to_owned(),
                redaction: Redaction::default(),
            };
            db.write_blocking(|tx| rename_actors(tx, &erased)).unwrap()
        };
        assert_eq!(rename(&numbers[..1]), 1);
        assert_eq!(rename(&numbers), 1, "only the actor that was found later");
        assert_eq!(rename(&numbers), 0);
    });
}

#[test]
fn a_used_id_from_another_client_changes_nothing() {
    both(|db| {
        send(db, "app", &[event(1, "a", EARLY)]);
        let answers = send(db, "other", &[event(1, "b", LATE)]);
        assert!(matches!(answers[..], [Appended::Same { .. }]), "{answers:?}");
        assert_eq!(current(db)[0].1, "a");
    });
}

#[test]
fn the_current_version_does_not_depend_on_the_order() {
    let versions = [("a", EARLY), ("b", LATE), ("c", LATE), ("a", "2026-01-15T09:30:00.000Z")];
    let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1], [2, 0, 1, 3]];
    both(|db| {
        let mut ends = Vec::new();
        for order in orders {
            for at in order {
                let (name, sent) = versions[at];
                send(db, "app", &[event(1, name, sent), event(1, name, sent)]);
            }
            let [end] = &current(db)[..] else { panic!("one event") };
            ends.push(end.1.clone());
            empty(db);
        }
        assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
        assert!(ends[0] == "b" || ends[0] == "c");
    });
}

/// Whatever the order, the repetitions and the split into envelopes: the same events count, and
/// what each call answers adds up to them.
#[test]
fn order_repetition_and_split_do_not_matter() {
    let rounds = if lyceum_testkit::full_size() { 60 } else { 6 };
    both(|db| {
        let mut random = RandomStream::seeded(11);
        for round in 0..rounds {
            let sent: Vec<Event> = (0..25).map(|_| any_event(&mut random)).collect();
            let mut ends = Vec::new();
            for _ in 0..3 {
                empty(db);
                let mut counted: BTreeMap<String, Vec<Value>> = BTreeMap::new();
                for batch in mixed(&mut random, &sent) {
                    for (event, appended) in batch.iter().zip(send(db, "app", &batch)) {
                        let names = counted.entry(event.id.clone()).or_default();
                        match appended {
                            Appended::Same { .. } | Appended::Older { .. } => continue,
                            Appended::New { .. } => {}
                            Appended::Correction { former, .. } => {
                                let name = &former.content()["object"]["name"];
                                let at = names.iter().position(|known| known == name).unwrap();
                                names.remove(at);
                            }
                        }
                        names.push(event.content()["object"]["name"].clone());
                    }
                }
                let added: Vec<(String, Value)> = counted
                    .into_iter()
                    .map(|(id, names)| {
                        let [name] = &names[..] else { panic!("{id} counts {names:?}") };
                        (id, name.clone())
                    })
                    .collect();
                let end = current(db);
                assert_eq!(end, added, "round {round}: the answers do not add up");
                ends.push(end);
            }
            assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "round {round}: {ends:?}");
        }
    });
}

/// An event of few ids, contents and times, so that events meet.
fn any_event(random: &mut RandomStream) -> Event {
    let number = u32::try_from(random.below(6)).unwrap();
    let name = *random.pick(&["a", "b", "c"]);
    event(number, name, &format!("2026-01-15T09:0{}:00.000Z", random.below(3)))
}

/// The events in a random order, some of them again, in envelopes of random sizes.
fn mixed(random: &mut RandomStream, events: &[Event]) -> Vec<Vec<Event>> {
    let mut waiting = events.to_vec();
    for _ in 0..events.len() / 2 {
        waiting.push(random.pick(events).clone());
    }
    let mut batches = vec![Vec::new()];
    while !waiting.is_empty() {
        let at = usize::try_from(random.below(waiting.len() as u64)).unwrap();
        if random.below(4) == 0 {
            batches.push(Vec::new());
        }
        batches.last_mut().unwrap().push(waiting.swap_remove(at));
    }
    batches
}

#[test]
fn every_event_of_the_last_hour_is_counted_however_many_there_are() {
    const EVENTS: u32 = 20_500;
    both(|db| {
        let numbers: Vec<u32> = (0..EVENTS).collect();
        for run in numbers.chunks(500) {
            let events: Vec<Event> =
                run.iter().map(|number| event(*number, "a", "2026-01-15T08:00:00.000Z")).collect();
            send(db, "app", &events);
        }
        let hour = Timestamp::from_milliseconds(NOW.milliseconds() - 3_600_000);
        let flow = db.read_blocking(|tx| lyceum_events::repository::flow(tx, hour)).unwrap();
        let minute = flow.minutes[&(NOW.milliseconds() / 60_000)];
        assert_eq!((flow.minutes.len(), minute.count), (1, i64::from(EVENTS)));
        assert_eq!(minute.last - minute.first + 1, i64::from(EVENTS));
        let later = Timestamp::from_milliseconds(NOW.milliseconds() + 1);
        let flow = db.read_blocking(|tx| lyceum_events::repository::flow(tx, later)).unwrap();
        assert!(flow.minutes.is_empty());
    });
}
