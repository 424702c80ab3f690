//! `cargo xtask test` runs the checks of three levels. CONTRIBUTING.md has the table of what is in which.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::run::{cargo, command, lyceum, minutes, not_started, run, show, target};
use crate::test_programs::{Run, TestProgram};
use crate::{build, changed, prerequisites, test_programs};

/// How much is tested.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Level {
    /// Lints and all tests that are not marked. Every change must pass it before a commit.
    Main,
    /// The tests that are marked `#[ignore = "rest"]`, in small size. Every change must pass it before it is merged.
    Rest,
    /// All tests and the attacks of hostile clients, in full size. It takes hours and checks the figures that the project
    /// promises.
    Soak,
}

impl Level {
    /// The value of `LYCEUM_TEST_SIZE`.
    fn size(self) -> &'static str {
        match self {
            Self::Main | Self::Rest => "small",
            Self::Soak => "full",
        }
    }

    /// How many test programs run at once. Many tests wait for programs that they started.
    fn lanes(self) -> usize {
        match self {
            Self::Main | Self::Rest => 2,
            // Measurements are exact only if no other test runs.
            Self::Soak => 1,
        }
    }

    /// How many tests of a program run at once.
    fn threads(self) -> usize {
        match self {
            Self::Main | Self::Rest => std::thread::available_parallelism().map_or(2, usize::from),
            Self::Soak => 1,
        }
    }

    /// A text about the work of the command.
    fn announcement(self) -> &'static str {
        match self {
            Self::Main => {
                "Lints, the tests of all crates and a path of each kind through the program."
            }
            Self::Rest => "The tests that `cargo xtask test` leaves out, in small size.",
            Self::Soak => "All tests in full size take hours.",
        }
    }
}

/// `cargo xtask test`, with the arguments after it.
pub(crate) fn test(arguments: &[String]) -> Result<()> {
    match arguments {
        [] => all(Level::Main),
        [flag] if flag == "--rest" => all(Level::Rest),
        [flag, base @ ..] if flag == "--changed" && base.len() <= 1 => {
            chosen(Level::Main, &changed::tests(base.first().map_or("HEAD", String::as_str))?)
        }
        // They may be of any level.
        chosen_tests => chosen(Level::Rest, chosen_tests),
    }
}

/// `cargo xtask soak`, with the arguments after it.
pub(crate) fn soak(arguments: &[String]) -> Result<()> {
    match arguments {
        [] => all(Level::Soak),
        chosen_tests => chosen(Level::Soak, chosen_tests),
    }
}

/// Runs all checks of a level.
fn all(level: Level) -> Result<()> {
    println!("{}\n{}", level.announcement(), prerequisites::announcement(level));
    let mut steps = Steps::start();
    prepare(&mut steps, level);
    if level != Level::Rest {
        steps.take("format", || run(cargo(["fmt", "--all", "--check"])));
    }
    let programs = programs(&mut steps, level);
    let mut built = Vec::new();
    steps.take("lints and test build", || {
        built =
            test_programs::build(linting(cargo(["test", "--workspace", build::FAST_TO_COMPILE])))?;
        Ok(())
    });
    if !built.is_empty() {
        steps.take("tests", || {
            let cluster = Cluster::start(level)?;
            test_programs::run(&runs(level, built), level, level.lanes(), |tests| {
                tests.env("LYCEUM_TEST_POSTGRES", &cluster.address);
                set_variables(tests, level, &programs);
            })
        });
    }
    steps.finish()
}

/// Runs the tests that the arguments of `cargo test` choose. They start clusters of their own.
fn chosen(level: Level, arguments: &[String]) -> Result<()> {
    println!("{}", prerequisites::announcement(level));
    let mut steps = Steps::start();
    prepare(&mut steps, level);
    let programs = programs(&mut steps, level);
    let mut tests = cargo(["test", "--no-fail-fast", build::FAST_TO_COMPILE]);
    tests.args(arguments);
    if level == Level::Soak {
        let separator = (!arguments.iter().any(|argument| argument == "--")).then_some("--");
        tests.args(separator).arg("--include-ignored");
    }
    set_variables(&mut tests, level, &programs);
    steps.take("test build and tests", || run(tests));
    steps.finish()
}

/// Installs and builds what the tests need beside the crates.
fn prepare(steps: &mut Steps, level: Level) {
    steps.take("prerequisites", || prerequisites::install(level));
    steps.take("assets", build::assets);
    steps.take("npm packages", build::packages);
    let folders: &[&str] = match level {
        Level::Main => &["tests/hosting", "tests/deploy", "tests/webhooks"],
        Level::Rest | Level::Soak => {
            &["tests/hosting", "tests/deploy", "tests/openapi", "tests/sensors", "tests/webhooks"]
        }
    };
    steps.take("npm packages of tests", || {
        folders.iter().try_for_each(|folder| build::installed(folder))
    });
}

/// The programs that are tested from outside.
struct Programs {
    lyceum: std::path::PathBuf,
    previous: Option<std::path::PathBuf>,
}

/// In small size, tests and program share one debug build. The promised figures hold for a release build.
fn programs(steps: &mut Steps, level: Level) -> Programs {
    if level != Level::Soak {
        return Programs { lyceum: target().join("debug/lyceum"), previous: None };
    }
    steps.take("release build", build::release);
    let mut previous = None;
    steps.take("build of the previous release", || {
        previous = Some(build::previous_release()?);
        Ok(())
    });
    Programs { lyceum: lyceum(), previous }
}

fn set_variables(tests: &mut Command, level: Level, programs: &Programs) {
    tests.env("LYCEUM_TEST_SIZE", level.size()).env("LYCEUM_TEST_BIN", &programs.lyceum);
    tests.envs(programs.previous.iter().map(|program| ("LYCEUM_TEST_PREVIOUS_BIN", program)));
    tests.env("RUST_TEST_THREADS", level.threads().to_string());
}

/// The runs of a level, the longest first.
fn runs(level: Level, mut programs: Vec<TestProgram>) -> Vec<Run> {
    let long = ["lyceum", "lyceum-server"];
    programs.sort_by_key(|program| {
        let place = long.iter().position(|package| *package == program.package);
        (place.unwrap_or(long.len()), !program.is_integration)
    });
    let server = programs.iter().find(|program| {
        program.package == "lyceum-server" && program.is_integration && level == Level::Rest
    });
    // The main level has run its tests on SQLite.
    let server_on_postgres = server.cloned().map(|program| Run {
        program,
        arguments: &[],
        variables: &[("LYCEUM_TEST_STORE", "postgres")],
    });
    let (arguments, variables): (&[&str], &[(&str, &str)]) = match level {
        Level::Main => (&[], &[("LYCEUM_TEST_STORE", "sqlite")]),
        // The attacks keep all cores busy for minutes.
        Level::Rest => (&["--ignored", "--skip", "hostile::"], &[]),
        Level::Soak => (&["--include-ignored"], &[]),
    };
    let runs = programs.into_iter().map(|program| Run { program, arguments, variables });
    server_on_postgres.into_iter().chain(runs).collect()
}

/// Lets Clippy compile the workspace's crates, so that lints need no build of their own. A warning is an error.
fn linting(mut cargo: Command) -> Command {
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
    fn start(level: Level) -> Result<Self> {
        // The tests' own build: `cargo run` would build most crates again, with fewer features.
        let mut command = command(target().join("debug/test-postgres"), [""; 0]);
        show(&command);
        command.env("LYCEUM_TEST_SIZE", level.size());
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
