//! The program as it is shipped: a server process on data of its own.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_store::{Migration, StoreLocation};
use lyceum_testkit::postgres::{CLUSTER_VARIABLE, write_fresh_file};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::http;

/// The time that the server may take to its first answer and to its end.
const START_MAX: Duration = Duration::from_secs(30);
/// The pause between two looks at a condition.
const POLL: Duration = Duration::from_millis(20);

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder that builds go to.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_lyceum")).ancestors().nth(2).unwrap().to_owned()
}

/// A variable that says how the tests are to run.
pub(crate) fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "tests are told what to test by variables")]
    std::env::var(name).ok()
}

/// The program: `LYCEUM_TEST_BIN`, else the release build, else the one of this test run.
pub(crate) fn binary() -> PathBuf {
    let release = target().join("release/lyceum");
    match variable("LYCEUM_TEST_BIN") {
        Some(path) => path.into(),
        None if release.exists() => release,
        None => env!("CARGO_BIN_EXE_lyceum").into(),
    }
}

/// Where the records are.
pub(crate) enum Store {
    /// In the data folder.
    Sqlite,
    /// In a database of the test's own, at this address.
    Postgres(String),
}

impl Store {
    /// A new database on the test cluster in which nothing but the migrations ran.
    pub(crate) fn postgres() -> Self {
        Self::postgres_with(&lyceum_api::migrations())
    }

    /// A new database on the test cluster for a backup. It has only the table of the migrations, and the store's own.
    pub(crate) fn postgres_for_restore() -> Self {
        Self::postgres_with(&[])
    }

    fn postgres_with(migrations: &[Migration]) -> Self {
        match lyceum_testkit::fresh_database(migrations) {
            StoreLocation::Postgres(address) => Self::Postgres(address),
            StoreLocation::Sqlite(path) => {
                panic!("{} is not a PostgreSQL database", path.display())
            }
        }
    }
}

/// Makes tests of functions that take a [`Store`]: one on each. Most commands and requests end in functions that the tests
/// of their crates call on both stores, so the test on PostgreSQL is one of the rest.
macro_rules! on_both_stores {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[test] fn $test() { super::$test(crate::served::Store::Sqlite); })*
        }
        mod on_postgres {
            $(#[test] #[ignore = "rest"] fn $test() { super::$test(crate::served::Store::postgres()); })*
        }
    };
}
/// The same for tests that take long: both are of the rest.
macro_rules! rest_on_both_stores {
    ($($test:ident),* $(,)?) => {
        mod rest_on_sqlite {
            $(#[test] #[ignore = "rest"] fn $test() { super::$test(crate::served::Store::Sqlite); })*
        }
        mod rest_on_postgres {
            $(#[test] #[ignore = "rest"] fn $test() { super::$test(crate::served::Store::postgres()); })*
        }
    };
}
pub(crate) use {on_both_stores, rest_on_both_stores};

/// An id and a secret.
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) secret: String,
}

/// Variables for settings.
type Variables = &'static [(&'static str, &'static str)];

/// Data that a server works on.
pub(crate) struct Data {
    folder: TempDir,
    store: Store,
    flags: &'static [&'static str],
    /// Whether ids that published clients omit are made up.
    allocates_ids: bool,
    settings: Mutex<Variables>,
    /// The flags of `ulimit` for files and sockets that the server may open; none: as many as the test.
    descriptors: Option<&'static str>,
}

/// A running server; ends with this value.
pub(crate) struct Served {
    process: Child,
    /// Its address, without a slash at the end.
    pub(crate) base: String,
    data: Arc<Data>,
}

impl Served {
    /// Starts a server on empty data.
    pub(crate) fn start(store: Store) -> Self {
        Self::start_with(store, &[])
    }

    /// Starts a server on empty data, with flags of its own.
    pub(crate) fn start_with(store: Store, flags: &'static [&'static str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::first(Data { allocates_ids: true, ..Data::new(folder, store, flags) })
    }

    /// Starts a server on empty data with the settings that it is shipped with.
    pub(crate) fn as_shipped(store: Store, flags: &'static [&'static str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::first(Data::new(folder, store, flags))
    }

    /// Starts a server on data that is made ready first.
    pub(crate) fn prepared(
        store: Store,
        flags: &'static [&'static str],
        prepare: impl FnOnce(&Data),
    ) -> Self {
        Self::prepared_with(store, flags, &[], prepare)
    }

    /// The same, with variables for settings.
    pub(crate) fn prepared_with(
        store: Store,
        flags: &'static [&'static str],
        settings: Variables,
        prepare: impl FnOnce(&Data),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Mutex::new(settings);
        let data = Data { allocates_ids: true, settings, ..Data::new(folder, store, flags) };
        prepare(&data);
        Self::first(data)
    }

    /// Starts another node of the same PostgreSQL database, with a data folder of its own.
    pub(crate) fn beside(&self) -> Self {
        self.beside_prepared(|_| ())
    }

    /// The same, on data that is made ready first.
    pub(crate) fn beside_prepared(&self, prepare: impl FnOnce(&Data)) -> Self {
        let Store::Postgres(address) = &self.data.store else { panic!("SQLite has one node") };
        self.beside_at(address.clone(), prepare)
    }

    /// The same, with another form of the address of the database.
    pub(crate) fn beside_at(&self, address: String, prepare: impl FnOnce(&Data)) -> Self {
        let store = Store::Postgres(address);
        Self::prepared_with(store, self.data.flags, self.data.settings(), |data| {
            std::fs::create_dir_all(data.file("data")).unwrap();
            prepare(data);
            if self.file("data/master.key").exists() {
                std::fs::copy(self.file("data/master.key"), data.file("data/master.key")).unwrap();
            }
        })
    }

    /// Starts a server on empty data with variables for settings, for which `ulimit` is called first.
    pub(crate) fn within(settings: Variables, descriptors: Option<&'static str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = Data::new(folder, Store::Sqlite, &[]);
        Self::first(Data { settings: Mutex::new(settings), descriptors, ..data })
    }

    /// Starts the server for the first time.
    fn first(data: Data) -> Self {
        data.migrate();
        Self::on(Arc::new(data))
    }

    fn on(data: Arc<Data>) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let listen = format!("127.0.0.1:{port}");
        let has = |prefix| data.settings().iter().any(|(name, _)| name.starts_with(prefix));
        let has_tls = has("LYCEUM_TLS__");
        let base = format!("{}://{listen}", if has_tls { "https" } else { "http" });
        let mut command = data.command(&["serve", "--listen", &listen]);
        command.args(data.flags);
        if !has("LYCEUM_SERVER__PUBLIC_URL") {
            command.args(["--public-url", &base]);
        }
        command.env("LYCEUM_ROSTER__ALLOCATE_MISSING_IDS", data.allocates_ids.to_string());
        let log = File::create(data.folder.path().join("server.log")).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let mut served = Self { process: command.spawn().unwrap(), base, data };
        served.wait_until_ready();
        served
    }

    fn wait_until_ready(&mut self) {
        let since = Instant::now();
        let ready = format!("{}/ready", self.base);
        let agent = http::agent();
        while !agent.get(&ready).call().is_ok_and(|answer| answer.status() == 200) {
            let ended = self.process.try_wait().unwrap();
            assert!(
                ended.is_none() && since.elapsed() < START_MAX,
                "the server is not ready ({ended:?}):\n{}",
                self.log()
            );
            sleep(POLL);
        }
    }

    /// Ends the server as an operator does, and starts it on the same data.
    pub(crate) fn restart(mut self) -> Self {
        kill_process(Pid::from_child(&self.process), Signal::TERM).unwrap();
        let status = wait(&mut self.process, START_MAX).expect("the server ends when asked");
        assert!(status.success(), "the server ended with {status}:\n{}", self.log());
        Self::on(Arc::clone(&self.data))
    }

    /// [`Served::restart`] with other variables for settings.
    pub(crate) fn restart_with(self, settings: Variables) -> Self {
        *self.data.settings.lock().unwrap() = settings;
        self.restart()
    }

    /// Ends the server as a crash does.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Stops the process in the middle of what it does, as a machine that is suspended.
    pub(crate) fn pause(&self) {
        kill_process(Pid::from_child(&self.process), Signal::STOP).unwrap();
    }

    /// Lets a paused process go on.
    pub(crate) fn resume(&self) {
        kill_process(Pid::from_child(&self.process), Signal::CONT).unwrap();
    }

    /// Waits until the server has ended by itself.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        wait(&mut self.process, START_MAX).unwrap_or_else(|| panic!("it runs on:\n{}", self.log()))
    }

    /// A server on the data of this one, which has ended.
    pub(crate) fn again(self) -> Self {
        Self::on(Arc::clone(&self.data))
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Registers a client beside the running server.
    pub(crate) fn client(&self, dialect: &str, scopes: &[&str]) -> Key {
        let mut arguments = vec!["client", "create", "test", "--dialect", dialect, "--json"];
        arguments.extend(scopes.iter().flat_map(|scope| ["--scope", scope]));
        let answer: Value = serde_json::from_str(&self.run(&arguments)).unwrap();
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        Key { id: text("id"), secret: text("secret") }
    }

    /// Runs another command of the program on the same data; its output.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.data.run(arguments)
    }

    /// Starts another command of the program on the same data.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Child {
        let mut command = self.data.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs a command that must fail; what it told.
    pub(crate) fn fails(&self, arguments: &[&str]) -> String {
        Self::stderr_of_failing(self.data.command(arguments), arguments)
    }

    /// The same, on a machine whose clock is ahead, such as by `+10m`.
    pub(crate) fn fails_ahead(&self, by: &str, arguments: &[&str]) -> String {
        let command = self.data.command(arguments);
        let mut ahead = Command::new("faketime");
        ahead.args(["-f", by]).arg(command.get_program()).args(command.get_args());
        ahead.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Self::stderr_of_failing(ahead, arguments)
    }

    fn stderr_of_failing(mut command: Command, arguments: &[&str]) -> String {
        let output = command.output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        assert!(!output.status.success(), "lyceum {arguments:?} succeeded: {printed}");
        printed
    }

    /// A path for a file that goes with the data.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.data.file(name)
    }

    /// The last lines of the server's log.
    pub(crate) fn log(&self) -> String {
        let log = std::fs::read_to_string(self.file("server.log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.process.kill().unwrap();
            self.process.wait().unwrap();
        }
    }
}

impl Data {
    fn new(folder: TempDir, store: Store, flags: &'static [&'static str]) -> Self {
        let settings = Mutex::default();
        Self { folder, store, flags, allocates_ids: false, settings, descriptors: None }
    }

    /// Makes the SQLite file if it is missing, as the program would, from the copy that the cluster of the test run has.
    /// `serve.rs` starts servers without any database.
    fn migrate(&self) {
        let file = self.file("data/lyceum.db");
        if matches!(self.store, Store::Sqlite)
            && !file.exists()
            && variable(CLUSTER_VARIABLE).is_some()
        {
            std::fs::create_dir_all(self.file("data")).unwrap();
            write_fresh_file(&lyceum_api::migrations(), &file);
        }
    }

    fn settings(&self) -> Variables {
        *self.settings.lock().unwrap()
    }

    /// A path for a file that goes with the data.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command of the program on the data; its output.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "lyceum {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A command of the program on the data.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = match self.descriptors {
            None => Command::new(binary()),
            Some(most) => {
                let mut command = Command::new("sh");
                let limited = format!("ulimit {most} && exec \"$0\" \"$@\"");
                command.args(["-c", &limited]).arg(binary());
                command
            }
        };
        command.args(arguments);
        command.envs(self.settings().iter().copied());
        // Demo data comes from a seed alone.
        if arguments.starts_with(&["demo", "generate"]) {
            return command;
        }
        if !arguments.contains(&"--data") {
            command.arg("--data").arg(self.folder.path().join("data"));
        }
        if let Store::Postgres(database) = &self.store {
            command.arg("--database").arg(database);
            let programs = lyceum_testkit::postgres::programs();
            let path = std::env::var_os("PATH").unwrap_or_default();
            command.env("PATH", format!("{}:{}", path.to_string_lossy(), programs.display()));
        }
        command
    }
}

/// Waits for a process to end; none when it has not in that time.
pub(crate) fn wait(process: &mut Child, at_most: Duration) -> Option<ExitStatus> {
    let since = Instant::now();
    loop {
        match process.try_wait().unwrap() {
            Some(status) => return Some(status),
            None if since.elapsed() > at_most => return None,
            None => sleep(POLL),
        }
    }
}
