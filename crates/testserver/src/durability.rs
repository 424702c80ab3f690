//! Tests that acknowledged writes survive: creates from many clients, `kill -9` among them, and a
//! trace of the system calls that shows a sync before each answer.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use ureq::Agent;

/// Clients that write at once, so that answers share commits.
const CLIENTS: usize = 16;
/// Where the records are created: organizations refer to nothing.
const ORGS: &str = "/ims/oneroster/rostering/v1p2/orgs";
/// The calls that carry requests and answers, and those that make a file durable.
const TRACED: &str =
    "trace=read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg,fsync,fdatasync";
/// The time that `strace` may take to attach.
const ATTACH_MAX: Duration = Duration::from_secs(20);

/// A running server and a token for it.
pub struct Api {
    base: String,
    authorization: String,
    agent: Agent,
}

impl Api {
    /// The server at `base` (`http://HOST:PORT`). The token may write rosters.
    pub fn new(base: &str, token: &str) -> Self {
        let config = Agent::config_builder().timeout_global(Some(Duration::from_mins(1)));
        let agent = config.http_status_as_error(false).max_idle_connections_per_host(1024).build();
        let authorization = format!("Bearer {token}");
        Self { base: base.to_owned(), authorization, agent: agent.into() }
    }

    /// Creates an organization; whether that was acknowledged. A broken connection answers no.
    /// Panics when the server refuses.
    pub fn create(&self, id: &str) -> bool {
        let body = format!(r#"{{"org":{{"sourcedId":"{id}","name":"{id}","type":"school"}}}}"#);
        let request = self.agent.post(format!("{}{ORGS}", self.base));
        let request = request.header("Authorization", &self.authorization);
        let Ok(mut answer) = request.header("Content-Type", "application/json").send(body) else {
            return false;
        };
        let text = answer.body_mut().read_to_string();
        assert_eq!(answer.status(), 201, "creating '{id}': {text:?}");
        true
    }

    /// Whether an organization can be read. Panics when the server does not answer.
    fn holds(&self, id: &str) -> bool {
        let request = self.agent.get(format!("{}{ORGS}/{id}", self.base));
        let answer = request.header("Authorization", &self.authorization).call();
        let mut answer = answer.unwrap_or_else(|error| panic!("reading '{id}': {error}"));
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        answer.status() == 200 && text.contains(id)
    }

    /// Creates organizations from several clients until `enough` are acknowledged, then calls
    /// `kill` while the clients go on; answers the ids of all acknowledged ones. `prefix` makes
    /// the ids of this round its own.
    pub fn write_and_kill(&self, prefix: &str, enough: usize, kill: impl FnOnce()) -> Vec<String> {
        let acknowledged = Mutex::new(Vec::new());
        let count = || acknowledged.lock().expect("no client panics while it holds the lock").len();
        thread::scope(|scope| {
            let write = |client| {
                let ids = (0..).map(|n| format!("{prefix}-{client}-{n}"));
                for id in ids.take_while(|id| self.create(id)) {
                    acknowledged.lock().expect("as above").push(id);
                }
            };
            let clients: Vec<_> = (0..CLIENTS).map(|n| scope.spawn(move || write(n))).collect();
            while count() < enough {
                let ended = clients.iter().any(thread::ScopedJoinHandle::is_finished);
                assert!(!ended, "the server broke off before it was killed");
                thread::sleep(Duration::from_millis(1));
            }
            kill();
        });
        acknowledged.into_inner().expect("as above")
    }

    /// The ids that the server has lost.
    pub fn lost(&self, ids: &[String]) -> Vec<String> {
        let share = ids.len().div_ceil(CLIENTS).max(1);
        thread::scope(|scope| {
            let missing = |ids: &[String]| -> Vec<String> {
                ids.iter().filter(|id| !self.holds(id)).cloned().collect()
            };
            let parts: Vec<_> =
                ids.chunks(share).map(|part| scope.spawn(move || missing(part))).collect();
            parts.into_iter().flat_map(|part| part.join().expect("the server answers")).collect()
        })
    }

    /// Creates about `creates` organizations while `strace` watches the server's process, and
    /// returns the trace. `None`, without a check, if `strace` may not attach.
    pub fn trace(&self, pid: u32, prefix: &str, creates: usize) -> Option<SyncTrace> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("trace");
        let mut strace = Command::new("strace")
            .args(["-f", "-y", "-s", "48", "-e", TRACED, "-p", &pid.to_string(), "-o"])
            .arg(&file)
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let start = Instant::now();
        let mut warm_up = 0;
        while fs::metadata(&file).map_or(0, |file| file.len()) == 0 {
            if strace.try_wait().is_ok_and(|ended| ended.is_some()) || start.elapsed() > ATTACH_MAX
            {
                return None;
            }
            self.create(&format!("{prefix}-warm-up-{warm_up}"));
            warm_up += 1;
        }
        self.create_all(prefix, creates);
        let status = Command::new("kill").arg(strace.id().to_string()).status();
        assert!(status.is_ok_and(|status| status.success()), "strace can be ended");
        let _ = strace.wait();
        Some(SyncTrace::read(&file))
    }

    /// [`Api::create`] while `strace` makes each sync of the server's process fail. `None`, with nothing
    /// done, where `strace` may not attach.
    pub fn create_unsynced(&self, pid: u32, id: &str) -> Option<bool> {
        let mut strace = Command::new("strace")
            .args(["-f", "-o", "/dev/null", "-e", "inject=fdatasync:error=EIO"])
            .args(["-p", &pid.to_string()])
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        let mut output = BufReader::new(strace.stderr.take().expect("it was piped"));
        let mut first = String::new();
        let is_read = output.read_line(&mut first).is_ok();
        let created = (is_read && first.contains("attached")).then(|| self.create(id));
        let _ = strace.kill();
        let _ = strace.wait();
        created
    }

    fn create_all(&self, prefix: &str, creates: usize) {
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                scope.spawn(move || {
                    for n in 0..creates.div_ceil(CLIENTS) {
                        assert!(self.create(&format!("{prefix}-{client}-{n}")), "it answers");
                    }
                });
            }
        });
    }
}

/// The result of tracing system calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SyncTrace {
    /// Creates whose arrival and answer were both seen.
    pub answered: usize,
    /// The number of writes between whose arrival and answer no file of the database was synced.
    pub unsynced: usize,
}

impl SyncTrace {
    fn read(file: &Path) -> Self {
        let bytes = fs::read(file).expect("strace wrote its trace");
        Self::of(&String::from_utf8_lossy(&bytes))
    }

    /// Reads the lines of `strace -f -y`.
    fn of(text: &str) -> Self {
        let mut reader = TraceReader::default();
        for line in text.lines() {
            if let Some((thread, call)) = line.split_once(' ') {
                reader.read(thread, call.trim_start());
            }
        }
        reader.trace
    }
}

/// A trace on its way through the lines.
#[derive(Default)]
struct TraceReader<'a> {
    trace: SyncTrace,
    /// Connections whose create has arrived, each with the syncs that had begun by then.
    waiting: Vec<(&'a str, usize)>,
    /// Calls that have begun and not ended: thread, first line, number of the sync.
    unfinished: Vec<(&'a str, &'a str, usize)>,
    syncs_begun: usize,
    /// The youngest sync that has ended.
    synced: usize,
}

impl<'a> TraceReader<'a> {
    fn read(&mut self, thread: &'a str, call: &'a str) {
        if call.starts_with("<...") {
            let same = |(of, ..): &(&str, &str, usize)| *of == thread;
            if let Some(at) = self.unfinished.iter().position(same) {
                let (_, begin, sync) = self.unfinished.swap_remove(at);
                self.ended(begin, call, sync);
            }
            return;
        }
        self.syncs_begun += usize::from(is_sync_of_database(call));
        if call.contains("\"HTTP/1.1 201") {
            self.answered(socket(call));
        }
        if call.ends_with("<unfinished ...>") {
            self.unfinished.push((thread, call, self.syncs_begun));
        } else {
            self.ended(call, call, self.syncs_begun);
        }
    }

    fn ended(&mut self, begin: &'a str, end: &str, sync: usize) {
        if is_sync_of_database(begin) && end.ends_with("= 0") {
            self.synced = self.synced.max(sync);
        } else if end.contains("\"POST ") {
            self.waiting.push((socket(begin), self.syncs_begun));
        }
    }

    fn answered(&mut self, connection: &str) {
        if let Some(at) = self.waiting.iter().position(|(of, _)| *of == connection) {
            let (_, begun_before) = self.waiting.swap_remove(at);
            self.trace.answered += 1;
            self.trace.unsynced += usize::from(self.synced <= begun_before);
        }
    }
}

/// Whether a line begins a sync of the write-ahead log, which is what makes a commit durable.
fn is_sync_of_database(call: &str) -> bool {
    (call.starts_with("fsync(") || call.starts_with("fdatasync(")) && call.contains("-wal>")
}

/// The descriptor that a call reads or writes, with the description that `strace` adds.
fn socket(call: &str) -> &str {
    let arguments = call.split_once('(').map_or("", |(_, arguments)| arguments);
    arguments.split(',').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::SyncTrace;

    const ARRIVES: &str = r#"7 recvfrom(9<socket:[1]>, "POST /ims/oneroster", 8192, 0) = 80"#;
    const ANSWERED: &str = r#"7 sendto(9<socket:[1]>, "HTTP/1.1 201 Created", 300, 0) = 300"#;

    #[test]
    fn interrupted_system_calls_are_joined() {
        let begins = "7 recvfrom(9<socket:[1]>,  <unfinished ...>";
        let arrived = r#"7 <... recvfrom resumed>"POST /ims/oneroster", 8192, 0, NULL, NULL) = 80"#;
        let sync = "8 fdatasync(5</data/lyceum.db-wal>) = 0";
        let answered = r#"7 sendto(9<socket:[1]>, "HTTP/1.1 201 Created", 300, 0 <unfinished ...>"#;
        assert_eq!(trace(&[begins, arrived, sync, answered]), (1, 0));
        assert_eq!(trace(&[begins, sync, arrived, answered]), (1, 1));
    }

    fn trace(lines: &[&str]) -> (usize, usize) {
        let SyncTrace { answered, unsynced } = SyncTrace::of(&lines.join("\n"));
        (answered, unsynced)
    }

    #[test]
    fn a_sync_between_request_and_response_is_accepted() {
        let sync = "8 fdatasync(5</data/lyceum.db-wal>) = 0";
        assert_eq!(trace(&[ARRIVES, sync, ANSWERED]), (1, 0));
        let begins = "8 fdatasync(5</data/lyceum.db-wal> <unfinished ...>";
        let ends = "8 <... fdatasync resumed>) = 0";
        assert_eq!(trace(&[ARRIVES, begins, ends, ANSWERED]), (1, 0));
    }

    #[test]
    fn a_sync_that_does_not_cover_the_request_is_not_accepted() {
        let begins = "8 fdatasync(5</data/lyceum.db-wal> <unfinished ...>";
        let ends = "8 <... fdatasync resumed>) = 0";
        assert_eq!(trace(&[ARRIVES, ANSWERED]), (1, 1), "none");
        assert_eq!(trace(&[begins, ARRIVES, ends, ANSWERED]), (1, 1), "begun before");
        assert_eq!(trace(&[ARRIVES, begins, ANSWERED, ends]), (1, 1), "ended after");
        let other = "8 fsync(6</data/server.log>) = 0";
        assert_eq!(trace(&[ARRIVES, other, ANSWERED]), (1, 1), "of another file");
        let failed = "8 fdatasync(5</data/lyceum.db-wal>) = -1 EIO (Input/output error)";
        assert_eq!(trace(&[ARRIVES, failed, ANSWERED]), (1, 1), "failed");
    }
}
