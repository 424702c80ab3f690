//! Facts depend only on the log: the same events give the same rows in any order of arrival, and their sums are exact
//! for any range in any zone.

use lyceum_bridge::analytics::Report;
use lyceum_bridge::zone::Zone;
use lyceum_core::random::RandomStream;
use lyceum_core::time::Timestamp;
use lyceum_events::facts::{FactContext, Measure, MeasureSums};
use lyceum_events::{Appended, Event};
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::kit::{
    CustomEvent, LATER, SENT, active, both, empty, iri, migrations, range, rebuild, rows, school,
    send, student, total,
};

const QUARTER: i64 = 15 * 60 * 1000;
const ZONES: [&str; 6] = [
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "UTC",
    "America/St_Johns",
];

/// Rounds of the property tests on each store.
fn rounds(small: u64, full: u64) -> u64 {
    if lyceum_testkit::full_size() { full } else { small }
}

/// A random millisecond within four days around a change of clocks.
fn instant(random: &mut RandomStream) -> i64 {
    let begin = "2026-03-06T12:00:00Z".parse::<Timestamp>().unwrap().milliseconds();
    let at = begin + below(random, 4 * 24 * 3600 * 1000);
    // Some are exactly on a bound.
    if random.below(4) == 0 { at - at.rem_euclid(QUARTER) } else { at }
}

fn below(random: &mut RandomStream, bound: u64) -> i64 {
    i64::try_from(random.below(bound)).unwrap()
}

fn some(random: &mut RandomStream, number: u64) -> CustomEvent {
    let at = instant(random);
    let people = ["ann", "bob", "cleo%20d"];
    let person = random.below(people.len() as u64);
    let person = people[usize::try_from(person).unwrap()];
    let items = (0..random.below(4))
        .map(|_| if number.is_multiple_of(2) { result(random) } else { time(random, at) })
        .collect();
    CustomEvent {
        number,
        actor: iri("users", person),
        email: (random.below(2) == 0).then(|| format!("{}@Example.org", &person[..3])),
        time: Timestamp::from_milliseconds(at),
        course: (random.below(2) == 0).then(|| iri("courses", "c-1")),
        subject: (*random.pick(&["Math", "Reading"][..])).into(),
        app: (*random.pick(&["Abacus", "Beads", "Cards"][..])).into(),
        items,
    }
}

fn result(random: &mut RandomStream) -> Value {
    let kinds = ["xpEarned", "totalQuestions", "correctQuestions", "masteredUnits"];
    let kind = *random.pick(&kinds);
    if kind == "xpEarned" && random.below(2) == 0 {
        return json!({"type": kind, "value": f64::from(u16::try_from(random.below(9999)).unwrap()) / 1000.0});
    }
    // There are never fewer questions than correct answers. An event here has at most three times 49 of those.
    let least = if kind == "totalQuestions" { 150 } else { 0 };
    json!({"type": kind, "value": least + random.below(50)})
}

/// Seconds. Half of them have a time, and some of those are implausible.
fn time(random: &mut RandomStream, at: i64) -> Value {
    let kind = *random.pick(&["active", "inactive", "waste", "unknown", "anti-pattern"]);
    let mut item = json!({"type": kind, "value": random.below(5000)});
    if random.below(2) == 0 {
        let far = if random.below(5) == 0 { 10 * 24 } else { 3 } * 3600 * 1000;
        let begin = at - below(random, far);
        let end = begin + below(random, 4 * 3600 * 1000) - 1000;
        let names = if random.below(2) == 0 {
            ["startDate", "endDate"]
        } else {
            ["start_date", "end_date"]
        };
        for (name, ms) in names.into_iter().zip([begin, end]) {
            item[name] = Timestamp::from_milliseconds(ms).to_string().into();
        }
    }
    item
}

/// The sum that the user's events add to a measure between the instants, computed event by event.
fn naive(activities: &[CustomEvent], user: &str, measure: &str, from: i64, to: i64) -> i64 {
    let mut sum = 0;
    for one in activities.iter().filter(|one| one.actor == iri("users", user)) {
        let at = one.time.milliseconds();
        for item in one.items.iter().filter(|item| item["type"] == measure) {
            #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
            let amount = (item["value"].as_f64().unwrap() * 1000.0).round() as i64;
            let date = |names: [&str; 2]| {
                let text = names.into_iter().find_map(|name| item[name].as_str())?;
                Some(text.parse::<Timestamp>().unwrap().milliseconds())
            };
            let span = date(["startDate", "start_date"]).zip(date(["endDate", "end_date"]));
            let week = 7 * 24 * 3600 * 1000;
            match span {
                Some((begin, end)) if begin < end && begin >= at - week && end <= at + week => {
                    let until =
                        |instant: i64| amount * (instant.clamp(begin, end) - begin) / (end - begin);
                    sum += until(to) - until(from);
                }
                _ if (from..to).contains(&at) => sum += amount,
                _ => {}
            }
        }
    }
    sum
}

fn total_by_app(report: &Report, measure: Measure) -> i64 {
    let apps = report.facts_by_app.values();
    apps.flat_map(|days| days.values().flat_map(|day| day.values()))
        .map(|metrics| metrics.sums.of(measure))
        .sum()
}

fn sent(activities: &[CustomEvent]) -> Vec<Event> {
    activities.iter().map(|one| one.sent(SENT)).collect()
}

#[test]
fn sums_over_days_are_sums_over_apps_are_sums_of_raw_events() {
    both(|db| {
        school(db);
        for (id, email) in
            [("ann", "ann@example.org"), ("bob", "bob@example.org"), ("cleo d", "cle@example.org")]
        {
            student(db, id, email);
        }
        let mut random = RandomStream::seeded(3);
        let activities: Vec<CustomEvent> =
            (0..300).map(|number| some(&mut random, number)).collect();
        send(db, &sent(&activities));
        for round in 0..rounds(60, 2000) {
            let zone = Zone::from_name(random.pick::<&str>(&ZONES)).unwrap();
            let (a, b) = (instant(&mut random), instant(&mut random));
            // Also within one bucket.
            let (a, b) = if round % 7 == 0 { (a, a + 1000) } else { (a.min(b), a.max(b) + 1) };
            let (user, path) =
                *random.pick(&[("ann", "ann"), ("bob", "bob"), ("cleo d", "cleo%20d")]);
            let report = active(db, user, range(a, b), &zone);
            for (measure, name) in Measure::ALL {
                let wanted = naive(&activities, path, name, a, b);
                let what = format!("{name} of {user} from {a} to {b} in {zone:?}");
                assert_eq!(total(&report, measure), wanted, "days: {what}");
                assert_eq!(total_by_app(&report, measure), wanted, "apps: {what}");
            }
            for (day, subjects) in &report.facts {
                let from = zone.start_of(day.0).milliseconds().max(a);
                let to = zone.start_of(day.0.tomorrow().unwrap()).milliseconds().min(b);
                for (measure, name) in Measure::ALL {
                    let sum: i64 = subjects.values().map(|it| it.sums.of(measure)).sum();
                    assert_eq!(
                        sum,
                        naive(&activities, path, name, from, to),
                        "{name} on {}",
                        day.0
                    );
                }
            }
        }
    });
}

#[test]
fn order_duplicates_and_batches_do_not_change_the_rows() {
    both(|db| {
        for round in 0..rounds(4, 60) {
            let mut random = RandomStream::seeded(100 + round);
            let activities: Vec<CustomEvent> =
                (0..80).map(|number| some(&mut random, number)).collect();
            let events = sent(&activities);
            send(db, &events);
            let once = rows(db);
            assert!(once.len() > 80, "{}", once.len());
            send(db, &events);
            assert_eq!(rows(db), once, "the same events again");
            rebuild(db);
            assert_eq!(rows(db), once, "rebuilt");
            empty(db);
            let mut shuffled: Vec<Event> = events.iter().chain(&events).cloned().collect();
            for at in (1..shuffled.len()).rev() {
                shuffled.swap(at, usize::try_from(random.below(at as u64 + 1)).unwrap());
            }
            let mut rest = &shuffled[..];
            while !rest.is_empty() {
                let (batch, others) =
                    rest.split_at(rest.len().min(usize::try_from(1 + random.below(9)).unwrap()));
                send(db, batch);
                rest = others;
            }
            assert_eq!(rows(db), once, "shuffled, doubled and split");
            empty(db);
        }
    });
}

#[test]
fn a_correction_replaces_what_it_corrects() {
    both(|db| {
        for round in 0..rounds(4, 60) {
            let mut random = RandomStream::seeded(500 + round);
            let first: Vec<CustomEvent> = (0..40).map(|number| some(&mut random, number)).collect();
            let last: Vec<CustomEvent> = (0..40).map(|number| some(&mut random, number)).collect();
            let final_events: Vec<Event> = last.iter().map(|one| one.sent(LATER)).collect();
            send(db, &final_events);
            let wanted = rows(db);
            empty(db);
            // The previous event first, the previous event last, and both in one batch.
            let (early, late) =
                sent(&first).split_at_checked(20).map(|(a, b)| (a.to_vec(), b.to_vec())).unwrap();
            send(db, &early);
            if round % 2 == 0 {
                let both: Vec<Event> = late.iter().chain(&final_events).cloned().collect();
                send(db, &both);
            } else {
                let appended = send(db, &final_events);
                let corrected = appended
                    .iter()
                    .filter(|one| matches!(one, Appended::Correction { .. }))
                    .count();
                assert_eq!(corrected, 20);
                send(db, &late);
            }
            assert_eq!(rows(db), wanted);
            rebuild(db);
            assert_eq!(rows(db), wanted, "rebuilt");
            empty(db);
        }
    });
}

/// On PostgreSQL, each connection counts separately, and one connection can subtract what another one counted.
#[test]
fn a_correction_through_another_connection_subtracts_what_was_counted() {
    let migrations = migrations();
    lyceum_testkit::both_stores(&migrations, |target| {
        let [one, other] = [(); 2].map(|()| Db::open(target, &migrations).unwrap());
        school(&one);
        student(&one, "ann", "ann@example.org");
        let time = "2026-03-19T12:00:00.000Z";
        let (from, zone) =
            (time.parse::<Timestamp>().unwrap().milliseconds(), Zone::from_name("UTC").unwrap());
        send(&one, &[CustomEvent::activity(1, "ann", time).sent(SENT)]);
        let nothing = CustomEvent::activity(1, "ann", time)
            .with_items(json!([{"type": "xpEarned", "value": 0}]));
        send(&other, &[nothing.sent(LATER)]);
        for db in [&one, &other] {
            let report = active(db, "ann", range(from - QUARTER, from + QUARTER), &zone);
            assert_eq!(total(&report, Measure::Xp), 0);
        }
    });
}

#[test]
fn a_rebuild_corrects_wrong_facts() {
    both(|db| {
        let mut random = RandomStream::seeded(9);
        let activities: Vec<CustomEvent> =
            (0..100).map(|number| some(&mut random, number)).collect();
        let (together, apart) = activities.split_at(60);
        send(db, &sent(together));
        sum(db);
        for few in apart.chunks(5) {
            send(db, &sent(few));
        }
        let right = rows(db);
        spoil(db);
        assert!(rows(db) != right);
        rebuild(db);
        assert_eq!(rows(db), right);
    });
}

/// Corrections remove facts that are not summed, and take others from the sums.
#[test]
fn facts_are_the_same_whether_they_are_summed_or_not() {
    both(|db| {
        let mut random = RandomStream::seeded(57);
        let activities: Vec<CustomEvent> =
            (0..4_500).map(|number| some(&mut random, number)).collect();
        let corrected: Vec<Event> = (0..200)
            .map(|number| {
                CustomEvent { number: number * 20, ..some(&mut random, number) }.sent(LATER)
            })
            .collect();
        let small_size = if lyceum_testkit::full_size() { 5 } else { 20 };
        let ends = [900, small_size].map(|size| {
            empty(db);
            for (at, batch) in sent(&activities).chunks(size).enumerate() {
                send(db, batch);
                if at % 7 == 0 && size == small_size {
                    sum(db);
                }
            }
            for batch in corrected.chunks(size / 5) {
                let answers = send(db, batch);
                let is_correction = |it: &Appended| matches!(it, Appended::Correction { .. });
                assert!(answers.iter().all(is_correction), "{answers:?}");
            }
            rows(db)
        });
        assert!(ends[0] == ends[1], "large and small envelopes");
        sum(db);
        assert!(rows(db) == ends[1], "facts that are summed");
        assert_eq!(in_sql(db), ends[1], "plain SQL");
        rebuild(db);
        assert!(rows(db) == ends[0], "a rebuild");
        sum(db);
        assert_eq!(in_sql(db), ends[0], "a rebuild and then plain SQL");
    });
}

/// Sums all facts, as a server does each few seconds.
fn sum(db: &Db) {
    while db.write_blocking(lyceum_events::facts::sum).unwrap() == Some(true) {}
    assert_eq!(db.read_blocking(lyceum_events::facts::count_unsummed).unwrap(), 0);
}

/// The facts as an analyst reads them, in the form of [`rows`].
fn in_sql(db: &Db) -> Vec<String> {
    let sql = "SELECT a.iri, a.email, s.bucket * 900000, c.course, c.subject, c.app, s.events, s.xp, \
               s.total_questions, s.correct_questions, s.mastered_units, s.active, s.inactive, s.waste, \
               s.unknown, s.anti_pattern FROM event_sums s JOIN event_actors a ON a.id = s.actor \
               JOIN event_contexts c ON c.id = s.context";
    let read = |tx: &mut lyceum_store::Tx<'_>| {
        tx.all(sql, &[], |row| {
            let name = (row.string(0)?, row.string(1)?);
            let context = FactContext {
                course: row.string(3)?,
                subject: row.string(4)?,
                app: row.string(5)?,
            };
            let mut sums = MeasureSums { events: row.int(6)?, ..MeasureSums::default() };
            for (at, measure) in sums.measures.iter_mut().enumerate() {
                *measure = row.int(7 + at)?;
            }
            Ok(format!("{name:?} {} {context:?} {sums:?}", row.int(2)?))
        })
    };
    let mut rows = db.read_blocking(read).unwrap();
    rows.sort();
    rows
}

fn spoil(db: &Db) {
    db.write_blocking(|tx| {
        tx.execute("DELETE FROM event_unsummed WHERE id % 2 = 0", &[])?;
        tx.execute("DELETE FROM event_places", &[])?;
        tx.execute("UPDATE event_sums SET xp = xp + 1 WHERE bucket % 3 = 0", &[])?;
        tx.execute("UPDATE event_sums SET bucket = bucket + 1000000 WHERE bucket % 3 = 1", &[])?;
        tx.execute("DELETE FROM event_sums WHERE bucket % 3 = 2", &[])
    })
    .unwrap();
}

#[test]
fn time_is_spread_over_its_span_and_absurd_values_are_ignored() {
    both(|db| {
        school(db);
        student(db, "ann", "ann@example.org");
        let item = |from: &str, to: &str| json!([{"type": "active", "value": 100, "startDate": from, "endDate": to}]);
        let at = "2026-03-10T12:00:00Z";
        let ends = [
            ("2026-03-10T11:40:00Z", "2026-03-10T12:00:00Z"),
            ("2026-03-10T12:00:00Z", "2026-03-10T11:40:00Z"),
            ("1970-01-01T00:00:00Z", "2026-03-10T12:00:00Z"),
            ("2026-02-01T11:40:00Z", "2026-02-01T12:00:00Z"),
        ];
        let events: Vec<Event> = (0..)
            .zip(ends)
            .map(|(number, (from, to))| {
                CustomEvent::activity(number, "ann", at).with_items(item(from, to)).sent(SENT)
            })
            .collect();
        send(db, &events);
        let sum = |from: &str, to: &str| {
            let [from, to] = [from, to].map(|it| it.parse::<Timestamp>().unwrap().milliseconds());
            total(&active(db, "ann", range(from, to), &Zone::UTC), Measure::Active)
        };
        assert_eq!(sum("2026-03-10T11:30:00Z", "2026-03-10T11:45:00Z"), 25_000);
        assert_eq!(sum("2026-03-10T11:45:00Z", "2026-03-10T12:00:00Z"), 75_000);
        assert_eq!(sum("2026-03-10T11:50:00Z", "2026-03-10T11:51:00Z"), 5_000);
        assert_eq!(sum("2026-03-10T12:00:00Z", "2026-03-10T12:00:00.001Z"), 300_000);
        assert_eq!(sum("1970-01-01T00:00:00Z", "2026-04-01T00:00:00Z"), 400_000);
    });
}
