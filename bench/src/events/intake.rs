//! E1-E4: events a second, beside raw inserts of the same bytes.

use std::ops::Range;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Options;
use crate::goals::Finding;
use crate::limits::{Key, event_insert};
use crate::load::{Sample, Target};
use crate::pairs::Spread;
use crate::server::Server;

/// Where events go.
const INTAKE: &str = "/ims/caliper/v1p2/events";
/// Events of a large envelope.
pub(super) const MANY: u32 = 100;
/// Clients that send large envelopes.
const MANY_CLIENTS: u32 = 8;
/// Clients that send one event each.
const ONE_CLIENTS: u32 = 64;
/// Not summing the facts of a full log for longer is a failure.
const SUMMED_AFTER_MAX: Duration = Duration::from_mins(10);

/// An event that a learning app sends when a student has finished an activity. `load.lua` has the same verbs.
pub(super) const EVENT: &str = concat!(
    r#"{"@context":"http://purl.imsglobal.org/ctx/caliper/v1p2","id":"urn:uuid:{uuid}","#,
    r#""type":"ActivityEvent","profile":"ServiceProfile","action":"Completed","eventTime":"{time}","#,
    r#""actor":{"id":"https://lyceum.example/ims/oneroster/rostering/v1p2/users/user-{number}","type":"ServiceUser","email":"user-{again}@example.org"},"#,
    r#""object":{"id":"https://app.example/activities/fractions","type":"ServiceActivityContext","subject":"Math","app":{"name":"Fractions"},"#,
    r#""course":{"id":"https://lyceum.example/ims/oneroster/rostering/v1p2/courses/course-0","name":"Course 0"},"activity":{"name":"Fractions 1"}},"#,
    r#""generated":{"id":"https://app.example/metrics/1","type":"ServiceActivityMetricsCollection","attempt":1,"#,
    r#""items":[{"type":"xpEarned","value":12.5},{"type":"totalQuestions","value":10},{"type":"correctQuestions","value":8}]}}"#,
);

/// An envelope around events.
fn envelope(events: &str) -> String {
    format!(
        r#"{{"sensor":"https://app.example","sendTime":"2026-07-01T00:00:00.000Z","dataVersion":"http://purl.imsglobal.org/ctx/caliper/v1p2","data":[{events}]}}"#
    )
}

/// Posts of envelopes with so many events each: those of a day, as they come in while it lasts.
pub(super) fn posts(students: u64, events: u32) -> Target {
    post(&EVENT.replace("{time}", "{live}"), students, events)
}

fn post(event: &str, students: u64, events: u32) -> Target {
    let events = vec![event; events as usize].join(",");
    Target::Post(INTAKE.into(), envelope(&events), students)
}

/// Events a second of one load.
fn send(options: &Options, server: &Server, events: u32) -> Result<(f64, Sample)> {
    let clients = if events == 1 { ONE_CLIENTS } else { MANY_CLIENTS };
    let sample = server.load(posts(options.students(), events), clients, options.run.time())?;
    Ok((sample.requests_per_second * f64::from(events), sample))
}

/// Events a second in envelopes of 100.
pub(super) fn rate(options: &Options, server: &Server) -> Result<f64> {
    Ok(send(options, server, MANY)?.0)
}

/// Sends events of all days of so many students until the end of the range are stored, and hardly more. Answers how
/// many there are.
pub(super) fn fill(
    options: &Options,
    server: &Server,
    range: Range<u64>,
    students: u64,
) -> Result<u64> {
    let mut stored = range.start;
    let mut time = Duration::from_secs(1);
    while stored < range.end {
        let sample = server.load(post(EVENT, students, MANY), MANY_CLIENTS, time)?;
        let rate = sample.requests_per_second * f64::from(MANY);
        stored += sent(time, rate);
        println!("{stored} events stored");
        let left = range.end.saturating_sub(stored) / sent(Duration::from_secs(1), rate).max(1);
        time = Duration::from_secs(left.max(1)).min(options.run.time());
    }
    Ok(stored)
}

/// Waits until the facts of all events are summed, which the server does about twenty seconds after their events.
pub(super) fn wait_until_summed(server: &Server) -> Result<()> {
    let start = Instant::now();
    while !server.metrics()?.contains("\nlyceum_facts_unsummed 0\n") {
        ensure!(start.elapsed() < SUMMED_AFTER_MAX, "the facts of events are not summed in time");
        sleep(Duration::from_secs(1));
    }
    println!("all facts are summed after {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of events")]
fn sent(time: Duration, rate: f64) -> u64 {
    (rate * time.as_secs_f64()) as u64
}

/// E1, E2, E4 and the memory, on a log of `stored` events; also the rate of E1.
pub(super) fn rates(
    options: &Options,
    server: &Server,
    folder: &Path,
    stored: &mut u64,
) -> Result<(f64, [Finding; 4])> {
    let (mut random, mut sequential, mut ones, mut rates) = (vec![], vec![], vec![], vec![]);
    let (mut detail, mut memory) = (String::new(), 0.0_f64);
    for _ in 0..options.run.rounds() {
        let by_uuid = event_insert(folder, EVENT, Key::Random, options.run.time())?;
        let by_number = event_insert(folder, EVENT, Key::Sequential, options.run.time())?;
        let (many, sample) = send(options, server, MANY)?;
        let (one, _) = send(options, server, 1)?;
        *stored += sent(options.run.time(), many) + sent(options.run.time(), one);
        detail = format!(
            "ours {many:.0} events/s, {:.1} µs CPU an event, raw {by_uuid:.0} by UUID, {by_number:.0} by number; {one:.0} events/s alone",
            sample.cpu_us / f64::from(MANY)
        );
        memory = memory.max(sample.anonymous_mib);
        random.push(many / by_uuid);
        sequential.push(many / by_number);
        ones.push(one / many);
        rates.push(many);
    }
    let findings = [
        Finding::new("E1", Spread::of(random), detail),
        Finding::new("E2", Spread::of(sequential), "the same runs"),
        Finding::new("E4", Spread::of(ones), "the same runs"),
        Finding::new("S2.intake", memory, "after envelopes of 100"),
    ];
    Ok((Spread::of(rates).median, findings))
}

/// E3: the rate on the full log.
pub(super) fn late(options: &Options, server: &Server, first: f64) -> Result<Finding> {
    let late =
        (0..options.run.rounds()).map(|_| rate(options, server)).collect::<Result<Vec<f64>>>()?;
    let spread = Spread::of(late.iter().map(|late| late / first));
    let detail = format!("{first:.0} events/s first, {:.0} late", Spread::of(late).median);
    Ok(Finding::new("E3", spread, detail))
}
