//! The S3 service: this test's program, run again on a machine of its own. It obeys the words on its standard input.

use std::io::{BufRead, BufReader, Read, Write, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use lyceum_testkit::s3;

use super::network::Machine;
use super::{STAGE, again, variable};

/// Names the folder of the objects.
const FOLDER: &str = "LYCEUM_TEST_CHAOS_OBJECTS";
const LISTEN: &str = "0.0.0.0:9000";
/// The time that a slow service takes for each request.
const DELAY: Duration = Duration::from_millis(1500);

/// Serves objects until the standard input ends.
pub(super) fn serve() {
    let (_, faults) = s3::serve(Path::new(&variable(FOLDER).unwrap()), LISTEN);
    println!("serves");
    for word in stdin().lines() {
        match word.unwrap().as_str() {
            "down" => faults.set_down(true),
            "slow" => faults.set_delay(DELAY),
            _ => {
                faults.set_down(false);
                faults.set_delay(Duration::ZERO);
            }
        }
    }
}

/// The service and its machine.
pub(super) struct Objects {
    pub(super) machine: Machine,
    folder: PathBuf,
    process: Child,
    /// The process ends if nobody can read what it prints.
    output: BufReader<ChildStdout>,
}

impl Objects {
    pub(super) fn start(folder: &Path) -> Self {
        let (machine, folder) = (Machine::connect(3), folder.join("objects"));
        let (process, output) = run(&machine, &folder);
        Self { machine, folder, process, output }
    }

    /// The variables with which a server uses the bucket.
    pub(super) fn settings(&self) -> Vec<(&'static str, String)> {
        let endpoint = format!("http://{}:9000", self.machine.address);
        let s3 = s3::settings(endpoint, "secret");
        vec![
            ("LYCEUM_S3__BUCKET", s3.bucket),
            ("LYCEUM_S3__ENDPOINT", s3.endpoint),
            ("LYCEUM_S3__REGION", s3.region),
            ("LYCEUM_S3__PREFIX", s3.prefix),
            ("LYCEUM_S3__ACCESS_KEY", "key".to_owned()),
            ("LYCEUM_S3__SECRET_KEY", "secret".to_owned()),
        ]
    }

    /// Sends the service a word: `down`, `slow` or `well`.
    pub(super) fn tell(&mut self, word: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{word}").unwrap();
    }

    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts the service again on its objects.
    pub(super) fn start_again(&mut self) {
        (self.process, self.output) = run(&self.machine, &self.folder);
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run(machine: &Machine, folder: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut command = again(|program| machine.command(program));
    command.env(STAGE, "objects").env(FOLDER, folder);
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut lines = output.by_ref().lines();
    assert!(lines.any(|line| line.unwrap().contains("serves")), "the S3 service starts");
    (process, output)
}
