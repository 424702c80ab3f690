//! Days of time zones, compared with tables and with another implementation.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use jiff::tz::TimeZoneDatabase;
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_core::random::RandomStream;
use lyceum_core::time::Timestamp;

/// Instants that are compared, each in one zone.
fn pairs() -> usize {
    if lyceum_testkit::full_size() { 100_000 } else { 15_000 }
}

#[test]
fn days_begin_and_end_at_the_listed_instants() {
    let table = include_str!("../fixtures/day_bounds.csv");
    let mut cases = 0;
    for line in table.lines().skip(1) {
        let [name, day, start, end, seconds] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let range =
            InstantRange::inclusive(&Zone::from_name(name).unwrap(), Some(day), Some(day)).unwrap();
        let [start, end]: [Timestamp; 2] = [start, end].map(|text| text.parse().unwrap());
        assert_eq!((range.from, range.to), (start, end), "{line}");
        assert_eq!((end.seconds() - start.seconds()).to_string(), seconds, "{line}");
        cases += 1;
    }
    assert_eq!(cases, 26);
}

#[test]
fn days_agree_with_python() {
    let mut zones: Vec<String> =
        TimeZoneDatabase::bundled().available().map(|name| name.to_string()).collect();
    zones.sort();
    assert!(zones.len() > 400, "{}", zones.len());
    let first = "1972-02-01T00:00:00Z".parse::<Timestamp>().unwrap().milliseconds();
    let last = "2037-12-01T00:00:00Z".parse::<Timestamp>().unwrap().milliseconds();
    let mut random = RandomStream::seeded(11);
    let pairs: Vec<(&String, i64)> = (0..pairs())
        .map(|_| {
            let span = u64::try_from(last - first).unwrap();
            (random.pick(&zones), first + i64::try_from(random.below(span)).unwrap())
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let [asked, answered] = ["asked", "answered"].map(|name| folder.path().join(name));
    let mut text = String::new();
    for (zone, ms) in &pairs {
        writeln!(text, "{zone} {ms}").unwrap();
    }
    std::fs::write(&asked, text).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let scripts = root.join("tests/clients");
    let run = Command::new("python3")
        .arg(scripts.join("bootstrap.py"))
        .args([&root.join("target/venvs"), Path::new("zones"), &scripts.join("zones.py")])
        .args([&asked, &answered])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3 is installed");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let answered = std::fs::read_to_string(answered).unwrap();
    assert_eq!(answered.lines().count(), pairs.len());
    let mut differences = Vec::new();
    for ((zone, ms), line) in pairs.iter().zip(answered.lines()) {
        let named = Zone::from_name(zone).unwrap();
        let day = named.day_of(Timestamp::from_milliseconds(*ms));
        let start = named.start_of(day).milliseconds() / 1000;
        let end = named.start_of(day.tomorrow().unwrap()).milliseconds() / 1000;
        let ours = format!("{day} {start} {end}");
        if ours != line {
            differences.push(format!("{zone} {ms}: {ours}, Python says {line}"));
        }
    }
    let few: Vec<&String> = differences.iter().take(10).collect();
    assert!(differences.is_empty(), "{} differences: {few:#?}", differences.len());
}

#[test]
fn ranges_include_their_last_millisecond_and_invalid_ones_are_refused() {
    let zone = Zone::from_name("America/New_York").unwrap();
    let day = InstantRange::inclusive(&zone, Some("2026-03-08"), Some("2026-03-08")).unwrap();
    let sent = InstantRange::inclusive(
        &zone,
        Some("2026-03-08T05:00:00.000Z"),
        Some("2026-03-09T03:59:59.999Z"),
    );
    assert_eq!(day, sent.unwrap(), "what the published client sends for that day");
    let instants = |week: InstantRange| (week.from.to_string(), week.to.to_string());
    let week = InstantRange::week(&zone, "2026-03-08T12:00:00Z").unwrap();
    let monday_to_monday =
        ("2026-03-02T05:00:00.000Z".to_owned(), "2026-03-09T04:00:00.000Z".to_owned());
    assert_eq!(instants(week), monday_to_monday);
    assert_eq!(InstantRange::week(&zone, "2026-03-02").unwrap(), week);
    for name in ["Mars/Olympus", "EST5EDT4", "+05:17", "", "../etc/passwd"] {
        let refused = Zone::from_name(name).unwrap_err();
        assert_eq!(refused.details[0].path, "timezone");
    }
    let path = |start, end| {
        let refused = InstantRange::inclusive(&zone, start, end).unwrap_err();
        refused.details[0].path.clone()
    };
    assert_eq!(path(Some("soon"), None), "startDate");
    assert_eq!(path(None, Some("2026-13-01")), "endDate");
    assert_eq!(path(Some("2026-03-08"), Some("2026-03-01")), "endDate");
}
