//! A PostgreSQL primary with a standby that has every commit before it is acknowledged.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testkit::postgres::{owner, programs};
use postgres::{Client, NoTls};

use super::clock::Clock;
use super::network::Machine;
use super::{BRIDGE, PATIENCE};

/// Two machines for PostgreSQL.
pub(super) struct Postgres {
    folder: PathBuf,
    nodes: [Machine; 2],
    processes: [Option<Child>; 2],
    /// The clocks of both machines.
    clocks: [Clock; 2],
    /// The server of the two that takes writes.
    primary: usize,
}

impl Postgres {
    /// Makes a cluster, with a standby if it is to have one.
    pub(super) fn start(folder: &Path, has_standby: bool) -> Self {
        let folder = folder.join("postgres");
        fs::create_dir(&folder).unwrap();
        let (user, group) = user();
        std::os::unix::fs::chown(&folder, Some(user), Some(group)).unwrap();
        let clocks = ["a", "b"].map(|name| Clock::new(&folder.join(format!("clock-{name}"))));
        let nodes = [Machine::connect(11), Machine::connect(12)];
        let mut postgres = Self { folder, nodes, processes: [None, None], clocks, primary: 0 };
        let data = postgres.data(0);
        let mut initdb = postgres.command(0, "initdb");
        initdb.args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]);
        finish(initdb.arg("--no-sync").arg("-D").arg(&data));
        let network = format!("{BRIDGE}/24");
        let access =
            format!("host all all {network} trust\nhost replication all {network} trust\n");
        let settings = "listen_addresses = '*'\nmax_connections = 200\nmax_wal_size = 256MB\n\
                        wal_keep_size = 64MB\n";
        append(&data.join("pg_hba.conf"), &access);
        append(&data.join("postgresql.conf"), settings);
        postgres.run(0);
        if has_standby {
            postgres.add_standby();
        }
        postgres
    }

    /// The address for the servers, as in the guide for operators.
    pub(super) fn url(&self) -> String {
        let [first, second] = self.nodes.each_ref().map(|node| node.address);
        format!("postgres://postgres@{first},{second}/postgres?target_session_attrs=read-write")
    }

    /// The machine of the primary.
    pub(super) fn primary(&self) -> &Machine {
        &self.nodes[self.primary]
    }

    /// The machines of primary and standby.
    pub(super) fn machines(&self) -> &[Machine; 2] {
        &self.nodes
    }

    /// The clock of the primary.
    pub(super) fn clock(&self) -> &Clock {
        &self.clocks[self.primary]
    }

    /// Kills the primary and makes the standby the primary, as a failover manager does after some seconds.
    pub(super) fn fail_over(&mut self) {
        self.kill(self.primary);
        sleep(Duration::from_secs(2));
        self.primary = 1 - self.primary;
        let data = self.data(self.primary);
        finish(self.command(self.primary, "pg_ctl").args(["promote", "-w", "-D"]).arg(data));
        self.set_synchronous("");
    }

    /// Kills the standby. Commits wait until it is back.
    pub(super) fn kill_standby(&mut self) {
        self.kill(1 - self.primary);
    }

    /// Starts the standby again.
    pub(super) fn start_standby(&mut self) {
        self.run(1 - self.primary);
    }

    /// Copies the primary to the other machine and lets commits wait for it.
    pub(super) fn add_standby(&mut self) {
        let standby = 1 - self.primary;
        let data = self.data(standby);
        let _ = fs::remove_dir_all(&data);
        let primary = self.primary().address.to_string();
        let mut copy = self.command(standby, "pg_basebackup");
        copy.args(["-h", &primary, "-U", "postgres", "-c", "fast", "-R", "-D"]).arg(&data);
        finish(&mut copy);
        self.run(standby);
        self.set_synchronous("*");
    }

    fn set_synchronous(&self, standbys: &str) {
        let mut client = self.client(self.primary).unwrap();
        let set = format!("ALTER SYSTEM SET synchronous_standby_names = '{standbys}'");
        client.batch_execute(&set).unwrap();
        client.batch_execute("SELECT pg_reload_conf()").unwrap();
    }

    fn run(&mut self, node: usize) {
        let log = File::options().create(true).append(true).open(self.log(node)).unwrap();
        let mut postgres = self.nodes[node].command_as(user(), "env");
        postgres.args(self.clocks[node].variables()).arg(programs().join("postgres"));
        postgres.arg("-D").arg(self.data(node)).args(["-c", "unix_socket_directories="]);
        self.processes[node] =
            Some(postgres.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap());
        let since = Instant::now();
        while self.client(node).is_err() {
            let log = || fs::read_to_string(self.log(node)).unwrap();
            assert!(since.elapsed() < PATIENCE, "{}", log());
            sleep(Duration::from_millis(50));
        }
    }

    fn kill(&mut self, node: usize) {
        if let Some(mut process) = self.processes[node].take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        // Its children notice a moment later that it is gone.
        let folder = self.data(node);
        let is_used = || {
            fs::read_dir("/proc").unwrap().flatten().any(|process| {
                fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
            })
        };
        while is_used() {
            sleep(Duration::from_millis(20));
        }
        let _ = fs::remove_file(folder.join("postmaster.pid"));
    }

    fn client(&self, node: usize) -> Result<Client, postgres::Error> {
        let address = self.nodes[node].address;
        Client::connect(&format!("postgres://postgres@{address}/postgres?connect_timeout=2"), NoTls)
    }

    fn command(&self, node: usize, program: &str) -> Command {
        let mut command = self.nodes[node].command_as(user(), programs().join(program));
        command.current_dir("/");
        command
    }

    fn data(&self, node: usize) -> PathBuf {
        self.folder.join(["a", "b"][node])
    }

    fn log(&self, node: usize) -> PathBuf {
        self.data(node).with_extension("log")
    }
}

/// The user and the group of PostgreSQL, which refuses to run as root.
fn user() -> (u32, u32) {
    owner().expect("the test runs as root")
}

#[track_caller]
fn finish(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn append(file: &Path, text: &str) {
    let former = fs::read_to_string(file).unwrap();
    fs::write(file, former + text).unwrap();
}
