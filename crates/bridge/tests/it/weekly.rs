//! Weekly facts: one fact for each event of a week.

use lyceum_bridge::analytics::{StudentName, weekly_facts};
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_events::facts::Measure;
use serde_json::{Value, json};

use crate::kit::{CustomEvent, SENT, active, both, course, enroll, school, send, student, total};

#[test]
fn a_week_shows_its_events_by_day_and_adds_up() {
    both(|db| {
        school(db);
        student(db, "ann", "ann@example.org");
        course(db, "c", &["Math"]);
        enroll(db, "e", "ann", "c", None);
        let over_midnight = json!([{
            "type": "active", "value": 600,
            "startDate": "2026-03-11T03:50:00Z", "endDate": "2026-03-11T04:10:00Z",
        }]);
        let events = [
            CustomEvent::activity(1, "ann", "2026-03-10T15:00:00Z"),
            CustomEvent::activity(2, "ann", "2026-03-11T04:10:00Z").with_items(over_midnight),
            CustomEvent::activity(3, "ann", "2026-03-16T03:59:59.999Z"),
            CustomEvent::activity(4, "ann", "2026-03-16T04:00:00Z"),
        ];
        send(db, &events.map(|one| one.sent(SENT)));
        let zone = Zone::from_name("America/New_York").unwrap();
        let week = InstantRange::week(&zone, "2026-03-12").unwrap();
        let facts = db
            .read_blocking(|tx| {
                weekly_facts(
                    tx,
                    StudentName::Id("ann"),
                    week,
                    &zone,
                    &lyceum_core::Reach::Everything,
                )
            })
            .unwrap();
        let facts = serde_json::to_value(facts).unwrap();
        let facts = facts.as_array().unwrap();
        let column = |name: &str| facts.iter().map(|fact| fact[name].clone()).collect::<Vec<_>>();
        let days = ["2026-03-10", "2026-03-10", "2026-03-11", "2026-03-15"];
        assert_eq!(column("date"), days.map(Value::from));
        assert_eq!(column("xpEarned"), [10, 0, 0, 10].map(Value::from));
        assert_eq!(column("activeSeconds"), ["0", "300", "300", "0"].map(Value::from));
        assert_eq!(column("dayOfWeek"), [2, 2, 3, 7].map(Value::from));
        assert!(facts.iter().all(|fact| fact["enrollmentId"] == "e" && fact["courseId"] == "c"));
        assert_eq!(facts[1]["id"], facts[2]["id"], "one event on two days");
        assert_eq!(facts[0]["datetime"], "2026-03-10T15:00:00.000Z");
        assert_eq!(facts[0]["email"], "ann@example.org");
        let sum = total(&active(db, "ann", week, &zone), Measure::Active);
        assert_eq!(sum, 600_000);
    });
}
