//! Three servers, each with a disk and a clock of its own, `HAProxy` before them, PostgreSQL and the S3 service.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testkit::full_size;
use lyceum_testserver::client::TestClient;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::clock::Clock;
use super::network::{Machine, run};
use super::objects::Objects;
use super::postgres::Postgres;
use super::{PATIENCE, RIVERS};
use crate::served::{Key, binary, wait};

pub(super) const NAMES: [&str; 3] = ["oak", "elm", "fir"];
/// The account that signs in.
pub(super) const EMAIL: &str = "ada@example.org";
pub(super) const PASSWORD: &str = "a long word for rivers";
const PORT: u16 = 4321;
/// MiB of the disk of a server.
const DISK_MIB: u32 = 512;

pub(super) struct Cluster {
    pub(super) postgres: Postgres,
    pub(super) objects: Objects,
    pub(super) servers: Vec<Server>,
    haproxy: Child,
    front: Machine,
    folder: PathBuf,
}

/// A server and its machine.
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) machine: Machine,
    pub(super) clock: Clock,
    /// Where its disk is mounted.
    disk: PathBuf,
    variables: Vec<(&'static str, String)>,
    log: PathBuf,
    process: Option<Child>,
}

impl Cluster {
    /// Starts everything. With `has_standby`, PostgreSQL has a standby.
    pub(super) fn start(folder: &Path, has_standby: bool) -> Self {
        let (front, objects) = (Machine::connect(2), Objects::start(folder));
        let postgres = Postgres::start(folder, has_standby);
        let mut variables = objects.settings();
        variables.extend([
            ("LYCEUM_STORE__DATABASE", postgres.url()),
            ("LYCEUM_SERVER__LOG_LEVEL", "warn".to_owned()),
            ("LYCEUM_SERVER__ENV", "staging".to_owned()),
            ("LYCEUM_KEYS__MASTER", "5a".repeat(32)),
            ("LYCEUM_ADMIN__EMAIL", EMAIL.to_owned()),
            ("LYCEUM_ADMIN__PASSWORD", PASSWORD.to_owned()),
            ("LYCEUM_SERVER__PUBLIC_URL", format!("http://{}:{PORT}", front.address)),
            ("LYCEUM_SERVER__TRUSTED_PROXIES", front.address.to_string()),
        ]);
        let servers = NAMES.into_iter().zip(21..);
        let servers = servers
            .map(|(name, number)| Server::new(name, Machine::connect(number), folder, &variables));
        let mut servers: Vec<Server> = servers.collect();
        let haproxy = start_haproxy(&front, folder, &servers);
        servers.iter_mut().for_each(Server::start);
        servers.iter_mut().for_each(Server::wait_until_ready);
        let folder = folder.to_owned();
        let cluster = Self { postgres, objects, servers, haproxy, front, folder };
        cluster.wait_until_balanced();
        cluster
    }

    /// The address for clients.
    pub(super) fn base(&self) -> String {
        format!("http://{}:{PORT}", self.front.address)
    }

    /// Waits until `HAProxy` sends requests to all servers.
    pub(super) fn wait_until_balanced(&self) {
        let since = Instant::now();
        let statistics = TestClient::waiting(self.base(), Duration::from_secs(2));
        loop {
            let found = statistics.get("/haproxy;csv").try_send().map(|found| found.text());
            let up = |text: &String| {
                NAMES.iter().all(|name| {
                    text.lines().any(|line| {
                        line.starts_with(&format!("lyceum,{name},")) && line.contains(",UP,")
                    })
                })
            };
            if found.as_ref().is_ok_and(up) {
                return;
            }
            let logs = || self.servers.iter().map(Server::log).collect::<Vec<_>>().join("\n");
            assert!(since.elapsed() < PATIENCE, "{found:?}\n{}", logs());
            sleep(Duration::from_millis(100));
        }
    }

    /// The place of the server that holds the project.
    pub(super) fn holder(&self) -> usize {
        let listed = self.servers[0].run(&["admin", "project", "list", "--json"]);
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let listed = listed.as_array().unwrap();
        let project = listed.iter().find(|project| project["slug"] == RIVERS).unwrap();
        let name = project["node"]["name"].as_str().unwrap();
        NAMES.iter().position(|one| *one == name).unwrap()
    }

    /// Registers a client that may do everything.
    pub(super) fn client(&self) -> Key {
        let create = ["client", "create", "chaos", "--dialect", "platform", "--json"];
        let created: Value = serde_json::from_str(&self.servers[0].run(&create)).unwrap();
        let text = |name: &str| created[name].as_str().unwrap().to_owned();
        Key { id: text("id"), secret: text("secret") }
    }

    pub(super) fn kill_haproxy(&mut self) {
        self.haproxy.kill().unwrap();
        self.haproxy.wait().unwrap();
    }

    pub(super) fn start_haproxy(&mut self) {
        self.haproxy = start_haproxy(&self.front, &self.folder, &self.servers);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.haproxy.kill();
        let _ = self.haproxy.wait();
    }
}

fn start_haproxy(front: &Machine, folder: &Path, servers: &[Server]) -> Child {
    let lines = servers.iter().map(|server| {
        format!("    server {} {}:{PORT} check\n", server.name, server.machine.address)
    });
    // As in the guide for operators, except for the small size.
    let config = format!(
        "defaults\n    mode http\n    option redispatch\n    timeout connect 2s\n    timeout client 60s\n    \
         timeout server 60s\nlisten lyceum\n    bind :{PORT}\n    stats uri /haproxy\n    \
         balance roundrobin\n    option forwardfor\n    option httpchk GET /ready\n    \
         http-check expect status 200\n    default-server inter {} fall 2 rise 2\n{}",
        if full_size() { "2s" } else { "500ms" },
        lines.collect::<String>()
    );
    let file = folder.join("haproxy.cfg");
    fs::write(&file, config).unwrap();
    let log = File::create(folder.join("haproxy.log")).unwrap();
    let mut haproxy = front.command("haproxy");
    haproxy.args(["-db", "-f"]).arg(file).stdout(log.try_clone().unwrap()).stderr(log);
    haproxy.spawn().unwrap()
}

impl Server {
    fn new(
        name: &'static str,
        machine: Machine,
        folder: &Path,
        variables: &[(&'static str, String)],
    ) -> Self {
        let (disk, image) = (folder.join(name), folder.join(format!("{name}.image")));
        fs::create_dir(&disk).unwrap();
        run(&format!("truncate -s {DISK_MIB}M {0} && mkfs.ext4 -q {0}", image.display()));
        let clock = Clock::new(&folder.join(format!("{name}.clock")));
        let mut variables = variables.to_vec();
        variables.extend([
            ("LYCEUM_SERVER__NODE_NAME", name.to_owned()),
            ("LYCEUM_SERVER__LISTEN", format!("{}:{PORT}", machine.address)),
            ("LYCEUM_STORE__DATA", disk.join("data").display().to_string()),
        ]);
        let log = folder.join(format!("{name}.log"));
        let server = Self { name, machine, clock, disk, variables, log, process: None };
        server.mount();
        server
    }

    fn image(&self) -> PathBuf {
        self.disk.with_extension("image")
    }

    /// Mounts the disk, after repairs.
    fn mount(&self) {
        let (image, disk) = (self.image(), self.disk.display());
        // The status 1 says that errors were corrected.
        run(&format!("e2fsck -y {image} || test $? = 1", image = image.display()));
        run(&format!("mount -o loop,errors=remount-ro {} {disk}", image.display()));
    }

    /// Lets the disk fail, so that the kernel takes no writes to it any more.
    pub(super) fn break_disk(&self) {
        run(&format!(
            "echo 1 >/sys/fs/ext4/$(basename $(findmnt -no SOURCE {}))/trigger_fs_error",
            self.disk.display()
        ));
    }

    /// Replaces a disk that takes no writes: the server ends, the disk is repaired.
    pub(super) fn repair_disk(&mut self) {
        self.kill();
        // Backends end a moment after their server.
        run(&format!(
            "for i in $(seq 100); do umount {} && exit; sleep 0.1; done; exit 1",
            self.disk.display()
        ));
        self.mount();
    }

    /// Takes all the room on the disk.
    pub(super) fn fill_disk(&self) {
        let filler = self.disk.join("filler");
        let _ = Command::new("dd")
            .args(["if=/dev/zero", "bs=64k", "status=none"])
            .arg(format!("of={}", filler.display()))
            .stderr(Stdio::null())
            .status();
    }

    /// Gives the room back.
    pub(super) fn empty_disk(&self) {
        fs::remove_file(self.disk.join("filler")).unwrap();
    }

    /// The address of this server alone.
    pub(super) fn base(&self) -> String {
        format!("http://{}:{PORT}", self.machine.address)
    }

    pub(super) fn start(&mut self) {
        let log = File::options().create(true).append(true).open(&self.log).unwrap();
        let mut command = self.machine.command("env");
        command.args(self.clock.variables()).arg(binary()).arg("serve");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdout(log.try_clone().unwrap()).stderr(log);
        self.process = Some(command.spawn().unwrap());
    }

    /// Waits until the server takes requests.
    pub(super) fn wait_until_ready(&mut self) {
        let since = Instant::now();
        let client = TestClient::waiting(self.base(), Duration::from_secs(2));
        while !client.get("/ready").try_send().is_ok_and(|reply| reply.status == 200) {
            let is_over = self.has_ended() || since.elapsed() > PATIENCE;
            assert!(!is_over, "{}:\n{}", self.name, self.log());
            sleep(Duration::from_millis(50));
        }
    }

    pub(super) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Ends the server as an operator does.
    pub(super) fn stop(&mut self) {
        let mut process = self.process.take().unwrap();
        kill_process(Pid::from_child(&process), Signal::TERM).unwrap();
        assert!(wait(&mut process, PATIENCE).is_some(), "{} stops:\n{}", self.name, self.log());
    }

    /// Whether the process ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| process.try_wait().unwrap().is_some())
    }

    /// Sends a signal to the server and its backends, as a machine that is suspended or goes on.
    pub(super) fn signal(&self, signal: Signal) {
        let process = self.process.as_ref().unwrap();
        for one in workers_of(process).into_iter().chain([Pid::from_child(process)]) {
            let _ = kill_process(one, signal);
        }
    }

    /// Kills the backends of this server.
    pub(super) fn kill_workers(&self) -> usize {
        let workers = workers_of(self.process.as_ref().unwrap());
        for worker in &workers {
            let _ = kill_process(*worker, Signal::KILL);
        }
        workers.len()
    }

    /// Runs another command of the program; its output.
    pub(super) fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "lyceum {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.machine.command(binary());
        command.args(arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The last lines of the log.
    pub(super) fn log(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let _ = Command::new("umount").arg("-l").arg(&self.disk).status();
    }
}

/// The backends of a server.
fn workers_of(server: &Child) -> Vec<Pid> {
    let stats = fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|one| fs::read_to_string(one.path().join("stat")).ok());
    let workers = stats.filter_map(|stat| {
        let (front, rest) = stat.rsplit_once(") ")?;
        let (id, name) = front.split_once(" (")?;
        let parent = rest.split(' ').nth(1)?;
        let is_own = name.starts_with("workerd") && parent == server.id().to_string();
        is_own.then(|| Pid::from_raw(id.parse().ok()?)).flatten()
    });
    workers.collect()
}
