//! The log as a list: in every order, from both ends, by what the filter takes; sensors by their newest event.

use lyceum_events::repository::{By, Filter, Order, newest_of_sensors};
use lyceum_events::{Event, repository};
use lyceum_store::Db;

use crate::log::{EARLY, LATE, both, event, send};

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
    filter: &Filter,
    by: By,
    is_reversed: bool,
    (limit, offset): (i64, i64),
) -> Vec<u32> {
    let order = Order { by, is_reversed };
    let page = db.read_blocking(|tx| repository::list(tx, filter, order, limit, offset)).unwrap();
    page.events.iter().map(|logged| number(&logged.event)).collect()
}

#[test]
fn a_list_has_every_order_from_both_ends() {
    both(|db| {
        let sent = [(1, "b", 3), (2, "a", 1), (3, "b", 2), (4, "a", 2), (5, "a", 2000)];
        let events: Vec<Event> =
            sent.iter().map(|&(number, sensor, minutes)| from(number, sensor, minutes)).collect();
        send(db, "app", &events);
        // A corrected event keeps its place of arrival out of the list: the version that counts is new.
        send(db, "app", &[event(2, "b", LATE)]);
        let wanted: [(By, [u32; 5]); 3] = [
            (By::Arrival, [1, 3, 4, 5, 2]),
            (By::Time, [2, 3, 4, 1, 5]),
            (By::Sensor, [4, 5, 1, 3, 2]),
        ];
        let filters =
            [Filter::default(), Filter { start: Some(from(0, "", 0).time), ..Filter::default() }];
        for filter in &filters {
            for (by, wanted) in wanted {
                let turned: Vec<u32> = wanted.iter().rev().copied().collect();
                for (is_reversed, wanted) in [(false, wanted.to_vec()), (true, turned)] {
                    let told = format!("{by:?} {is_reversed} {filter:?}");
                    assert_eq!(ids(db, filter, by, is_reversed, (9, 0)), wanted, "{told}");
                    // Pages go on where the one before ended, and the last one is shorter.
                    let paged =
                        (0..4).flat_map(|page| ids(db, filter, by, is_reversed, (2, page * 2)));
                    assert_eq!(paged.collect::<Vec<_>>(), wanted, "{told}, in pages");
                }
            }
        }
        let newest = |most| {
            let found = db.read_blocking(|tx| newest_of_sensors(tx, most)).unwrap();
            let told =
                found.iter().map(|one| format!("{} {}", one.event.sensor, number(&one.event)));
            told.collect::<Vec<_>>()
        };
        assert_eq!(newest(9), ["a 5", "b 3", "https://app.example.org/sensors/1 2"]);
        assert_eq!(
            newest(1),
            ["https://app.example.org/sensors/1 2"],
            "the one that appeared last"
        );
    });
}
