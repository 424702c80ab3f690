//! Runs the compiled tests of all crates. `cargo test` runs one program after the other, so that a core waits for the last
//! test of each; two at once keep both busy.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::run::{minutes, not_started, output, show};
use crate::test::Level;

/// The time that one program may take in small size, several times over. What still runs then is named and ended.
const SMALL_MAX: Duration = Duration::from_mins(30);
const FULL_MAX: Duration = Duration::from_hours(24);

/// A compiled program with tests of a package.
#[derive(Clone)]
pub(crate) struct TestProgram {
    /// Its package.
    pub(crate) package: String,
    /// Whether it has the tests of the folder `tests/it`, not those within `src`.
    pub(crate) is_integration: bool,
    /// The folder that its tests begin in.
    folder: PathBuf,
    path: PathBuf,
}

/// A run of a program: with which arguments, and with which variables beside those of all runs.
pub(crate) struct Run {
    pub(crate) program: TestProgram,
    pub(crate) arguments: &'static [&'static str],
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

/// Builds the tests of a cargo command, such as `cargo test --workspace`, and returns their programs.
pub(crate) fn build(mut cargo: Command) -> Result<Vec<TestProgram>> {
    cargo.args(["--no-run", "--message-format=json-render-diagnostics"]);
    show(&cargo);
    let messages = output(cargo)?;
    let programs: Vec<TestProgram> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["profile"]["test"] == true)
        .filter_map(|message| {
            let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
            // `PATH#NAME@VERSION`, or `PATH#VERSION` if the folder has the name of the package.
            let (path, id) = message["package_id"].as_str()?.rsplit_once('#')?;
            let name = id.split_once('@').map_or(path.rsplit('/').next()?, |(name, _)| name);
            Some(TestProgram {
                package: name.to_owned(),
                is_integration: message["target"]["name"] == "it",
                folder: folder.to_owned(),
                path: message["executable"].as_str()?.into(),
            })
        })
        .collect();
    if programs.is_empty() {
        bail!("cargo built no tests");
    }
    Ok(programs)
}

/// Makes the runs in their order, so many at once. Errors: which programs failed; their output was printed.
pub(crate) fn run(
    runs: &[Run],
    level: Level,
    lanes: usize,
    prepare: impl Fn(&mut Command) + Sync,
) -> Result<()> {
    let next = Mutex::new(runs.iter());
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                while let Some(run) = next.lock().ok().and_then(|mut next| next.next()) {
                    if let Err(error) = run_one(run, level, &prepare)
                        && let Ok(mut failed) = failed.lock()
                    {
                        failed.push(format!("{}: {error:#}", run.program.package));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_default();
    if !failed.is_empty() {
        bail!("{}", failed.join("; "));
    }
    Ok(())
}

fn run_one(run: &Run, level: Level, prepare: &impl Fn(&mut Command)) -> Result<()> {
    let since = Instant::now();
    let program = &run.program;
    let mut output = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(&program.path);
    command.args(run.arguments).current_dir(&program.folder);
    prepare(&mut command);
    command.envs(run.variables.iter().copied());
    command.stdin(Stdio::null()).stdout(output.reopen()?).stderr(output.reopen()?);
    let mut child = command.spawn().map_err(|error| not_started(&command, &error))?;
    let limit = if level == Level::Soak { FULL_MAX } else { SMALL_MAX };
    let status = wait(&mut child, limit)?;
    let mut text = String::new();
    output.read_to_string(&mut text)?;
    let time = minutes(since.elapsed());
    let title = format!("{} {}", program.package, run.arguments.join(" "));
    match status {
        Some(status) if status.success() => {
            let counts = text.lines().rfind(|line| line.starts_with("test result:"));
            println!("{} ({time})\n{}", title.trim(), counts.unwrap_or_default());
            Ok(())
        }
        status => {
            println!("{} ({time})\n{text}", title.trim());
            bail!(
                "{}",
                status.map_or_else(
                    || format!("ended after {time}; tests without a result above still ran"),
                    |status| status.to_string()
                )
            )
        }
    }
}

/// Waits for the program; `None` if it was ended because it took too long.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let since = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if since.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(50));
    }
}
