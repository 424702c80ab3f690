//! P1-P4, G1, S1 and S2: the three reads on both sides at both sizes, in turn.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use lyceum_core::limits::PAGE_MAX_RECORDS;
use tempfile::NamedTempFile;

use super::networks::{Network, Networks};
use super::{Options, READ_CLIENTS};
use crate::goals::Finding;
use crate::load::{Sample, Target};
use crate::lyceum::{LyceumProgram, ROSTERING};
use crate::options::RunOptions;
use crate::pairs::{Pairs, Spread};
use crate::server::{BOTH_CORES, SERVER_CORE, Server};

/// Places in the collection from which pages are read; more where the longest page is shorter than their distance.
const PAGE_STARTS: u64 = 500;

/// Starts of which the median counts.
const STARTS: usize = 7;

/// Both sides of one size, running.
struct Sides {
    users: u64,
    anchor: Server,
    lyceum: Server,
    /// Pages of Lyceum, each a request target with a cursor, one a line.
    pages: NamedTempFile,
}

/// A read at both sizes.
struct Read {
    small: Pairs,
    large: Pairs,
}

/// The data that a read asks for.
#[derive(Clone, Copy)]
enum What {
    User,
    Page,
    Enrollments,
}

/// Measures P1-P4, G1, S1 and S2.
pub(super) fn measure(options: &Options, networks: &Networks) -> Result<Vec<Finding>> {
    let starts = starts(options, networks)?;
    let small = Sides::start(&networks.small)?;
    let large = Sides::start(&networks.large)?;
    let idle = small.lyceum.process.anonymous_mib()?;
    let read = |what| -> Result<Read> {
        Ok(Read {
            small: small.measure(&options.run, what)?,
            large: large.measure(&options.run, what)?,
        })
    };
    let user = read(What::User)?;
    let page = read(What::Page)?;
    let enrollments = read(What::Enrollments)?;
    let memory = Pairs::measure(
        options.run.rounds(),
        || small.anchor.load(Target::Fixed("/page_mem".into()), READ_CLIENTS, options.run.time()),
        || small.page(options.run.time()),
    )?;
    let mut findings = vec![
        throughput("P1", &user.small),
        throughput("P1.large", &user.large),
        throughput("P2", &page.small),
        throughput("P2.large", &page.large),
        throughput("P2.memory", &memory),
        throughput("P3", &enrollments.small),
        throughput("P3.large", &enrollments.large),
        cpu("P4", &user.small),
        cpu("P4.large", &user.large),
    ];
    findings.extend([
        growth("G1.user", &user),
        growth("G1.page", &page),
        growth("G1.enrollments", &enrollments),
    ]);
    findings.extend(starts);
    findings.push(Finding::new("S2.idle", idle, "small network, before the first request"));
    let loaded = large.lyceum.process.anonymous_mib()?;
    findings.push(Finding::new("S2.load", loaded, "after P1-P3 on the large network"));
    Ok(findings)
}

/// S1: servers on an empty data folder and on the large network, and sandboxes with the demo data.
fn starts(options: &Options, networks: &Networks) -> Result<[Finding; 3]> {
    let folder = options.run.folder.canonicalize()?;
    let large = &networks.large.lyceum;
    let measure = |id, start: &dyn Fn(&Path) -> Result<Server>| -> Result<Finding> {
        let milliseconds = (0..STARTS)
            .map(|_| Ok(start(tempfile::tempdir_in(&folder)?.path())?.started.as_secs_f64() * 1e3))
            .collect::<Result<Vec<f64>>>()?;
        Ok(Finding::new(id, Spread::of(milliseconds), format!("{STARTS} starts")))
    };
    Ok([
        measure("S1.empty", &|data| {
            LyceumProgram { data: data.to_owned(), ..large.clone() }.serve_bare(BOTH_CORES)
        })?,
        measure("S1.sandbox", &|folder| large.sandbox(folder))?,
        measure("S1.filled", &|_| large.serve_bare(SERVER_CORE))?,
    ])
}

impl Sides {
    fn start(network: &Network) -> Result<Self> {
        // Else the first side measured would read from the disk what the second finds in memory.
        for file in [&network.anchor, &network.lyceum.file()] {
            std::io::copy(&mut std::fs::File::open(file)?, &mut std::io::sink())?;
        }
        let anchor = Server::anchor(&network.anchor, SERVER_CORE)?;
        let lyceum = network.lyceum.serve(SERVER_CORE)?;
        let pages = pages(&lyceum, network.users)?;
        let sides = Self { users: network.users, anchor, lyceum, pages };
        sides.agree()?;
        Ok(sides)
    }

    /// Both sides must answer the same records, else the comparison means nothing.
    fn agree(&self) -> Result<()> {
        let user = self.lyceum.get(&format!("{ROSTERING}/users/user-00000007"))?;
        ensure!(user.contains("user-00000007"), "ours answered another user: {user}");
        let filter = format!("{ROSTERING}/enrollments?filter=user.sourcedId='user-00000007'");
        let enrollments = self.lyceum.get(&filter)?;
        let found = enrollments.matches("\"enr-00000007-").count();
        ensure!(found == 10, "ours answered {found} of 10 enrollments");
        Ok(())
    }

    fn measure(&self, run: &RunOptions, what: What) -> Result<Pairs> {
        let (time, rounds) = (run.time(), run.rounds());
        let anchor = |path: &str| {
            self.anchor.load(Target::Numbered(path.into(), self.users), READ_CLIENTS, time)
        };
        let lyceum = |path: &str| {
            let target = Target::Numbered(format!("{ROSTERING}{path}"), self.users);
            self.lyceum.load(target, READ_CLIENTS, time)
        };
        let filter = "/enrollments?filter=user.sourcedId='user-%08d'";
        match what {
            What::User => {
                Pairs::measure(rounds, || anchor("/users/user-%08d"), || lyceum("/users/user-%08d"))
            }
            What::Enrollments => Pairs::measure(rounds, || anchor(filter), || lyceum(filter)),
            What::Page => {
                Pairs::measure(rounds, || anchor("/users?limit=100&after=%d"), || self.page(time))
            }
        }
    }

    /// Loads pages of Lyceum.
    fn page(&self, time: Duration) -> Result<Sample> {
        self.lyceum.load(Target::Listed(self.pages.path().to_owned()), READ_CLIENTS, time)
    }
}

/// The parts of a page that are needed.
#[derive(serde::Deserialize)]
struct Page {
    #[serde(rename = "nextCursor")]
    next_cursor: String,
}

/// Pages by key all over the collection: the cursors of a walk through it. A walk is fast for every client, also where the
/// cache is cold.
fn pages(lyceum: &Server, users: u64) -> Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    let step = (users / PAGE_STARTS).clamp(1, PAGE_MAX_RECORDS);
    let mut place = String::new();
    for _ in 0..(users - 200) / step {
        let path = format!("{ROSTERING}/users?fields=sourcedId&limit={step}{place}");
        let Page { next_cursor } = serde_json::from_str(&lyceum.get(&path)?)?;
        place = format!("&cursor={next_cursor}");
        writeln!(file, "{ROSTERING}/users?limit=100{place}")?;
    }
    file.flush()?;
    Ok(file)
}

/// Requests a second against the other side.
fn throughput(id: &str, pairs: &Pairs) -> Finding {
    let ratio = pairs.ratio(|sample| sample.requests_per_second);
    Finding::new(id, ratio, side_by_side(pairs))
}

/// The CPU time of Lyceum.
fn cpu(id: &str, pairs: &Pairs) -> Finding {
    Finding::new(id, pairs.ours(|sample| sample.cpu_us), side_by_side(pairs))
}

/// The growth of the median answer, against the anchor's growth.
fn growth(id: &str, read: &Read) -> Finding {
    let p50 = |sample: &Sample| sample.p50_ms;
    let lyceum = read.large.ours(p50).median / read.small.ours(p50).median;
    let anchor = read.large.other(p50).median / read.small.other(p50).median;
    Finding::new(id, lyceum / anchor, format!("ours {lyceum:.2}x, anchor {anchor:.2}x"))
}

/// The figures of both sides, for people.
fn side_by_side(pairs: &Pairs) -> String {
    format!("ours  {}\n       other {}", describe(&pairs.ours), describe(&pairs.other))
}

/// The medians of one side, for people.
fn describe(samples: &[Sample]) -> String {
    let median = |figure: fn(&Sample) -> f64| Spread::of(samples.iter().map(figure)).median;
    format!(
        "{:.0} req/s, {:.1} µs CPU, p50 {:.3} ms, p99 {:.2} ms, {:.0} B, {:.0} % busy, {:.1} MiB",
        median(|sample| sample.requests_per_second),
        median(|sample| sample.cpu_us),
        median(|sample| sample.p50_ms),
        median(|sample| sample.p99_ms),
        median(|sample| sample.answer_bytes),
        median(|sample| sample.busy) * 100.0,
        median(|sample| sample.anonymous_mib),
    )
}
