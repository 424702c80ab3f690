//! `cargo xtask test` runs every check except attacks by hostile clients; `soak` runs all of them, in full size.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::run::{cargo, command, lyceum, minutes, not_started, run, show, target};
use crate::{build, prerequisites};

/// How much data the tests work on.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    /// Takes minutes. Every change must pass it.
    Small,
    /// Takes hours. It checks the figures that the project promises.
    Full,
}

impl Size {
    /// The value of `LYCEUM_TEST_SIZE`.
    fn value(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Full => "full",
        }
    }

    /// The profile in `.config/nextest.toml`, which sets the time limits.
    fn profile(self) -> &'static str {
        match self {
            Self::Small => "default",
            Self::Full => "soak",
        }
    }
}

/// Runs every check, or with arguments only the tests that they choose.
pub(crate) fn test(size: Size, arguments: &[String]) -> Result<()> {
    println!("{}", announcement(size, arguments));
    let mut steps = Steps::start();
    steps.take("prerequisites", prerequisites::install);
    steps.take("assets", build::assets);
    steps.take("npm packages", build::packages);
    steps.take("runtime of backends", || build::installed("tests/hosting"));
    steps.take("bundler of backends", || build::installed("tests/deploy"));
    steps.take("published sensor", || build::installed("tests/sensors"));
    steps.take("library for webhooks", || build::installed("tests/webhooks"));
    if arguments.is_empty() {
        steps.take("format", || run(cargo(["fmt", "--all", "--check"])));
    }
    // In small size, tests and program share one debug build. The promised figures hold for a release build.
    let binary = match size {
        Size::Small => target().join("debug/lyceum"),
        Size::Full => {
            steps.take("release build", build::release);
            lyceum()
        }
    };
    let mut previous = None;
    if matches!(size, Size::Full) {
        steps.take("build of the previous release", || {
            previous = Some(build::previous_release()?);
            Ok(())
        });
    }
    let build = if arguments.is_empty() { "lints and test build" } else { "test build" };
    if !steps.take(build, || run(tests(arguments, Some("--no-run")))) {
        return steps.finish();
    }
    steps.take("tests", || {
        let mut tests = tests(arguments, None);
        if arguments.is_empty() && matches!(size, Size::Small) {
            // The attacks keep all cores busy for minutes, so only the soak runs them.
            tests.args(["--filterset", "not test(/^hostile::/)"]);
        }
        // A few chosen tests start clusters of their own.
        let cluster = arguments.is_empty().then(|| Cluster::start(size)).transpose()?;
        if let Some(cluster) = &cluster {
            tests.env("LYCEUM_TEST_POSTGRES", &cluster.address);
        }
        tests.env("LYCEUM_TEST_SIZE", size.value()).env("LYCEUM_TEST_BIN", &binary);
        tests.env("NEXTEST_PROFILE", size.profile());
        tests.envs(previous.iter().map(|program| ("LYCEUM_TEST_PREVIOUS_BIN", program)));
        let threads = match size {
            // Many tests wait for programs that they started, so one more than there are cores keeps these busy.
            Size::Small => std::thread::available_parallelism().map_or(2, |cores| cores.get() + 1),
            // Measurements are exact only if no other test runs.
            Size::Full => 1,
        };
        for variable in ["NEXTEST_TEST_THREADS", "RUST_TEST_THREADS"] {
            tests.env(variable, threads.to_string());
        }
        run(tests)
    });
    steps.finish()
}

/// What the command does, how long it takes and what it installs.
fn announcement(size: Size, arguments: &[String]) -> String {
    let time = match (size, arguments.is_empty()) {
        (_, false) => {
            "The chosen tests run after the test build, which takes up to 5 minutes on two cores."
        }
        (Size::Small, true) => {
            "All checks and tests take about 45 minutes on two cores: 16 to compile, 29 to run."
        }
        (Size::Full, true) => "All tests in full size take hours.",
    };
    format!("{time}\n{}", prerequisites::announcement())
}

/// `cargo nextest run` on everything, or `cargo test` on what the arguments choose. One failure
/// does not hide the next.
fn tests(arguments: &[String], option: Option<&str>) -> std::process::Command {
    let mut tests = if arguments.is_empty() {
        linting(cargo(["nextest", "run", "--workspace"]))
    } else {
        cargo(["test", "--no-fail-fast"])
    };
    tests.args(option).args(arguments);
    tests
}

/// Lets Clippy compile the workspace's crates, so that lints need no build of their own. A warning is an error.
fn linting(mut cargo: std::process::Command) -> std::process::Command {
    let clippy = Path::new(cargo.get_program()).with_file_name("clippy-driver");
    cargo.env("RUSTC_WORKSPACE_WRAPPER", clippy);
    // The form in which `cargo clippy` hands its arguments on.
    cargo.env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    cargo
}

/// The steps so far, with the time that each took.
struct Steps {
    since: Instant,
    lines: Vec<String>,
    failed: Vec<&'static str>,
}

impl Steps {
    fn start() -> Self {
        Self { since: Instant::now(), lines: Vec::new(), failed: Vec::new() }
    }

    /// Takes a step and returns whether it succeeded. A failure is printed and counted.
    fn take(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) -> bool {
        println!("\n== {name}");
        let since = Instant::now();
        let outcome = step();
        let time = minutes(since.elapsed());
        match &outcome {
            Ok(()) => println!("== {name}: passed in {time}"),
            Err(error) => {
                println!("== {name}: failed after {time}: {error:#}");
                self.failed.push(name);
            }
        }
        self.lines.push(format!("{name} {time}"));
        outcome.is_ok()
    }

    /// Prints the closing line. Errors: a step failed.
    fn finish(self) -> Result<()> {
        let total = minutes(self.since.elapsed());
        let steps = self.lines.join(", ");
        if !self.failed.is_empty() {
            bail!("{} failed; {total} in all ({steps})", self.failed.join(", "));
        }
        println!("\nall passed in {total} ({steps})");
        Ok(())
    }
}

/// The private PostgreSQL cluster of all tests of one run. The test kit's program keeps it up
/// until its standard input ends: also when this process is killed.
struct Cluster {
    address: String,
    program: Child,
    input: Option<ChildStdin>,
}

impl Cluster {
    fn start(size: Size) -> Result<Self> {
        // The tests' own build: `cargo run` would build most crates again, with fewer features.
        let mut command = command(target().join("debug/test-postgres"), [""; 0]);
        show(&command);
        command.env("LYCEUM_TEST_SIZE", size.value());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn().map_err(|error| not_started(&command, &error))?;
        let input = program.stdin.take();
        let output = program.stdout.take().context("the output is piped")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        let address = address.trim().to_owned();
        if address.is_empty() {
            bail!("PostgreSQL did not start ({}); its output is above", program.wait()?);
        }
        println!("PostgreSQL serves the tests at {address}");
        Ok(Self { address, program, input })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.input.take());
        if let Err(error) = self.program.wait() {
            eprintln!("PostgreSQL may still run: {error}");
        }
    }
}
