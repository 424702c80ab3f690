//! G2-G4: what must not grow with the network.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::NamedTempFile;

use super::networks::Networks;
use super::{Options, READ_CLIENTS};
use crate::goals::Finding;
use crate::load::Target;
use crate::lyceum::ROSTERING;
use crate::pairs::{Pairs, Spread};
use crate::server::{SERVER_CORE, Server};

/// Users that are read again and again (G3), so that caches hold them at every size and only the
/// rights check can grow.
const SAME_USERS: u64 = 1000;
/// A filter that no index serves and no record meets.
const SLOW_FILTER: &str = "/users?filter=middleName='nobody'";

/// Measures G2-G4.
pub(super) fn measure(options: &Options, networks: &Networks) -> Result<Vec<Finding>> {
    let organization = options.organization.as_deref();
    let small = networks.small.lyceum.serve_limited(SERVER_CORE, organization)?;
    let large = networks.large.lyceum.serve_limited(SERVER_CORE, organization)?;
    let mut findings =
        vec![offset(options, &large, networks.large.users)?, same_users(options, &small, &large)?];
    findings.extend(slow_filter(options, &large)?);
    Ok(findings)
}

/// G2: pages around the middle by offset against the first page, one client.
fn offset(options: &Options, server: &Server, users: u64) -> Result<Finding> {
    let mut targets = NamedTempFile::new()?;
    for step in 0..1000 {
        writeln!(targets, "{ROSTERING}/users?limit=100&offset={}", users / 2 + step)?;
    }
    targets.flush()?;
    let first = Target::Fixed(format!("{ROSTERING}/users?limit=100&offset=0"));
    let deep = Target::Listed(targets.path().to_owned());
    let pairs = Pairs::measure(
        options.run.rounds(),
        || server.load(first.clone(), 1, options.run.time()),
        || server.load(deep.clone(), 1, options.run.time()),
    )?;
    let (deep, first) = (pairs.ours(|s| s.p50_ms).median, pairs.other(|s| s.p50_ms).median);
    let detail = format!("p50 {deep:.3} ms deep, {first:.3} ms first");
    Ok(Finding::new("G2", pairs.ratio(|sample| sample.p50_ms), detail))
}

/// G3: the same thousand users on both networks.
fn same_users(options: &Options, small: &Server, large: &Server) -> Result<Finding> {
    let target = Target::Numbered(format!("{ROSTERING}/users/user-%08d"), SAME_USERS);
    let pairs = Pairs::measure(
        options.run.rounds(),
        || small.load(target.clone(), READ_CLIENTS, options.run.time()),
        || large.load(target.clone(), READ_CLIENTS, options.run.time()),
    )?;
    let (large, small) = (pairs.ours(|s| s.cpu_us).median, pairs.other(|s| s.cpu_us).median);
    let detail = format!("{large:.1} µs CPU large, {small:.1} µs small");
    Ok(Finding::new("G3", pairs.ratio(|sample| sample.cpu_us), detail))
}

/// G4: a filter that scans, and point reads beside it.
fn slow_filter(options: &Options, server: &Server) -> Result<[Finding; 2]> {
    let target = Target::Numbered(format!("{ROSTERING}/users/user-%08d"), SAME_USERS);
    let alone = server.load(target.clone(), READ_CLIENTS, options.run.time())?;
    let stop = AtomicBool::new(false);
    let (beside, mut scans) = std::thread::scope(|scope| -> Result<_> {
        let scans = scope.spawn(|| repeat(server, &stop));
        let beside = server.load(target, READ_CLIENTS, options.run.time());
        stop.store(true, Ordering::Relaxed);
        Ok((beside?, scans.join().expect("the scanning thread answers its errors")?))
    })?;
    scans.sort_unstable();
    let p99 = scans[scans.len() * 99 / 100].as_secs_f64() * 1e3;
    let detail = format!("{} requests, answered or refused", scans.len());
    let others = format!("p99 {:.2} ms beside, {:.2} ms alone", beside.p99_ms, alone.p99_ms);
    Ok([
        Finding::new("G4", p99, detail),
        Finding::new("G4.others", Spread::from(beside.p99_ms / alone.p99_ms), others),
    ])
}

/// Asks the slow filter until told to stop; answers how long each request took.
fn repeat(server: &Server, stop: &AtomicBool) -> Result<Vec<Duration>> {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let (name, value) = server.headers[0].split_once(": ").context("a header line holds ': '")?;
    let mut times = Vec::new();
    while times.is_empty() || !stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        let mut answer = agent
            .get(format!("http://{}{ROSTERING}{SLOW_FILTER}", server.address))
            .header(name, value)
            .call()?;
        answer.body_mut().read_to_vec()?;
        let status = answer.status().as_u16();
        ensure!(status != 500, "the slow filter was answered {status}");
        times.push(start.elapsed());
    }
    Ok(times)
}
