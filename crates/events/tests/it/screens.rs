//! The log and rejected envelopes in the console.

use lyceum_core::ProblemKind;
use lyceum_events::limits::CONSOLE_SORTED_EVENTS_MAX_ROWS;
use lyceum_events::repository::{self, EventFilter, EventOrder, EventOrderKey};
use lyceum_events::screens::{log, rejected};
use lyceum_store::Db;
use serde_json::json;

use crate::log::{EARLY, NOW, both, event, event_at, send};

const NEWEST_FIRST: EventOrder = EventOrder { by: EventOrderKey::Arrival, is_reversed: true };

fn reject(db: &Db, client: &str, after_s: i64) {
    let at = NOW.plus_seconds(after_s);
    let details =
        [lyceum_core::Detail { path: "data[0].id".into(), message: "is required".into() }];
    db.write_blocking(|tx| {
        repository::refuse(tx, at, client, (&"an error".into(), &details), "{}")
    })
    .unwrap();
}

#[test]
fn a_page_of_the_log_has_the_apps_and_the_rejected_count() {
    both(|db| {
        let time = "2026-01-15T08:00:00.000Z";
        let sent = |number, sensor: &str| event_at(number, "a", EARLY, sensor, time);
        send(
            db,
            "app",
            &[
                sent(1, "https://b.example.org"),
                sent(2, "https://a.example.org"),
                event(3, "a", EARLY),
            ],
        );
        reject(db, "app", 0);
        let read = |is_whole, page| {
            let all = EventFilter::default();
            db.read_blocking(|tx| {
                log::read(
                    tx,
                    &all,
                    &lyceum_events::ActorFilter::Everyone,
                    NEWEST_FIRST,
                    is_whole,
                    page,
                )
            })
            .unwrap()
        };
        let first = read(false, (2, 0));
        assert_eq!((first.page.total, first.page.events.len(), first.waiting_count), (3, 2, 1));
        assert_eq!(first.page.events[0].seq, 3);
        assert!(first.is_few && 3 <= CONSOLE_SORTED_EVENTS_MAX_ROWS);
        let names: Vec<&str> = first.apps.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(
            names,
            ["https://a.example.org", "https://app.example.org/sensors/1", "https://b.example.org"]
        );
        assert_eq!(read(true, (1, 0)).page.events.len(), 3, "few events are read whole");
    });
}

#[test]
fn an_exported_file_has_the_first_events_and_reports_whether_there_are_more() {
    both(|db| {
        send(db, "app", &[1, 2, 3].map(|number| event(number, "a", EARLY)));
        let read = |most| {
            let mut found = Vec::new();
            let is_cut = db.read_blocking(|tx| {
                found.clear();
                log::each(
                    tx,
                    &EventFilter::default(),
                    &lyceum_events::ActorFilter::Everyone,
                    NEWEST_FIRST,
                    most,
                    |logged| {
                        found.push(logged.seq);
                        Ok(())
                    },
                )
            });
            (is_cut.unwrap(), found)
        };
        assert_eq!(read(3), (false, vec![3, 2, 1]));
        assert_eq!(read(2), (true, vec![3, 2]));
        let event = event(2, "a", EARLY);
        let found = db
            .read_blocking(|tx| log::event(tx, &event.id, &lyceum_events::ActorFilter::Everyone))
            .unwrap();
        assert_eq!(found.seq, 2);
        let missing = db.read_blocking(|tx| {
            log::event(tx, "urn:uuid:none", &lyceum_events::ActorFilter::Everyone)
        });
        assert_eq!(missing.unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn a_search_is_an_address_an_iri_or_a_sourced_id() {
    let filter = |search| log::filter(search, "https://lyceum.test");
    assert_eq!(filter(""), EventFilter::default());
    assert_eq!(filter("Ann@example.org").actor_email.as_deref(), Some("Ann@example.org"));
    assert_eq!(filter("urn:uuid:1").actor_id.as_deref(), Some("urn:uuid:1"));
    let user = "https://lyceum.test/ims/oneroster/rostering/v1p2/users/ann";
    assert_eq!(filter("ann").actor_id.as_deref(), Some(user));
    let names = [
        (json!({"edApp": {"name": "Abacus", "id": "urn:a"}}), "Abacus"),
        (json!({"edApp": {"id": "urn:a"}}), "urn:a"),
        (json!({"object": {"app": "urn:b"}}), "urn:b"),
        (json!({}), "sensor"),
    ];
    for (content, name) in names {
        assert_eq!(log::app(&content, "sensor"), name);
    }
}

#[test]
fn rejected_envelopes_are_filtered_and_listed_in_order() {
    both(|db| {
        for (client, after_s) in [("b", 0), ("a", 60), ("b", 120)] {
            reject(db, client, after_s);
        }
        let read = |filter: rejected::RejectedFilter| {
            let list = db.read_blocking(|tx| rejected::read(tx, &filter)).unwrap();
            let ids: Vec<i64> = list.envelopes.iter().map(|envelope| envelope.id).collect();
            (ids, list)
        };
        let (all, list) = read(rejected::RejectedFilter::default());
        assert_eq!(
            (list.waiting_count, list.read_count, list.clients),
            (3, 3, vec!["a".to_owned(), "b".to_owned()])
        );
        let [third, second, first] = all[..] else { panic!("{all:?}") };
        let waiting = db.read_blocking(rejected::waiting).unwrap();
        assert_eq!(waiting, [first, second, third]);
        let of_b = rejected::RejectedFilter {
            client: "b".to_owned(),
            ..rejected::RejectedFilter::default()
        };
        assert_eq!(read(of_b).0, [third, first]);
        let later = rejected::RejectedFilter {
            from: Some(NOW.plus_seconds(60)),
            ..rejected::RejectedFilter::default()
        };
        assert_eq!(read(later).0, [third, second]);
        let earlier = rejected::RejectedFilter {
            to: Some(NOW.plus_seconds(60)),
            ..rejected::RejectedFilter::default()
        };
        assert_eq!(read(earlier).0, [first]);
        let replayed = rejected::RejectedFilter {
            is_replayed: Some(true),
            ..rejected::RejectedFilter::default()
        };
        assert_eq!(read(replayed).0, [0; 0]);
        let one = db.read_blocking(|tx| rejected::one(tx, second)).unwrap();
        assert_eq!((one.envelope.client.as_str(), one.body.as_str()), ("a", "{}"));
        let [error] = &one.envelope.faults[..] else { panic!("{:?}", one.envelope) };
        assert_eq!(error.to_string(), "data[0].id: is required");
        let missing = db.read_blocking(|tx| rejected::one(tx, third + 1));
        assert_eq!(missing.unwrap_err().kind, ProblemKind::NotFound);
    });
}
