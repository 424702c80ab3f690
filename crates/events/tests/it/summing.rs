//! Summing facts in a transaction that stays open, while events arrive and reports read.

use std::collections::BTreeMap;
use std::ops::Range;
use std::thread;

use lyceum_events::facts::{self, Measure};
use lyceum_events::{Appended, Event, parse};
use lyceum_store::{Db, StatementsSee};
use lyceum_testkit::open_writes::{OpenWrite, wait, wait_for_a_wait};
use serde_json::json;

use crate::AFTER_ALL;
use crate::claiming::complete;
use crate::log::{EARLY, LATE, assert_found_by_actors, send};
use crate::open_writes::on_postgres;
use crate::runs::sum_all;

/// XP by the number of the event in which they were earned.
type XpByEvent = BTreeMap<u32, u32>;

/// An event in which one of three students earns XP.
fn earned(number: u32, xp: u32, send_time: &str) -> Event {
    let envelope = json!({
        "sensor": "https://app.example.org/sensors/1",
        "sendTime": send_time,
        "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2",
        "data": [{
            "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "id": format!("urn:uuid:00000000-0000-4000-8000-{number:012}"),
            "type": "ActivityEvent",
            "action": "Completed",
            "profile": "TimebackProfile",
            "eventTime": "2026-01-15T08:00:00.000Z",
            "actor": {"id": format!("https://example.org/users/{}", number % 3), "type": "TimebackUser"},
            "object": {
                "id": "https://app.example.org/activities/1",
                "type": "TimebackActivityContext",
                "subject": "Math",
                "app": {"id": "https://app.example.org", "name": "Abacus"},
                "activity": {"id": "https://app.example.org/activities/1", "name": "Sums"},
            },
            "generated": {
                "id": "https://app.example.org/metrics/1",
                "type": "TimebackActivityMetricsCollection",
                "items": [{"type": "xpEarned", "value": xp}],
            },
        }],
    });
    parse(&envelope.to_string(), AFTER_ALL).unwrap().events.remove(0)
}

/// Sends events as an app does. Returns how many are new.
fn send_earned(db: &Db, numbers: Range<u32>, xp_by_event: &mut XpByEvent) -> usize {
    let events: Vec<Event> = numbers.clone().map(|number| earned(number, 5, EARLY)).collect();
    let appended = send(db, "app", &events);
    xp_by_event.extend(numbers.map(|number| (number, 5)));
    appended.iter().filter(|one| matches!(one, Appended::New { .. })).count()
}

/// Reports have exactly these events and XP, and each event is found by its actor.
fn assert_exact(db: &Db, xp_by_event: &XpByEvent) {
    let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (number, xp) in xp_by_event {
        let (events, thousandths) =
            expected.entry(format!("https://example.org/users/{}", number % 3)).or_default();
        *events += 1;
        *thousandths += i64::from(*xp) * 1000;
    }
    let found = db.read_blocking(|tx| facts::sums_by_actor(tx, None, 0..i64::MAX)).unwrap();
    let found: BTreeMap<String, (i64, i64)> = found
        .into_iter()
        .map(|actor| {
            let local = actor.person.rsplit('/').next().unwrap().to_owned();
            let person = format!("https://example.org/users/{local}");
            (person, (actor.sums.events, actor.sums.of(Measure::Xp)))
        })
        .collect();
    assert_eq!(found, expected);
    assert_found_by_actors(db);
}

/// The events in the table of sums.
fn summed_count(db: &Db) -> i64 {
    let sql = "SELECT COALESCE(SUM(events), 0) FROM event_sums";
    db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0))).unwrap().unwrap()
}

/// Facts are summed in a transaction that fails or succeeds.
#[test]
fn events_are_counted_exactly_while_facts_are_summed() {
    on_postgres(|db| {
        let mut xp_by_event = XpByEvent::new();
        for (round, commits) in (0..).zip([false, true]) {
            let first = 1_000 * round;
            assert_eq!(send_earned(db, first..first + 300, &mut xp_by_event), 300);
            let summed_before = summed_count(db);
            thread::scope(|scope| {
                let summing = OpenWrite::start(scope, db, facts::sum);
                assert_eq!(summing.result(), Some(false), "another one sums");

                let new = send_earned(db, first + 300..first + 400, &mut xp_by_event);
                assert_eq!(new, 100, "an app waits");
                let of_lesson = complete(db, earned(first + 400, 7, EARLY));
                assert!(matches!(of_lesson[..], [Appended::New { .. }]), "{of_lesson:?}");
                xp_by_event.insert(first + 400, 7);
                let again = send_earned(db, first..first + 300, &mut xp_by_event);
                assert_eq!(again, 0, "events whose facts are being summed are known");
                assert_eq!(
                    wait(db.write_with_locks(StatementsSee::LatestCommits, facts::sum)).unwrap(),
                    None,
                    "one at a time"
                );
                assert_exact(db, &xp_by_event);

                // Only a correction waits: it must know whether the facts that it removes are summed.
                let correction = scope.spawn(|| send(db, "app", &[earned(first, 20, LATE)]));
                wait_for_a_wait(db);
                assert_exact(db, &xp_by_event);
                if commits {
                    summing.commit();
                } else {
                    summing.roll_back();
                }
                let corrected = correction.join().unwrap();
                assert!(matches!(corrected[..], [Appended::Correction { .. }]), "{corrected:?}");
                xp_by_event.insert(first, 20);
            });
            assert_exact(db, &xp_by_event);
            assert_eq!(summed_count(db) > summed_before, commits, "{round}");
            sum_all(db);
            assert_exact(db, &xp_by_event);
        }
    });
}
