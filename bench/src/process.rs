//! A child process, pinned to cores, with its CPU time and memory read from `/proc`.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// Microseconds of one tick of `/proc/PID/stat` (`USER_HZ` is 100 on every Linux).
const TICK_US: f64 = 10_000.0;
/// How long a server may take to answer for the first time.
const START_MAX: Duration = Duration::from_mins(1);

/// Cores that a process may use, as `taskset -c` reads them.
pub(crate) type Cores = &'static str;

/// A running child; dropping it kills it.
pub(crate) struct Process {
    child: Child,
    /// The root of a family of processes whose work is this one's (a PostgreSQL cluster).
    also: Option<u32>,
}

impl Process {
    /// Starts `program` on `cores`; `prepare` adds arguments and environment.
    pub(crate) fn start(
        cores: Cores,
        program: impl AsRef<OsStr>,
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let mut command = Command::new("taskset");
        command.arg("-c").arg(cores).arg(&program).stdout(Stdio::null());
        prepare(&mut command);
        let child = command.spawn().with_context(|| {
            format!("cannot start '{}' through taskset", program.as_ref().to_string_lossy())
        })?;
        Ok(Self { child, also: None })
    }

    /// Counts the CPU time of the process `root` and everything below it as this one's, too.
    pub(crate) fn count_family(&mut self, root: u32) {
        self.also = Some(root);
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Microseconds of user and system time of this process, everything below it, and what is counted with it.
    pub(crate) fn cpu_us(&self) -> Result<f64> {
        let roots = [Some(self.id()), self.also];
        Ok(family_ticks(roots.into_iter().flatten().collect())? * TICK_US)
    }

    /// MiB of anonymous memory now; mapped database pages do not count.
    pub(crate) fn anonymous_mib(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = line.and_then(|line| line.split_whitespace().next());
        Ok(kib.context("the kernel tells RssAnon")?.parse::<f64>()? / 1024.0)
    }

    /// Waits until the process ends. Errors: it failed.
    pub(crate) fn wait(&mut self) -> Result<()> {
        let status = self.child.wait()?;
        ensure!(status.success(), "the command ended with {status}");
        Ok(())
    }

    /// Waits for a process that ends with its input, and ends what it had started first.
    pub(crate) fn end_input(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps this process, and the threads that it starts from now on, on `cores`.
pub(crate) fn pin(cores: Cores) -> Result<()> {
    let own = std::process::id().to_string();
    let mut command = Command::new("taskset");
    command.args(["-c", "-p", cores, &own]).stdout(Stdio::null());
    ensure!(command.status()?.success(), "taskset could not keep this process on core {cores}");
    Ok(())
}

/// Requests `path` until it answers 200, and returns the time since `start`.
pub(crate) fn wait_for_200(
    process: &mut Process,
    address: &str,
    path: &str,
    start: Instant,
) -> Result<Duration> {
    while start.elapsed() < START_MAX {
        if answers_200(address, path).unwrap_or(false) {
            return Ok(start.elapsed());
        }
        if let Some(status) = process.child.try_wait()? {
            bail!("the server on {address} ended with {status} before it answered");
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    bail!("the server on {address} did not answer '{path}' within {START_MAX:?}")
}

/// Whether one request is answered 200.
fn answers_200(address: &str, path: &str) -> Result<bool> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    Ok(head.ends_with(b" 200"))
}

struct Stat {
    parent: u32,
    ticks: f64,
}

/// The parent and the CPU ticks of a process.
fn stat(pid: u32) -> Result<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name stands in parentheses and may hold spaces.
    let (_, rest) = text.rsplit_once(')').context("'stat' names the process")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Ok(Stat {
        parent: fields[1].parse()?,
        ticks: fields[11].parse::<f64>()? + fields[12].parse::<f64>()?,
    })
}

/// The CPU ticks of processes and everything below them.
fn family_ticks(mut family: Vec<u32>) -> Result<f64> {
    let mut all = Vec::new();
    for entry in Path::new("/proc").read_dir()? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process may end between the listing and the reading.
        if let Ok(stat) = stat(pid) {
            all.push((pid, stat));
        }
    }
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        family.extend(all.iter().filter(|(_, stat)| stat.parent == parent).map(|(pid, _)| pid));
        next += 1;
    }
    let of_family = all.iter().filter(|(pid, _)| family.contains(pid));
    Ok(of_family.map(|(_, stat)| stat.ticks).sum())
}
