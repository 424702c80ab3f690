//! Raw limits of the machine, in process: what no server here can be faster than.

mod cpu;
mod disk;
mod events;
mod replay;
mod sqlite;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

pub(crate) use events::{Key, event_insert, unnest_insert};
pub(crate) use replay::same_index_insert;
pub(crate) use sqlite::random_key_insert;

/// How fast one operation ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Limit {
    /// What was done.
    pub(crate) name: String,
    /// Operations a second of wall time.
    pub(crate) per_second: f64,
    /// Operations a second of the calling thread's CPU time; steady on a busy machine.
    pub(crate) per_cpu_second: f64,
    /// Microseconds of the median call (a call may hold many operations).
    pub(crate) p50_us: f64,
}

/// Every limit on an anchor database of `users` students.
pub(crate) fn all(database: &Path, users: u64, time: Duration) -> Result<Vec<Limit>> {
    let folder = database.parent().context("the database lies in a folder")?;
    let mut limits = disk::measure_in(folder, time)?;
    limits.extend(sqlite::reads(database, users, time)?);
    limits.push(random_key_insert(folder, time)?);
    limits.extend(cpu::signatures(time)?);
    Ok(limits)
}

/// Runs `call` for `time`; it answers how many operations it did.
pub(crate) fn measure(
    name: &'static str,
    time: Duration,
    mut call: impl FnMut() -> Result<u64>,
) -> Result<Limit> {
    let cpu_before = thread_cpu()?;
    let start = Instant::now();
    let (mut operations, mut calls) = (0, Vec::new());
    while start.elapsed() < time {
        let call_start = Instant::now();
        operations += call()?;
        calls.push(call_start.elapsed());
    }
    let wall = start.elapsed();
    let cpu = thread_cpu()?.saturating_sub(cpu_before);
    calls.sort_unstable();
    let operations = f64::from(u32::try_from(operations)?);
    Ok(Limit {
        name: name.to_owned(),
        per_second: operations / wall.as_secs_f64(),
        per_cpu_second: operations / cpu.as_secs_f64(),
        p50_us: calls[calls.len() / 2].as_secs_f64() * 1e6,
    })
}

/// CPU time of the calling thread so far.
fn thread_cpu() -> Result<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = text.split_whitespace().next().context("'schedstat' has a first field")?;
    Ok(Duration::from_nanos(nanos.parse()?))
}
