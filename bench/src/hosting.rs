//! `lyceum-bench hosting`: what a deployed backend costs beside the bare runtime, and beside miniflare,
//! with the same bundled code in one run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::goals::Finding;
use crate::load::Target;
use crate::lyceum::{Credentials, LyceumProgram, fetch_token};
use crate::options::RunOptions;
use crate::pairs::{Pairs, Spread};
use crate::process::Process;
use crate::report::Report;
use crate::server::{BOTH_CORES, Server, free_address};

/// The route by the path of the server, and by that of a bare runtime.
const OURS: &str = "/_projects/bench/api/hello";
const BARE: &str = "/api/hello";
const ROUTE: &str = "export const GET = (c) => c.json({ hello: \"world\" });\n";
const CLIENTS: u32 = 32;

/// How long a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
}

/// Measures and reports. Errors: one of the sides does not answer.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut report = Report::start("hosting", &options.run, "a backend of one route".to_owned())?;
    let scratch = tempfile::tempdir_in(options.run.folder.canonicalize()?)?;
    let (rounds, time) = (options.run.rounds(), options.run.time());
    let bench = Bench::new(options, scratch.path())?;
    let server = bench.serve()?;
    bench.deploy(&server)?;
    let bundle = bench.bundle(&server)?;
    drop(server);
    report.add([bench.idle_dev(time)?, bench.cold_starts(&bundle, rounds)?]);
    report.add(bench.warm(&bundle, rounds, time)?);
    report.finish(&options.run)
}

/// A project, a server for it, and the programs beside.
struct Bench {
    lyceum: LyceumProgram,
    credentials: Credentials,
    project: PathBuf,
    /// The folder of miniflare and the runtime.
    packages: PathBuf,
    workerd: PathBuf,
    scratch: PathBuf,
}

impl Bench {
    fn new(options: &Options, scratch: &Path) -> Result<Self> {
        let project = scratch.join("project");
        fs::create_dir_all(project.join("server/api"))?;
        fs::create_dir_all(project.join("dist"))?;
        fs::write(project.join("server/api/hello.js"), ROUTE)?;
        fs::write(project.join("dist/index.html"), "<h1>Bench</h1>")?;
        let config = r#"{ "name": "Bench", "buildPath": "dist" }"#;
        fs::write(project.join("lyceum.config.json"), config)?;
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").canonicalize()?;
        let modules = tests.join("deploy/node_modules");
        std::os::unix::fs::symlink(modules, project.join("node_modules"))?;
        let packages = tests.join("hosting");
        let named = packages.join("node_modules/@cloudflare");
        let found =
            fs::read_dir(&named).with_context(|| format!("{} is there", named.display()))?;
        let mut programs = found.flatten().map(|entry| entry.path().join("bin/workerd"));
        let workerd = programs.find(|program| program.is_file()).context("workerd is installed")?;
        let lyceum = LyceumProgram {
            program: options.run.lyceum.canonicalize().context("the binary is built")?,
            data: scratch.join("data"),
            database: None,
        };
        let credentials = lyceum.create_client()?;
        Ok(Self { lyceum, credentials, project, packages, workerd, scratch: scratch.to_owned() })
    }

    /// A server of staging on every core.
    fn serve(&self) -> Result<Server> {
        let address = free_address()?;
        let start = Instant::now();
        let process = Process::start(BOTH_CORES, &self.lyceum.program, |command| {
            command.args(["serve", "--quiet", "--env", "staging", "--listen", &address, "--data"]);
            command.arg(&self.lyceum.data);
            command.env("LYCEUM_WORKERD", &self.workerd).env("LYCEUM_SERVER__LOG_LEVEL", "warn");
        })?;
        let mut server = Server::wait(process, address, "/health", start)?;
        server.load_cores = BOTH_CORES;
        Ok(server)
    }

    /// Deploys the project.
    fn deploy(&self, server: &Server) -> Result<()> {
        let mut command = Command::new(&self.lyceum.program);
        command.args(["deploy", "--yes", "--quiet"]).current_dir(&self.project);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.env("LYCEUM_URL", format!("http://{}", server.address));
        command.env("LYCEUM_CLIENT_ID", &self.credentials.id);
        command.env("LYCEUM_CLIENT_SECRET", &self.credentials.secret);
        ensure!(command.status()?.success(), "'lyceum deploy' failed; its error is above");
        Ok(())
    }

    /// The code as it was deployed: what the other sides run.
    fn bundle(&self, server: &Server) -> Result<PathBuf> {
        let token = fetch_token(&server.address, &self.credentials)?;
        let get = |path: &str| -> Result<Vec<u8>> {
            let request = ureq::get(format!("http://{}/api/projects/bench{path}", server.address));
            let request = request.header("Authorization", format!("Bearer {token}"));
            Ok(request.call()?.body_mut().read_to_vec()?)
        };
        let project: Value = serde_json::from_slice(&get("")?)?;
        let module = &project["deployment"]["backend"]["modules"][0];
        let hash = module["sha256"].as_str().context("a module")?;
        let file = self.scratch.join("worker.js");
        fs::write(&file, get(&format!("/artifacts/{hash}"))?)?;
        Ok(file)
    }

    /// H3: `lyceum dev` with its sandbox, after one request and a pause, while nobody asks and no file changes.
    fn idle_dev(&self, time: Duration) -> Result<Finding> {
        let address = free_address()?;
        let (_, port) = address.rsplit_once(':').context("an address has a port")?;
        let process = Process::start(BOTH_CORES, &self.lyceum.program, |command| {
            command.args(["dev", "--quiet", "--port", port]).current_dir(&self.project);
            command.env("LYCEUM_WORKERD", &self.workerd).env("XDG_RUNTIME_DIR", &self.scratch);
        })?;
        let dev = Server::wait(process, address.clone(), BARE, Instant::now())?;
        std::thread::sleep(time);
        let idle = time * 4;
        let before = dev.process.cpu_us()?;
        std::thread::sleep(idle);
        let share = (dev.process.cpu_us()? - before) / idle.as_micros() as f64;
        Ok(Finding::new("H3", share * 100.0, format!("{} s", idle.as_secs())))
    }

    /// The runtime alone, on every core.
    fn bare(&self, bundle: &Path) -> Result<Server> {
        let address = free_address()?;
        let config = self.scratch.join("bare.capnp");
        let text = format!(
            r#"using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker.js", esModule = embed "{}")],
    compatibilityDate = "2026-04-01", compatibilityFlags = ["nodejs_compat"],
  ))],
  sockets = [(name = "http", address = "{address}", http = (), service = "main")],
);
"#,
            bundle.file_name().context("a file has a name")?.to_string_lossy()
        );
        fs::write(&config, text)?;
        let start = Instant::now();
        let process = Process::start(BOTH_CORES, &self.workerd, |command| {
            command.arg("serve").arg(&config);
        })?;
        let mut server = Server::wait(process, address, BARE, start)?;
        server.load_cores = BOTH_CORES;
        Ok(server)
    }

    fn miniflare(&self, bundle: &Path) -> Result<Server> {
        let address = free_address()?;
        let (_, port) = address.rsplit_once(':').context("an address has a port")?;
        let start = Instant::now();
        let mut process = Process::start(BOTH_CORES, "node", |command| {
            command.arg("serve.mjs").arg(port).arg(bundle).current_dir(&self.packages);
            command.stdin(Stdio::piped());
        })?;
        // Its work is that of the runtime below it, too.
        process.count_family(process.id());
        let mut server = Server::wait(process, address, BARE, start)?;
        server.load_cores = BOTH_CORES;
        Ok(server)
    }

    /// The first request to a backend that does not run, beside a start of the bare runtime.
    fn cold_starts(&self, bundle: &Path, rounds: usize) -> Result<Finding> {
        let (mut lyceum, mut bare, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            bare.push(self.bare(bundle)?.started.as_secs_f64() * 1e3);
            let server = self.serve()?;
            let start = Instant::now();
            server.get(OURS)?;
            lyceum.push(start.elapsed().as_secs_f64() * 1e3);
            ratios.push(lyceum[lyceum.len() - 1] / bare[bare.len() - 1]);
        }
        let (lyceum, bare) = (Spread::of(lyceum), Spread::of(bare));
        let detail = format!("{rounds} pairs; {:.0} ms and {:.0} ms", lyceum.median, bare.median);
        Ok(Finding::new("H1", Spread::of(ratios), detail))
    }

    fn warm(&self, bundle: &Path, rounds: usize, time: Duration) -> Result<[Finding; 2]> {
        let (lyceum, bare) = (self.serve()?, self.bare(bundle)?);
        lyceum.get(OURS)?;
        let load = |server: &Server, path: &str| {
            server.load(Target::Fixed(path.to_owned()), CLIENTS, time)
        };
        let pairs = Pairs::measure(rounds, || load(&bare, BARE), || load(&lyceum, OURS))?;
        drop(bare);
        let miniflare = self.miniflare(bundle)?;
        let other = Pairs::measure(rounds, || load(&miniflare, BARE), || load(&lyceum, OURS))?;
        miniflare.process.end_input()?;
        let finding = |id: &str, pairs: &Pairs, name: &str| {
            let rate = |spread: Spread| spread.median;
            let (lyceum, other) = (
                rate(pairs.ours(|sample| sample.requests_per_second)),
                rate(pairs.other(|sample| sample.requests_per_second)),
            );
            let detail = format!("{CLIENTS} clients; {lyceum:.0} req/s, {name} {other:.0} req/s");
            Finding::new(id, pairs.ratio(|sample| sample.requests_per_second), detail)
        };
        Ok([
            finding("H2", &pairs, "the bare runtime"),
            finding("H2.miniflare", &other, "miniflare"),
        ])
    }
}
