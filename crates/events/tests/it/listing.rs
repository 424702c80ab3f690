//! The log as a list: in every order, from both ends, by what the filter takes; sensors by their newest event.

use lyceum_core::random::RandomStream;
use lyceum_events::repository::{
    EventFilter, EventOrder, EventOrderKey, newest_of_sensors, numbers,
};
use lyceum_events::{Event, LoggedEvent, repository, scan};
use lyceum_store::Db;
use lyceum_testkit::both_stores;

use crate::log::{EARLY, LATE, both, event, event_at, send};

/// The event of that number, from a sensor, that many minutes after the others.
fn from(number: u32, sensor: &str, minutes: i64) -> Event {
    let mut event = event(number, "a", EARLY);
    sensor.clone_into(&mut event.sensor);
    event.time = event.time.plus_seconds(minutes * 60);
    event
}

/// The number that the test gave it.
fn number(event: &Event) -> u32 {
    event.id.rsplit('-').next().unwrap().parse().unwrap()
}

fn ids(
    db: &Db,
    filter: &EventFilter,
    by: EventOrderKey,
    is_reversed: bool,
    (limit, offset): (i64, i64),
) -> Vec<u32> {
    let order = EventOrder { by, is_reversed };
    let page = db
        .read_blocking(|tx| {
            repository::list(
                tx,
                filter,
                &lyceum_events::ActorFilter::Everyone,
                order,
                limit,
                offset,
            )
        })
        .unwrap();
    page.events.iter().map(|logged| number(&logged.event)).collect()
}

#[test]
fn a_list_can_be_read_in_every_order_from_both_ends() {
    both(|db| {
        let sent = [(1, "b", 3), (2, "a", 1), (3, "b", 2), (4, "a", 2), (5, "a", 2000)];
        let events: Vec<Event> =
            sent.iter().map(|&(number, sensor, minutes)| from(number, sensor, minutes)).collect();
        send(db, "app", &events);
        // A corrected event keeps its place of arrival out of the list: the version that counts is new.
        send(db, "app", &[event(2, "b", LATE)]);
        let wanted: [(EventOrderKey, [u32; 5]); 3] = [
            (EventOrderKey::Arrival, [1, 3, 4, 5, 2]),
            (EventOrderKey::Time, [2, 3, 4, 1, 5]),
            (EventOrderKey::Sensor, [4, 5, 1, 3, 2]),
        ];
        let filters = [
            EventFilter::default(),
            EventFilter { start: Some(from(0, "", 0).time), ..EventFilter::default() },
        ];
        for filter in &filters {
            for (by, wanted) in wanted {
                let turned: Vec<u32> = wanted.iter().rev().copied().collect();
                for (is_reversed, wanted) in [(false, wanted.to_vec()), (true, turned)] {
                    let message = format!("{by:?} {is_reversed} {filter:?}");
                    assert_eq!(ids(db, filter, by, is_reversed, (9, 0)), wanted, "{message}");
                    // Pages go on where the one before ended, and the last one is shorter.
                    let paged =
                        (0..4).flat_map(|page| ids(db, filter, by, is_reversed, (2, page * 2)));
                    assert_eq!(paged.collect::<Vec<_>>(), wanted, "{message}, in pages");
                }
            }
        }
        let newest = |most| {
            let found = db.read_blocking(|tx| newest_of_sensors(tx, most)).unwrap();
            let message =
                found.iter().map(|one| format!("{} {}", one.event.sensor, number(&one.event)));
            message.collect::<Vec<_>>()
        };
        assert_eq!(newest(9), ["a 5", "b 3", "https://app.example.org/sensors/1 2"]);
        assert_eq!(
            newest(1),
            ["https://app.example.org/sensors/1 2"],
            "the one that appeared last"
        );
    });
}

/// Events of three sensors on five days around the beginning of 1970 and of 2026, some of which come again,
/// corrected or not, from several clients in envelopes of any size.
fn fill(db: &Db, random: &mut RandomStream) {
    for _ in 0..40 {
        let client = *random.pick(&["app", "other"]);
        let envelope = (0..=random.below(60)).map(|_| any(random)).collect::<Vec<_>>();
        send(db, client, &envelope);
    }
}

fn any(random: &mut RandomStream) -> Event {
    let number = u32::try_from(random.below(900)).unwrap();
    let (sent, name) = (*random.pick(&[EARLY, EARLY, EARLY, LATE]), *random.pick(&["a", "b"]));
    let sensor = format!("https://app.example.org/sensors/{}", number / 30 % 3);
    let days = ["1969-12-31", "1970-01-01", "2026-01-15", "2026-01-16", "2026-02-28"];
    let day = days[number as usize / 15 % 4 + usize::from(name == "b")];
    let time = format!("{day}T{:02}:{:02}:00.000Z", number % 24, number % 60);
    let event = event_at(number, name, sent, &sensor, &time);
    if number % 5 > 0 {
        return event;
    }
    let viewed = event.body().replacen("\"type\":\"Event\"", "\"type\":\"ViewEvent\"", 1);
    Event::read(&viewed, &event.sensor, event.send_time).unwrap()
}

/// Filters that take some of [`fill`]'s events.
fn filters(random: &mut RandomStream, all: &[LoggedEvent]) -> Vec<EventFilter> {
    let mut some = || random.pick(all).event.clone();
    let sensor = || Some("https://app.example.org/sensors/1".to_owned());
    let (one, other) = (some().time, some().time);
    let (start, end) = (Some(one.min(other)), Some(one.max(other)));
    let actor_id = Some(some().actor);
    vec![
        EventFilter::default(),
        EventFilter { sensor: sensor(), ..EventFilter::default() },
        EventFilter { start, ..EventFilter::default() },
        EventFilter { end, ..EventFilter::default() },
        EventFilter { sensor: sensor(), start, end, ..EventFilter::default() },
        EventFilter { actor_id: actor_id.clone(), ..EventFilter::default() },
        EventFilter { actor_id, sensor: sensor(), start, end, ..EventFilter::default() },
        EventFilter { sensor: Some("https://nobody.example.org".into()), ..EventFilter::default() },
        EventFilter { kind: Some("ViewEvent".into()), ..EventFilter::default() },
        EventFilter {
            kind: Some("Event".into()),
            sensor: sensor(),
            start,
            ..EventFilter::default()
        },
    ]
}

/// The expected numbers of a list, in its order.
fn wanted(
    all: &[LoggedEvent],
    filter: &EventFilter,
    EventOrder { by, is_reversed }: EventOrder,
) -> Vec<i64> {
    let mut taken: Vec<&LoggedEvent> = all.iter().filter(|logged| filter.takes(logged)).collect();
    taken.sort_by_key(|logged| match by {
        EventOrderKey::Arrival => (0, String::new(), String::new(), logged.seq),
        EventOrderKey::Time => {
            (logged.event.time.milliseconds(), String::new(), String::new(), logged.seq)
        }
        EventOrderKey::Sensor => {
            (0, logged.event.sensor.clone(), logged.client.clone(), logged.seq)
        }
    });
    if is_reversed {
        taken.reverse();
    }
    taken.iter().map(|logged| logged.seq).collect()
}

fn check_lists(db: &Db, random: &mut RandomStream) {
    let mut all = Vec::new();
    db.read_blocking(|tx| {
        scan(tx, 0, i64::MAX, |logged| {
            all.push(logged);
            Ok(())
        })
    })
    .unwrap();
    assert!(all.len() > 500, "{}", all.len());
    for filter in &filters(random, &all) {
        for by in [EventOrderKey::Arrival, EventOrderKey::Time, EventOrderKey::Sensor] {
            for is_reversed in [false, true] {
                let order = EventOrder { by, is_reversed };
                let wanted = wanted(&all, filter, order);
                let found = db
                    .read_blocking(|tx| {
                        numbers(tx, filter, &lyceum_events::ActorFilter::Everyone, order, 2000)
                    })
                    .unwrap();
                assert_eq!(found, wanted, "{order:?} {filter:?}");
                let skip = usize::try_from(random.below(1 + wanted.len() as u64)).unwrap();
                let offset = i64::try_from(skip).unwrap();
                let page = db.read_blocking(|tx| {
                    repository::list(
                        tx,
                        filter,
                        &lyceum_events::ActorFilter::Everyone,
                        order,
                        7,
                        offset,
                    )
                });
                let page = page.unwrap();
                let seqs: Vec<i64> = page.events.iter().map(|logged| logged.seq).collect();
                let rest = &wanted[skip..];
                assert_eq!(seqs, rest[..rest.len().min(7)], "{order:?} {filter:?} from {skip}");
                assert_eq!(page.total, i64::try_from(wanted.len()).unwrap(), "{filter:?}");
            }
        }
    }
}

#[test]
fn lists_contain_exactly_the_events_of_the_log() {
    both_stores(lyceum_events::MIGRATIONS, |target| {
        let mut random = RandomStream::seeded(17);
        let db = Db::open(target, lyceum_events::MIGRATIONS).unwrap();
        fill(&db, &mut random);
        check_lists(&db, &mut random);
        crate::runs::gather_all(&db);
        check_lists(&db, &mut random);
        crate::runs::sum_all(&db);
        check_lists(&db, &mut random);
    });
}

/// Events of one sender that come together are one span; those that were there already are in no other.
#[test]
fn events_that_arrive_together_form_one_span() {
    both(|db| {
        let events: Vec<Event> = (0..100).map(|number| event(number, "a", EARLY)).collect();
        let spans = || {
            let sql = "SELECT COUNT(*) FROM event_spans";
            db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0))).unwrap().unwrap()
        };
        send(db, "app", &events);
        assert_eq!(spans(), 1);
        send(db, "app", &events);
        assert_eq!(spans(), 1);
        let mut other: Vec<Event> = (500..600).map(|number| from(number, "b", 0)).collect();
        other[50].time = other[50].time.plus_seconds(86_400);
        send(db, "app", &other);
        assert_eq!(spans(), 4, "a day within others");
    });
}
