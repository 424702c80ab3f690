//! A1: a student's and a class's 90 days.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::Options;
use crate::goals::Finding;
use crate::load::{Sample, Target};
use crate::server::Server;

/// Students of a class.
const CLASS: u64 = 30;
/// Classes that are asked for.
const CLASSES: u64 = 100;
/// The days that hold all events.
const DAYS: &str = "startDate=2026-04-01&endDate=2026-06-29&timezone=America/Chicago";

/// Requests for the 90 days of the enrollments of so many students by one client.
pub(super) fn enrollment(options: &Options, server: &Server, students: u64) -> Result<Sample> {
    let one = server.get(&format!("/bridge/analytics/enrollment/enr-00000000-0?{DAYS}"))?;
    ensure!(one.contains("xpEarned"), "the first student has no facts: {one}");
    let path = format!("/bridge/analytics/enrollment/enr-%08d-0?{DAYS}");
    server.load(Target::Numbered(path, students), 1, options.run.time())
}

/// A1 on the full log, held against the first sample.
pub(super) fn measure(options: &Options, server: &Server, first: Sample) -> Result<[Finding; 3]> {
    let full = enrollment(options, server, options.students())?;
    let detail = format!("p99 {:.2} ms, {:.0} bytes", full.p99_ms, full.answer_bytes);
    let growth = format!("p50 {:.2} ms first, {:.2} ms full", first.p50_ms, full.p50_ms);
    Ok([
        Finding::new("A1", full.p50_ms, detail),
        Finding::new("A1.growth", full.p50_ms / first.p50_ms, growth),
        class(options, server)?,
    ])
}

fn class(options: &Options, server: &Server) -> Result<Finding> {
    let mut times = Vec::new();
    for class in 0..CLASSES.min(options.students() / CLASS) {
        let start = Instant::now();
        for student in class * CLASS..(class + 1) * CLASS {
            let student = format!("studentId=user-{student:08}");
            server.get(&format!("/bridge/analytics/activity?{student}&{DAYS}"))?;
        }
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let p99 = times[times.len() * 99 / 100];
    let detail = format!("p50 {:.1} ms of {} classes", times[times.len() / 2], times.len());
    Ok(Finding::new("A1.class", p99, detail))
}
