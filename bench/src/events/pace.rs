//! E5 and A2: reads and fresh facts beside intake at a steady rate.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Options;
use super::intake::{EVENT, INTAKE, MANY, envelope};
use crate::data::random_uuid;
use crate::goals::Finding;
use crate::load::Target;
use crate::lyceum::ROSTERING;
use crate::pairs::Spread;
use crate::server::Server;

/// Clients that read.
const READ_CLIENTS: u32 = 16;
/// Events whose facts are awaited.
const AWAITED: usize = 200;
/// Waiting longer than this is a failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// Measures E5 and A2 beside `rate` events a second.
pub(super) fn measure(options: &Options, server: &Server, rate: f64) -> Result<[Finding; 2]> {
    let target = Target::Numbered(format!("{ROSTERING}/users/user-%08d"), options.students());
    let (mut ratios, mut fresh, mut detail) = (Vec::new(), Vec::new(), String::new());
    for _ in 0..options.run.rounds() {
        let alone = server.load(target.clone(), READ_CLIENTS, options.run.time())?;
        let stop = AtomicBool::new(false);
        let (beside, visible, sent) = std::thread::scope(|scope| -> Result<_> {
            let sending = scope.spawn(|| send(options, server, rate, &stop));
            let beside = server.load(target.clone(), READ_CLIENTS, options.run.time());
            let visible = freshness(server);
            stop.store(true, Ordering::Relaxed);
            let sent = sending.join().expect("the sending thread answers its errors")?;
            Ok((beside?, visible?, sent))
        })?;
        detail = format!(
            "p99 {:.2} ms beside {sent:.0} of {rate:.0} events/s, {:.2} ms alone",
            beside.p99_ms, alone.p99_ms
        );
        ratios.push(beside.p99_ms / alone.p99_ms);
        fresh.extend(visible);
    }
    fresh.sort_by(f64::total_cmp);
    let p99 = fresh[fresh.len() * 99 / 100];
    let visible = format!("p50 {:.1} ms of {} events", fresh[fresh.len() / 2], fresh.len());
    Ok([Finding::new("E5", Spread::of(ratios), detail), Finding::new("A2", p99, visible)])
}

/// Sends so many events of April of so many students, one envelope after the other, and returns how many were sent.
pub(super) fn fill(server: &Server, events: u64, students: u64) -> Result<u64> {
    let mut sent = 0;
    while sent < events {
        let time = format!("2026-04-{:02}T12:00:00.000Z", fastrand::u8(1..=30));
        let events: Vec<String> =
            (0..MANY).map(|_| event(fastrand::u64(..students), &time, "Math")).collect();
        post(server, &envelope(&events.join(",")))?;
        sent += u64::from(MANY);
    }
    Ok(sent)
}

/// Sends envelopes at the rate until told to stop; answers the rate that was reached.
fn send(options: &Options, server: &Server, rate: f64, stop: &AtomicBool) -> Result<f64> {
    let between = Duration::from_secs_f64(f64::from(MANY) / rate);
    let start = Instant::now();
    let mut envelopes = 0;
    while !stop.load(Ordering::Relaxed) {
        let events: Vec<String> = (0..MANY)
            .map(|_| event(fastrand::u64(..options.students()), "2026-05-01T12:00:00.000Z", "Math"))
            .collect();
        post(server, &envelope(&events.join(",")))?;
        envelopes += 1;
        std::thread::sleep((between * envelopes).saturating_sub(start.elapsed()));
    }
    Ok(f64::from(envelopes * MANY) / start.elapsed().as_secs_f64())
}

/// Milliseconds from each event's answer to its place in analytics.
fn freshness(server: &Server) -> Result<Vec<f64>> {
    let mut times = Vec::with_capacity(AWAITED);
    for number in 0..AWAITED {
        // A subject of its own shows the event at a glance.
        let subject = format!("Fresh{:x}-{number}", fastrand::u32(..));
        post(server, &envelope(&event(0, "2026-05-01T12:00:00.000Z", &subject)))?;
        let answered = Instant::now();
        let path = "/bridge/analytics/activity?studentId=user-00000000&startDate=2026-05-01&endDate=2026-05-01";
        while !server.get(path)?.contains(&subject) {
            ensure!(answered.elapsed() < PATIENCE, "the facts of '{subject}' never came");
        }
        times.push(answered.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

fn event(student: u64, time: &str, subject: &str) -> String {
    EVENT
        .replace("{uuid}", &random_uuid(&mut fastrand::Rng::new()))
        .replace("{time}", time)
        .replace("{number}", &format!("{student:08}"))
        .replace("{again}", &format!("{student:08}"))
        .replace("\"Math\"", &format!("\"{subject}\""))
}

fn post(server: &Server, body: &str) -> Result<()> {
    let (name, value) = server.headers[0].split_once(": ").context("a header line holds ': '")?;
    ureq::post(format!("http://{}{INTAKE}", server.address))
        .header(name, value)
        .header("Content-Type", "application/json")
        .send(body)
        .context("an envelope was refused")?;
    Ok(())
}
