//! School hours: the nearest organization sets them, and they decide who is absent.

use std::collections::BTreeSet;

use lyceum_bridge::school_hours::{self, SchoolHours};
use lyceum_bridge::screens::school_hours as screen;
use lyceum_bridge::today::Presence::{self, Absent, Idle, Off, Working};
use lyceum_bridge::today::{self, Moment};
use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Reach};
use lyceum_store::Db;
use serde_json::json;

use crate::kit::{CustomEvent, SENT, both, course, create, enroll, school, send, student};
use crate::need::days_at;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn usual() -> SchoolHours {
    SchoolHours::usual("Europe/Berlin")
}

/// Passed and all minutes of the school day, and whether it goes on.
fn day(hours: &SchoolHours, now: &str) -> Option<(i64, i64, bool)> {
    let day = hours.day_at(at(now))?;
    Some((day.passed_ms / 60_000, day.whole_ms / 60_000, day.is_open))
}

#[test]
fn a_school_day_begins_and_ends_in_its_time_zone() {
    let hours = usual();
    // Winter time, one hour ahead of UTC; 2026-03-10 is a Tuesday.
    assert_eq!(day(&hours, "2026-03-10T06:59:59Z"), None, "not begun");
    assert_eq!(day(&hours, "2026-03-10T07:00:00Z"), Some((0, 480, true)));
    assert_eq!(day(&hours, "2026-03-10T14:59:59Z"), Some((479, 480, true)));
    assert_eq!(day(&hours, "2026-03-10T15:00:00Z"), Some((480, 480, false)), "over");
    assert_eq!(day(&hours, "2026-03-14T11:00:00Z"), None, "a Saturday");
    // Clocks were set forward on 2026-03-29; school still begins at eight.
    assert_eq!(day(&hours, "2026-03-30T06:00:00Z"), Some((0, 480, true)));
    let off = SchoolHours { days_off: BTreeSet::from(["2026-03-10".to_owned()]), ..usual() };
    assert_eq!(day(&off, "2026-03-10T11:00:00Z"), None);
    assert_eq!(day(&off, "2026-03-11T11:00:00Z"), Some((240, 480, true)));
}

/// A district with two schools, one of which has hours of its own.
fn district(db: &Db) {
    for (id, parent) in
        [("state", ""), ("district", "state"), ("north", "district"), ("south", "district")]
    {
        let mut org = json!({ "sourcedId": id, "name": format!("The {id}"), "type": "district" });
        if !parent.is_empty() {
            org["parent"] = json!({ "sourcedId": parent });
        }
        create(db, "orgs", org);
    }
}

fn set(db: &Db, org: &str, ends: &str) {
    let hours = SchoolHours { ends: ends.to_owned(), ..usual() };
    db.write_blocking(|tx| school_hours::set(tx, org, &hours, &Reach::Everything)).unwrap();
}

/// The end of the school day of each organization, and who sets it.
fn ends(db: &Db) -> Vec<(String, String, String)> {
    let all = db.read_blocking(|tx| screen::read(tx, &usual())).unwrap();
    all.into_iter().map(|one| (one.id, one.in_force.hours.ends, one.set_by_name)).collect()
}

#[test]
fn the_nearest_organization_above_sets_the_hours() {
    both(|db| {
        district(db);
        let check = |expected: [(&str, &str, &str); 4]| {
            let expected =
                expected.map(|(id, ends, by)| (id.to_owned(), ends.to_owned(), by.to_owned()));
            assert_eq!(ends(db), expected);
        };
        check([
            ("district", "16:00", ""),
            ("north", "16:00", ""),
            ("south", "16:00", ""),
            ("state", "16:00", ""),
        ]);
        set(db, "state", "14:00");
        set(db, "north", "12:00");
        check([
            ("district", "14:00", "The state"),
            ("north", "12:00", "The north"),
            ("south", "14:00", "The state"),
            ("state", "14:00", "The state"),
        ]);
        set(db, "district", "13:00");
        set(db, "state", "15:00");
        check([
            ("district", "13:00", "The district"),
            ("north", "12:00", "The north"),
            ("south", "13:00", "The district"),
            ("state", "15:00", "The state"),
        ]);
        let one = db.read_blocking(|tx| screen::one(tx, &usual(), "south")).unwrap();
        assert_eq!(
            (one.set_by_name.as_str(), one.in_force.hours.ends.as_str()),
            ("The district", "13:00")
        );
        let remove =
            |org: &str| db.write_blocking(|tx| school_hours::remove(tx, org, &Reach::Everything));
        remove("district").unwrap();
        assert_eq!(remove("district").unwrap_err().kind, ProblemKind::NotFound);
        assert_eq!(ends(db)[2], ("south".to_owned(), "15:00".to_owned(), "The state".to_owned()));
    });
}

#[test]
fn wrong_hours_and_organizations_outside_the_reach_are_refused() {
    both(|db| {
        district(db);
        let set = |org: &str, hours: &SchoolHours, reach: &Reach| {
            db.write_blocking(|tx| school_hours::set(tx, org, hours, reach))
        };
        let wrong = SchoolHours {
            weekdays: BTreeSet::from([0, 5]),
            begins: "8:00".to_owned(),
            ends: "25:00".to_owned(),
            time_zone: "Europe/Nowhere".to_owned(),
            days_off: BTreeSet::from(["24.12.2026".to_owned()]),
        };
        let refused = set("north", &wrong, &Reach::Everything).unwrap_err();
        let paths: Vec<&str> = refused.details.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["weekdays", "begins", "ends", "timeZone", "daysOff"]);
        let reversed =
            SchoolHours { begins: "16:00".to_owned(), ends: "16:00".to_owned(), ..usual() };
        assert_eq!(
            set("north", &reversed, &Reach::Everything).unwrap_err().details[0].path,
            "ends"
        );
        let north = Reach::organizations(["north"]).unwrap();
        set("north", &usual(), &north).unwrap();
        assert_eq!(set("south", &usual(), &north).unwrap_err().kind, ProblemKind::NotFound);
        let teacher = Reach::ClassesOf("t".to_owned());
        assert!(set("north", &usual(), &teacher).is_err());
        let own: Vec<String> = ends(db).into_iter().map(|(_, _, by)| by).collect();
        assert_eq!(own, ["", "The north", "", ""]);
    });
}

#[test]
fn each_student_is_working_idle_absent_or_off() {
    both(|db| {
        school(db);
        course(db, "c", &["Math"]);
        for id in ["busy", "idle", "absent", "unenrolled"] {
            student(db, id, &format!("{id}@example.org"));
        }
        for id in ["busy", "idle", "absent"] {
            enroll(db, &format!("e-{id}"), id, "c", None);
        }
        send(
            db,
            &[
                CustomEvent::activity(1, "busy", "2026-03-10T10:55:01Z").sent(SENT),
                CustomEvent::activity(2, "idle", "2026-03-10T10:55:00Z").sent(SENT),
            ],
        );
        let presence = |now: &str| -> Vec<Presence> {
            let moment = Moment { now: at(now), usual_hours: usual() };
            let days = days_at(db, &moment);
            days.iter().map(|day| day.presence(moment.now)).collect()
        };
        assert_eq!(presence("2026-03-10T11:00:00Z"), [Working, Idle, Absent, Off]);
        assert_eq!(presence("2026-03-10T06:00:00Z")[2], Off, "before school");
        set(db, "s", "11:30");
        assert_eq!(presence("2026-03-10T11:00:00Z")[2], Absent, "also after school");
        assert_eq!(presence("2026-03-14T11:00:00Z"), [Off; 4], "a Saturday");
    });
}

#[test]
fn each_student_has_the_school_hours_of_their_own_school() {
    both(|db| {
        school(db);
        course(db, "c", &["Math"]);
        // At this instant it is Wednesday 01:30 in Auckland and Tuesday 02:30 in Honolulu.
        let moment = Moment { now: at("2026-03-10T12:30:00Z"), usual_hours: usual() };
        let zones = [("auckland", "Pacific/Auckland"), ("honolulu", "Pacific/Honolulu")];
        let mut events = Vec::new();
        for (number, (id, zone)) in (1..).zip(zones) {
            create(db, "orgs", json!({ "sourcedId": id, "name": id, "type": "school" }));
            let hours = SchoolHours { time_zone: zone.to_owned(), ..usual() };
            db.write_blocking(|tx| school_hours::set(tx, id, &hours, &Reach::Everything)).unwrap();
            let student = format!("{id}-student");
            create(
                db,
                "users",
                json!({
                    "sourcedId": student, "enabledUser": true, "givenName": id, "familyName": "S",
                    "roles": [{ "roleType": "primary", "role": "student", "org": { "sourcedId": id } }],
                }),
            );
            // The first is on both days, the second on that of Honolulu, the third on neither.
            let times = ["2026-03-10T12:15:00Z", "2026-03-10T10:15:00Z", "2026-03-10T09:45:00Z"];
            for (at, time) in (0..).zip(times) {
                events.push(CustomEvent::activity(number * 10 + at, &student, time).sent(SENT));
            }
        }
        send(db, &events);
        let days = days_at(db, &moment);
        let found: Vec<(&str, i64)> =
            days.iter().map(|day| (day.learner.id.as_str(), day.xp())).collect();
        // Auckland's day began at 11:00 UTC, Honolulu's at 10:00 UTC.
        assert_eq!(found, [("auckland-student", 10_000), ("honolulu-student", 20_000)]);
        assert_eq!(today::different_days(&days).len(), 2, "one reading for each time zone");
        for day in &days {
            let id = &day.learner.id;
            let (one, subjects) = db.read_blocking(|tx| today::of_one(tx, &moment, id)).unwrap();
            assert_eq!((one.sums, one.last, &one.instants), (day.sums, day.last, &day.instants));
            assert_eq!(subjects[0].sums, day.sums);
        }
    });
}

#[test]
fn only_members_of_today_are_enrolled_and_have_goals() {
    both(|db| {
        school(db);
        course(db, "c", &["Math"]);
        let dates = [
            ("begins", json!({ "beginDate": "2026-03-11" })),
            ("began", json!({ "beginDate": "2026-03-10", "endDate": "2026-03-10" })),
            ("ended", json!({ "endDate": "2026-03-09" })),
        ];
        for (id, dates) in dates {
            student(db, id, &format!("{id}@example.org"));
            let mut enrollment = json!({
                "sourcedId": format!("e-{id}"), "user": { "sourcedId": id }, "course": { "sourcedId": "c" },
                "school": { "sourcedId": "s" }, "role": "student", "metadata": { "goals": { "dailyXp": 70 } },
            });
            enrollment.as_object_mut().unwrap().extend(dates.as_object().unwrap().clone());
            create(db, "enrollments", enrollment);
        }
        let moment = Moment { now: at("2026-03-10T11:00:00Z"), usual_hours: usual() };
        let days = days_at(db, &moment);
        for day in &days {
            let id = day.learner.id.as_str();
            let goal = if id == "began" { 70 } else { 0 };
            assert_eq!((day.is_enrolled, day.goal_xp), (goal > 0, goal), "{id}");
            let learned = |tx: &mut lyceum_store::Tx<'_>| {
                let one = today::of_one(tx, &moment, id)?.0;
                Ok((one.goal_xp, lyceum_bridge::enroll::learned(tx, moment.now, id)?.len()))
            };
            let learned = db.read_blocking(learned).unwrap();
            assert_eq!(learned, (goal, usize::from(goal > 0)), "{id}");
        }
        assert_eq!(days.len(), 3);
    });
}

#[test]
fn the_hours_of_an_organization_are_purged_with_it() {
    both(|db| {
        district(db);
        set(db, "north", "12:00");
        set(db, "south", "13:00");
        let purge = |org: &str, after: &str| {
            db.write_blocking(|tx| {
                let rules = lyceum_roster::collections::at("orgs").unwrap();
                lyceum_roster::write::delete(
                    tx,
                    rules,
                    org,
                    crate::kit::now(),
                    false,
                    None,
                    &Reach::Everything,
                )?;
                lyceum_roster::repository::purge(
                    tx,
                    &lyceum_roster::kinds::ORG,
                    (at(after), at(after)),
                    i64::MIN,
                    10,
                )?;
                school_hours::forget_purged(tx, &lyceum_roster::kinds::ORG)
            })
            .unwrap();
        };
        purge("north", "2027-01-01T00:00:00Z");
        create(db, "orgs", json!({ "sourcedId": "north", "name": "The north", "type": "school" }));
        let found = ends(db);
        assert_eq!(found[1], ("north".to_owned(), "16:00".to_owned(), String::new()));
        assert_eq!(found[2], ("south".to_owned(), "13:00".to_owned(), "The south".to_owned()));
    });
}
