//! Somebody at a terminal.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::served::wait;
use crate::transcript::Place;

const PATIENCE: Duration = Duration::from_secs(30);

/// A command in a pseudo-terminal.
pub(crate) struct Typing {
    process: Child,
    keys: ChildStdin,
    screen: Receiver<u8>,
    seen: String,
}

impl Typing {
    pub(crate) fn start(place: &Place, line: &str) -> Self {
        let program = place.command("");
        // The shell would say of Ctrl-C what it heard itself.
        let inner = format!("exec {} {line}", program.get_program().to_string_lossy());
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--flush", "--command", &inner, "/dev/null"]);
        command.env_clear().current_dir(place.path()).env("TERM", "dumb");
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let keys = process.stdin.take().unwrap();
        let mut output = process.stdout.take().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut byte = [0];
            while output.read_exact(&mut byte).is_ok() && sender.send(byte[0]).is_ok() {}
        });
        Self { process, keys, screen, seen: String::new() }
    }

    /// Waits until a text is on the screen; answers what came with it, up to its end.
    pub(crate) fn sees(&mut self, text: &str) -> String {
        let mut bytes = Vec::new();
        let since = Instant::now();
        while !String::from_utf8_lossy(&bytes).contains(text) {
            let left = PATIENCE.saturating_sub(since.elapsed());
            let Ok(byte) = self.screen.recv_timeout(left) else {
                let rest = String::from_utf8_lossy(&bytes);
                panic!("'{text}' is not on the screen: {}{rest}", self.seen);
            };
            bytes.push(byte);
        }
        let seen = String::from_utf8_lossy(&bytes).into_owned();
        self.seen += &seen;
        seen
    }

    /// Waits until a text is on the screen, then types.
    pub(crate) fn answer(&mut self, question: &str, keys: &str) -> &mut Self {
        self.sees(question);
        writeln!(self.keys, "{keys}").unwrap();
        self
    }

    /// Types Ctrl-C.
    pub(crate) fn interrupt(&mut self) -> &mut Self {
        self.keys.write_all(b"\x03").unwrap();
        self
    }

    /// Closes the terminal while the command runs.
    pub(crate) fn close(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Its exit code and all that was on the screen.
    pub(crate) fn end(&mut self) -> (i32, String) {
        let status = wait(&mut self.process, PATIENCE).expect("it ends");
        let rest: Vec<u8> = self.screen.iter().collect();
        (status.code().unwrap(), self.seen.clone() + &String::from_utf8_lossy(&rest))
    }
}

impl Drop for Typing {
    /// Nothing runs on after a failed test.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
