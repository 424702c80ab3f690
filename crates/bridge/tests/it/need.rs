//! Students who need attention: each rule finds a student who meets its condition, and no student who just misses it.

use lyceum_bridge::analytics::{self, StudentName};
use lyceum_bridge::need::{RULES, StudentInNeed, students_in_need};
use lyceum_bridge::repository::unknown_actors;
use lyceum_bridge::school_hours::SchoolHours;
use lyceum_bridge::today::{self, Moment, StudentDay};
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_core::Reach;
use lyceum_core::time::Timestamp;
use lyceum_events::facts::Measure;
use lyceum_store::{Db, Tx};
use serde_json::{Value, json};

use crate::kit::{CustomEvent, SENT, both, course, create, enroll, school, send, student};

/// A Tuesday, after four of the seven hours of a school day in Berlin.
const NOW: &str = "2026-03-10T11:00:00Z";

fn noon() -> Timestamp {
    NOW.parse().unwrap()
}

fn zone() -> Zone {
    Zone::from_name("Europe/Berlin").unwrap()
}

/// XP, answers and correct answers.
fn did(xp: f64, total: u32, correct: u32) -> Value {
    json!([
        {"type": "xpEarned", "value": xp},
        {"type": "totalQuestions", "value": total},
        {"type": "correctQuestions", "value": correct},
    ])
}

/// Active and wasted seconds.
fn spent(active: u32, waste: u32) -> Value {
    json!([{"type": "active", "value": active}, {"type": "waste", "value": waste}])
}

/// Seven hours of school, from Monday to Friday.
fn hours() -> SchoolHours {
    SchoolHours { ends: "15:00".to_owned(), ..SchoolHours::usual("Europe/Berlin") }
}

fn moment() -> Moment {
    Moment { now: noon(), usual_hours: hours() }
}

/// The days of all students with their work.
pub(crate) fn days_at(db: &Db, moment: &Moment) -> Vec<StudentDay> {
    let read = |tx: &mut Tx<'_>| {
        let mut days = today::students(tx, moment, &Reach::Everything)?;
        today::add_goals(tx, moment.now, &mut days)?;
        today::add_work(tx, &mut days)?;
        Ok(days)
    };
    db.read_blocking(read).unwrap()
}

fn days(db: &Db) -> Vec<StudentDay> {
    days_at(db, &moment())
}

/// The students who need attention, each with the rules that apply.
fn ids_and_rules(needs: &[StudentInNeed]) -> Vec<(String, Vec<&'static str>)> {
    let rules = |need: &StudentInNeed| need.reasons.iter().map(|reason| reason.rule.id).collect();
    needs.iter().map(|need| (need.day.learner.id.clone(), rules(need))).collect()
}

#[test]
fn each_rule_finds_only_the_students_it_is_for() {
    both(|db| {
        school(db);
        course(db, "goal", &["Math"]);
        course(db, "free", &["Math"]);
        // 70 XP are due by 15:00, so 40 by noon, and 30 are just enough. Students were seen a moment ago unless the
        // table has another time.
        let just_now = "2026-03-10T10:55:00Z";
        let cases: &[(&str, &str, &str, Value)] = &[
            ("behind", "goal", just_now, did(29.9, 0, 0)),
            ("on-pace", "goal", just_now, did(30.0, 0, 0)),
            ("inaccurate", "free", just_now, did(1.0, 20, 12)),
            ("accurate", "free", just_now, did(1.0, 20, 13)),
            ("few-answers", "free", just_now, did(1.0, 9, 0)),
            ("easy", "free", just_now, did(1.0, 50, 49)),
            ("good", "free", just_now, did(1.0, 100, 97)),
            ("few-right", "free", just_now, did(1.0, 19, 19)),
            ("waste", "free", just_now, spent(479, 121)),
            ("little-waste", "free", just_now, spent(480, 120)),
            ("short-waste", "free", just_now, spent(100, 400)),
            ("idle", "free", "2026-03-10T10:50:00Z", did(1.0, 0, 0)),
            ("busy", "free", "2026-03-10T10:50:01Z", did(1.0, 0, 0)),
            ("gone", "free", "2026-03-10T08:59:59Z", did(1.0, 0, 0)),
            ("done", "goal", "2026-03-10T10:00:00Z", did(70.0, 0, 0)),
            ("yesterday", "free", "2026-03-09T22:59:59Z", did(1.0, 20, 0)),
        ];
        let mut events = Vec::new();
        for (number, (id, taught, time, items)) in (1..).zip(cases) {
            student(db, id, &format!("{id}@example.org"));
            create(
                db,
                "enrollments",
                json!({
                    "sourcedId": format!("e-{id}"), "user": {"sourcedId": id},
                    "course": {"sourcedId": taught}, "school": {"sourcedId": "s"}, "role": "student",
                    "metadata": if *taught == "goal" { json!({"goals": {"dailyXp": 70}}) } else { json!({}) },
                }),
            );
            let event = CustomEvent::activity(number, id, time).with_items(items.clone());
            events.push(event.sent(SENT));
        }
        send(db, &events);
        let mut found = days(db);
        assert_eq!(found.len(), cases.len());
        // Failed lessons are filled in by the caller, because this crate does not know lessons.
        for (id, count) in [("good", 3), ("accurate", 2)] {
            let day = found.iter_mut().find(|day| day.learner.id == id).unwrap();
            day.failed = Some(("lesson".to_owned(), count));
        }
        let needs = students_in_need(found, RULES, noon());
        let wanted: Vec<(String, Vec<&str>)> = [
            ("behind", "behind"),
            ("good", "failures"),
            ("inaccurate", "inaccurate"),
            ("waste", "waste"),
            ("idle", "idle"),
            ("easy", "easy"),
        ]
        .map(|(id, rule)| (id.to_owned(), vec![rule]))
        .into();
        assert_eq!(ids_and_rules(&needs), wanted, "those behind first, then by weight");
        let rules: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        let spoken: Vec<&str> = wanted.iter().flat_map(|(_, rules)| rules.clone()).collect();
        assert_eq!(spoken, rules, "every rule speaks of somebody");
        let found = |at: usize| (needs[at].reasons[0].value, needs[at].reasons[0].of);
        assert!((found(0).0 - 0.75).abs() < 0.005, "{:?}", found(0));
        assert_eq!(found(2), (0.6, 20.0));
    });
}

#[test]
fn students_behind_their_goal_come_first() {
    let day = |now, id: &str, goal_xp, failed: i64| {
        let school_day = hours().day_at(now);
        let mut day = StudentDay { goal_xp, school_day, ..StudentDay::default() };
        day.learner.id = id.to_owned();
        day.failed = Some(("lesson".to_owned(), failed));
        day.sums.measures[Measure::TotalQuestions as usize] = 20_000;
        day
    };
    let days = vec![day(noon(), "failing", 0, 9), day(noon(), "behind", 10, 0)];
    let found = students_in_need(days, RULES, noon());
    let wanted = [
        ("behind".to_owned(), vec!["behind", "inaccurate"]),
        ("failing".to_owned(), vec!["failures", "inaccurate"]),
    ];
    assert_eq!(ids_and_rules(&found), wanted);
    // Nothing is due on Saturdays.
    let saturday = "2026-03-14T11:00:00Z".parse().unwrap();
    let found = students_in_need(vec![day(saturday, "behind", 10, 0)], RULES, saturday);
    assert_eq!(ids_and_rules(&found), [("behind".to_owned(), vec!["inaccurate"])]);
}

#[test]
fn the_day_of_all_students_agrees_with_the_report_of_each_student() {
    both(|db| {
        school(db);
        course(db, "c", &["Math"]);
        for id in ["ann", "bob", "cy"] {
            student(db, id, &format!("{id}@example.org"));
            enroll(db, &format!("e-{id}"), id, "c", None);
        }
        let midnight = json!([{
            "type": "active", "value": 600,
            "startDate": "2026-03-09T22:55:00Z", "endDate": "2026-03-09T23:05:00Z",
        }]);
        let events = [
            CustomEvent::activity(1, "ann", "2026-03-10T08:00:00Z"),
            CustomEvent::activity(2, "ann", "2026-03-09T23:05:00Z").with_items(midnight),
            CustomEvent::activity(3, "ann", "2026-03-10T23:00:00Z"),
            // The actor's id is not in the roster, but the address is, in another letter case.
            CustomEvent::activity(4, "b-42", "2026-03-10T09:00:00Z").with_email("BOB@example.org"),
            // The id belongs to another user, so the address does not count.
            CustomEvent::activity(5, "ann", "2026-03-10T09:30:00Z").with_email("cy@example.org"),
            CustomEvent::activity(6, "nobody", "2026-03-10T09:00:00Z")
                .with_email("nobody@example.org"),
        ];
        send(db, &events.map(|one| one.sent(SENT)));
        let range =
            InstantRange::inclusive(&zone(), Some("2026-03-10"), Some("2026-03-10")).unwrap();
        let found = days(db);
        let ids: Vec<&str> = found.iter().map(|day| day.learner.id.as_str()).collect();
        assert_eq!(ids, ["ann", "bob", "cy"]);
        for day in &found {
            let id = day.learner.id.as_str();
            let (report, behind, one) = db
                .read_blocking(|tx| {
                    let who = StudentName::Id(id);
                    Ok((
                        analytics::activity(
                            tx,
                            who,
                            range,
                            &zone(),
                            &lyceum_core::Reach::Everything,
                        )?,
                        analytics::behind(tx, who, range, None, &lyceum_core::Reach::Everything)?,
                        today::of_one(tx, &moment(), id)?.0,
                    ))
                })
                .unwrap();
            for (measure, _) in Measure::ALL {
                let message: i64 = report
                    .facts
                    .values()
                    .flat_map(|day| day.values())
                    .map(|metrics| metrics.sums.of(measure))
                    .sum();
                let of_events: i64 = behind.iter().map(|one| one.sums.of(measure)).sum();
                let sums = [day.sums.of(measure), of_events, one.sums.of(measure)];
                assert_eq!(sums, [message; 3], "{id} {measure:?}");
            }
            assert_eq!((day.last, day.school_day), (one.last, one.school_day), "{id}");
        }
        let xp: Vec<i64> = found.iter().map(StudentDay::xp).collect();
        assert_eq!(xp, [20_000, 10_000, 0]);
        assert_eq!(found[0].sums.of(Measure::Active), 300_000);
        assert_eq!(found[0].last, Some("2026-03-10T09:30:00Z".parse().unwrap()));
        let strangers = db.read_blocking(|tx| unknown_actors::list(tx, 10)).unwrap();
        let emails: Vec<&str> = strangers.iter().map(|one| one.email.as_str()).collect();
        assert_eq!(emails, ["nobody@example.org"]);
        assert_eq!(db.read_blocking(unknown_actors::count).unwrap(), 1);
    });
}
