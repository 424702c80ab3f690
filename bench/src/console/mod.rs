//! `lyceum-bench console`: the console's pages about everybody, while a school day goes on.

mod network;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use lyceum_testkit::postgres::Cluster;

use crate::client::Client;
use crate::goals::Finding;
use crate::lyceum::LyceumProgram;
use crate::options::RunOptions;
use crate::pairs::Spread;
use crate::report::Report;
use crate::server::{BOTH_CORES, Server};
use network::SchoolNetwork;

/// The pages: the end of a goal's id, and the path.
const PAGES: [(&str, &str); 4] = [
    ("today", "/console/today"),
    ("students", "/console/students"),
    ("xp", "/console/students?sort=-xp"),
    ("classes", "/console/classes"),
];
/// The end of the id of the goal of all pages of a teacher.
const TEACHER: &str = "teacher";

/// How long and how large a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
    /// Students of the network
    #[arg(long, default_value_t = 20_000)]
    students: u64,
}

impl Options {
    fn students(&self) -> u64 {
        if self.run.quick { 1_000 } else { self.students }
    }
}

/// Measures and reports. Errors: any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    let data = format!("{} students, of whom three of five work", options.students());
    let mut report = Report::start("console", &options.run, data)?;
    let scratch = tempfile::tempdir_in(options.run.folder.canonicalize()?)?;
    let sqlite = LyceumProgram {
        program: options.run.lyceum.clone(),
        data: scratch.path().join("sqlite"),
        database: None,
    };
    report.add(measure(options, &sqlite, None)?);
    let cluster = Cluster::start();
    let postgres = LyceumProgram {
        data: scratch.path().join("postgres"),
        database: Some(cluster.url()),
        ..sqlite
    };
    report.add(measure(options, &postgres, Some(&cluster))?);
    report.finish(&options.run)
}

/// Fills a store and measures all pages on it.
fn measure(
    options: &Options,
    lyceum: &LyceumProgram,
    cluster: Option<&Cluster>,
) -> Result<Vec<Finding>> {
    let network = SchoolNetwork::import(lyceum, &options.run.folder, options.students())?;
    let [administrator, teacher] = network.create_viewers()?;
    let mut server = lyceum.serve(BOTH_CORES)?;
    if let Some(cluster) = cluster {
        server.process.count_family(cluster.id());
    }
    let students = SchoolNetwork::begin_school_day(&server)?;
    if let Some(cluster) = cluster {
        // PostgreSQL does so by itself within minutes.
        cluster.run("VACUUM ANALYZE");
    }
    network::wait_until_idle(&server)?;
    let mut loads = Vec::new();
    for (goal, path) in PAGES {
        loads.push(PageLoad::new(goal, path, administrator.sign_in(&server)?));
    }
    for (_, path) in PAGES {
        loads.push(PageLoad::new(TEACHER, path, teacher.sign_in(&server)?));
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let day = scope.spawn(|| network::go_on(&server, &students, &is_over));
        let loaded = (0..options.run.rounds())
            .try_for_each(|_| load_in_turn(&server, &mut loads, options.run.time()));
        is_over.store(true, Ordering::Relaxed);
        day.join().map_err(|_| anyhow!("the school day panicked"))??;
        loaded
    })?;
    let store = if cluster.is_some() { "U2" } else { "U1" };
    let mut findings: Vec<Finding> =
        PAGES.iter().map(|(goal, _)| finding(store, goal, &loads)).collect();
    findings.push(finding(store, TEACHER, &loads));
    Ok(findings)
}

/// A page that a person loads again and again.
struct PageLoad {
    goal: &'static str,
    path: &'static str,
    client: Client,
    /// The milliseconds of each answer, round by round.
    rounds: Vec<Vec<f64>>,
    cpu_us: f64,
    bytes: usize,
}

impl PageLoad {
    fn new(goal: &'static str, path: &'static str, client: Client) -> Self {
        Self { goal, path, client, rounds: Vec::new(), cpu_us: 0.0, bytes: 0 }
    }

    /// Loads the page once. Errors: it has no row.
    fn once(&mut self, server: &Server) -> Result<f64> {
        let before = server.process.cpu_us()?;
        let start = Instant::now();
        let page = self.client.get(self.path)?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        self.cpu_us += server.process.cpu_us()? - before;
        self.bytes = page.len();
        let has_rows = page.split_once("<tbody>").is_some_and(|(_, rows)| rows.contains("<td"));
        ensure!(has_rows, "{} has no row", self.path);
        Ok(ms)
    }
}

/// One round: all pages in turn, for so long on average each.
fn load_in_turn(server: &Server, loads: &mut [PageLoad], time: Duration) -> Result<()> {
    for load in &mut *loads {
        load.once(server)?;
        load.rounds.push(Vec::new());
    }
    let end = Instant::now() + time * u32::try_from(loads.len())?;
    while Instant::now() < end {
        for load in &mut *loads {
            let ms = load.once(server)?;
            load.rounds.last_mut().expect("a round begins with an empty list").push(ms);
        }
    }
    Ok(())
}

/// The p99 of a goal's pages in each round.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn finding(store: &str, goal: &str, loads: &[PageLoad]) -> Finding {
    let of_goal: Vec<&PageLoad> = loads.iter().filter(|load| load.goal == goal).collect();
    let (mut slowest, mut all) = (Vec::new(), Vec::new());
    for round in 0..of_goal[0].rounds.len() {
        let times: Vec<f64> =
            of_goal.iter().flat_map(|load| &load.rounds[round]).copied().collect();
        slowest.push(percentile(times.clone(), 99));
        all.extend(times);
    }
    let warm_ups = of_goal.len() * of_goal[0].rounds.len();
    let cpu_ms = of_goal.iter().map(|load| load.cpu_us).sum::<f64>() / 1e3;
    let detail = format!(
        "p50 {:.1} ms, {:.1} ms of CPU, of {} answers; {} KB",
        percentile(all.clone(), 50),
        cpu_ms / (all.len() + warm_ups) as f64,
        all.len(),
        of_goal.iter().map(|load| load.bytes).max().unwrap_or_default() / 1000
    );
    Finding::new(&format!("{store}.{goal}"), Spread::of(slowest), detail)
}

/// The time within which so many of 100 answers came.
fn percentile(mut times: Vec<f64>, percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() * percent / 100]
}
