//! The student and the enrollment to which an event belongs.

use std::collections::BTreeMap;

use lyceum_bridge::analytics::{StudentName, activity, enrollment};
use lyceum_bridge::screens::class;
use lyceum_bridge::today::Moment;
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_core::{ProblemKind, Reach};
use lyceum_events::facts::Measure;
use lyceum_roster::screens::classes;
use lyceum_store::Db;
use serde_json::Value;

use crate::kit::{
    CustomEvent, SENT, active, both, course, create, enroll, now, school, send, student, total,
};

const AT: &str = "2026-03-10T12:00:00Z";

fn xp(db: &Db, user: &str) -> i64 {
    total(&active(db, user, InstantRange::all(), &Zone::UTC), Measure::Xp) / 1000
}

fn xp_of_enrollment(db: &Db, id: &str) -> i64 {
    let report = db.read_blocking(|tx| {
        enrollment(tx, id, InstantRange::all(), &Zone::UTC, &lyceum_core::Reach::Everything)
    });
    total(&report.unwrap(), Measure::Xp) / 1000
}

#[test]
fn events_of_unknown_people_are_counted_once_the_people_are_known() {
    both(|db| {
        school(db);
        let by_email = CustomEvent {
            actor: "urn:uuid:7a5f7a51-0000-4000-8000-000000000001".into(),
            ..CustomEvent::activity(2, "", AT).with_email("Ann@Example.org")
        };
        send(db, &[CustomEvent::activity(1, "ann", AT).sent(SENT), by_email.sent(SENT)]);
        let unknown = db.read_blocking(|tx| {
            activity(
                tx,
                StudentName::Id("ann"),
                InstantRange::all(),
                &Zone::UTC,
                &lyceum_core::Reach::Everything,
            )
        });
        assert_eq!(unknown.unwrap_err().kind, ProblemKind::NotFound);
        let unknown = db.read_blocking(|tx| {
            activity(
                tx,
                StudentName::Email("ann@example.org"),
                InstantRange::all(),
                &Zone::UTC,
                &lyceum_core::Reach::Everything,
            )
        });
        assert_eq!(unknown.unwrap_err().kind, ProblemKind::NotFound);
        student(db, "ann", "ann@example.org");
        assert_eq!(xp(db, "ann"), 20);
        let found = db.read_blocking(|tx| {
            activity(
                tx,
                StudentName::Email("ANN@example.org"),
                InstantRange::all(),
                &Zone::UTC,
                &lyceum_core::Reach::Everything,
            )
        });
        assert_eq!(total(&found.unwrap(), Measure::Xp), 20_000);
    });
}

#[test]
fn a_known_id_takes_precedence_over_an_address() {
    both(|db| {
        school(db);
        student(db, "ann", "shared@example.org");
        student(db, "bob", "shared@example.org");
        let events = [
            CustomEvent::activity(1, "bob", AT).with_email("shared@example.org").sent(SENT),
            CustomEvent::activity(2, "nobody", AT).with_email("shared@example.org").sent(SENT),
            CustomEvent::activity(3, "nobody-else", AT).sent(SENT),
        ];
        send(db, &events);
        assert_eq!(xp(db, "bob"), 10, "by id");
        assert_eq!(xp(db, "ann"), 10, "an address that two share is the first one's");
        student(db, "nobody", "nobody@example.org");
        assert_eq!((xp(db, "ann"), xp(db, "nobody")), (0, 10));
    });
}

#[test]
fn facts_belong_to_the_named_course_or_the_course_of_their_subject() {
    both(|db| {
        school(db);
        student(db, "ann", "ann@example.org");
        course(db, "old", &["Math"]);
        course(db, "new", &["Math", "Reading"]);
        course(db, "art", &["Art"]);
        enroll(db, "e-old", "ann", "old", Some("2026-01-01"));
        enroll(db, "e-new", "ann", "new", Some("2026-03-01"));
        enroll(db, "e-art", "ann", "art", None);
        let event = |number, time: &str| CustomEvent::activity(number, "ann", time);
        let events = [
            event(1, "2026-03-10T12:00:00Z"),
            event(2, "2026-02-10T12:00:00Z"),
            event(3, "2025-02-10T12:00:00Z"),
            event(4, "2026-03-10T12:00:00Z").in_course("old"),
            event(5, "2026-03-10T12:00:00Z").in_course("elsewhere"),
            CustomEvent { subject: "reading".into(), ..event(6, "2026-02-10T12:00:00Z") },
            CustomEvent { subject: "Science".into(), ..event(7, "2026-03-10T12:00:00Z") },
        ];
        send(db, &events.map(|one| one.sent(SENT)));
        assert_eq!(xp_of_enrollment(db, "e-old"), 30, "2, 3 by subject and time, 4 by course");
        assert_eq!(xp_of_enrollment(db, "e-new"), 20, "1 by time, 6 as the only course");
        assert_eq!(xp_of_enrollment(db, "e-art"), 0);
        assert_eq!(xp(db, "ann"), 70, "what belongs nowhere is still what the student did");
        let unknown = db.read_blocking(|tx| {
            enrollment(tx, "e", InstantRange::all(), &Zone::UTC, &lyceum_core::Reach::Everything)
        });
        assert_eq!(unknown.unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn a_report_has_every_number_that_clients_require() {
    both(|db| {
        school(db);
        student(db, "ann", "ann@example.org");
        course(db, "c", &["Math"]);
        enroll(db, "e", "ann", "c", None);
        let items = serde_json::json!([
            {"type": "xpEarned", "value": 12.5}, {"type": "totalQuestions", "value": 4},
            {"type": "correctQuestions", "value": 3},
        ]);
        send(db, &[CustomEvent::activity(1, "ann", AT).with_items(items).sent(SENT)]);
        let zone = Zone::from_name("Pacific/Kiritimati").unwrap();
        let report = db
            .read_blocking(|tx| {
                enrollment(tx, "e", InstantRange::all(), &zone, &lyceum_core::Reach::Everything)
            })
            .unwrap();
        let shown: Value = serde_json::to_value(&report).unwrap();
        let metrics = serde_json::json!({
            "activityMetrics": {
                "xpEarned": 12.5, "totalQuestions": 4, "correctQuestions": 3, "masteredUnits": 0,
            },
            "timeSpentMetrics": {
                "activeSeconds": 0, "inactiveSeconds": 0, "wasteSeconds": 0,
                "unknownSeconds": 0, "antiPatternSeconds": 0,
            },
            "apps": ["Abacus"],
        });
        let days = serde_json::json!({"2026-03-11": {"Math": metrics}});
        assert_eq!(shown, serde_json::json!({"facts": days, "factsByApp": {"Abacus": days}}));
        // A deleted user has no analytics, and neither has the enrollment.
        create(
            db,
            "users",
            serde_json::json!({
                "sourcedId": "zoe", "enabledUser": true, "givenName": "z", "familyName": "z",
                "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
            }),
        );
        assert_eq!(xp(db, "zoe"), 0, "without an address nobody else's events are theirs");
    });
}

#[test]
fn a_class_has_the_same_numbers_as_its_students_one_by_one() {
    both(|db| {
        school(db);
        let students = [
            ("ann", "shared@example.org"),
            ("bob", "shared@example.org"),
            ("cleo", "Cleo@Example.org"),
            ("dan", ""),
        ];
        course(db, "c", &["Math"]);
        for (id, email) in students {
            if email.is_empty() {
                nameless(db, id);
            } else {
                student(db, id, email);
            }
            enroll(db, &format!("e-{id}"), id, "c", None);
        }
        student(db, "eve", "eve@example.org");
        let event = |number, actor: &str| CustomEvent::activity(number, actor, AT);
        let reading = CustomEvent { subject: "Reading".into(), ..event(5, "cleo") };
        let events = [
            event(1, "bob").with_email("shared@example.org"),
            event(2, "nobody").with_email("SHARED@example.org"),
            event(3, "eve").with_email("cleo@example.org"),
            event(4, "stranger").with_email("cleo@example.org"),
            reading,
            event(6, "dan"),
            event(7, "eve"),
        ];
        send(db, &events.map(|one| one.sent(SENT)));
        let class = lyceum_roster::repository::MemberCounts { students: 4, teachers: 0 };
        let of_course =
            db.read_blocking(|tx| classes::of_course(tx, now(), "c", &Reach::Everything)).unwrap();
        let [own] = of_course.as_slice() else { panic!("{of_course:?}") };
        assert_eq!(own.members, class);
        // Days of this zone begin within a quarter hour of UTC, so their bounds cut buckets.
        for zone in [Zone::UTC, Zone::from_name("Africa/Monrovia").unwrap()] {
            let read = |days, subject| {
                db.read_blocking(|tx| {
                    let moment = Moment::usual(now(), &zone);
                    class::read(tx, &moment, &own.id, days, subject, &Reach::Everything)
                })
                .unwrap()
            };
            let month = read(30, "");
            assert_eq!((month.days.len(), month.students.len()), (30, 4));
            assert_eq!(month.subjects, ["Math", "Reading"]);
            let range = InstantRange::inclusive(&zone, Some(&month.days[0]), None).unwrap();
            for student in &month.students {
                let alone = active(db, &student.id, range, &zone);
                assert_eq!(student.total.of(Measure::Xp), total(&alone, Measure::Xp));
                for (day, sums) in month.days.iter().zip(&student.by_day) {
                    let of_day =
                        alone.facts.iter().filter(|(known, _)| known.0.to_string() == *day);
                    let events = of_day.flat_map(|(_, subjects)| subjects.values());
                    let events: i64 = events.map(|metrics| metrics.sums.events).sum();
                    assert_eq!(sums.events, events, "{} on {day}", student.id);
                }
            }
            let xp = |work: &class::ClassWork| -> BTreeMap<String, i64> {
                let students = work.students.iter();
                students.map(|one| (one.id.clone(), one.total.of(Measure::Xp) / 1000)).collect()
            };
            let expected = |sums: [(&str, i64); 4]| -> BTreeMap<String, i64> {
                sums.into_iter().map(|(id, xp)| (id.to_owned(), xp)).collect()
            };
            assert_eq!(xp(&month), expected([("ann", 10), ("bob", 10), ("cleo", 20), ("dan", 10)]));
            let reading = read(30, "reading");
            assert_eq!(xp(&reading), expected([("ann", 0), ("bob", 0), ("cleo", 10), ("dan", 0)]));
            assert_eq!(reading.students[0].active_day_count(), 0);
            // All of it is ten days old.
            assert_eq!(
                xp(&read(7, "")),
                expected([("ann", 0), ("bob", 0), ("cleo", 0), ("dan", 0)])
            );
        }
    });
}

/// A student without an e-mail address.
fn nameless(db: &Db, id: &str) {
    let roles =
        serde_json::json!([{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]);
    let user = serde_json::json!({
        "sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "Example", "username": id,
        "roles": roles,
    });
    create(db, "users", user);
}
