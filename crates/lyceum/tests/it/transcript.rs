//! Runs the binary in a folder of its own and writes down what it did.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder to run commands in. Variables of the test's own process are not seen there.
pub(crate) struct Place {
    program: PathBuf,
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let program = env!("CARGO_BIN_EXE_lyceum").into();
        Self { program, folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    /// The same place for another build of the program.
    pub(crate) fn running(self, program: PathBuf) -> Self {
        Self { program, ..self }
    }

    /// The same place with a variable set.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets a variable for the commands that follow.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(one, _)| one != name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// The value of the variable here.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// The binary with arguments, which stand in one line without quotes.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().current_dir(self.path()).args(line.split_whitespace());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(self.variables.iter().cloned()).stdin(Stdio::null());
        command
    }

    /// Runs a command; answers its exit code, its answer and what it told about the work.
    pub(crate) fn run(&self, line: &str) -> (i32, String, String) {
        let output = self.command(line).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }

    /// Runs a command that must succeed; answers its answer.
    pub(crate) fn ok(&self, line: &str) -> String {
        let (code, stdout, stderr) = self.run(line);
        assert_eq!(code, 0, "{line}: {stderr}");
        stdout
    }

    /// Runs a command that must fail; answers its exit code and what it told.
    pub(crate) fn fails(&self, line: &str) -> (i32, String) {
        let (code, stdout, stderr) = self.run(line);
        assert_ne!(code, 0, "{line} succeeded: {stdout}{stderr}");
        assert_eq!(stdout, "", "a failure has no answer");
        (code, stderr)
    }

    /// Runs a command that must succeed and answer JSON.
    pub(crate) fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }
}
