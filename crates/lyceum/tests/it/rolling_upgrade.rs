//! Three servers of the previous release behind `HAProxy` are replaced by this one, one after the other, while clients write
//! and read. No request fails.

use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use lyceum_store::StoreLocation;
use lyceum_testkit::{free_port, fresh_database, full_size};
use lyceum_testserver::client::TestClient;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::http::Http;
use crate::served::{Key, binary, variable, wait};

const SERVERS: [&str; 3] = ["oak", "elm", "fir"];
const ORGS: &str = "/ims/oneroster/rostering/v1p2/orgs";
/// The time in which a server starts, stops or is seen by `HAProxy`.
const PATIENCE: Duration = Duration::from_mins(1);

/// Three servers of one database, and `HAProxy` before them.
struct Cluster {
    folder: PathBuf,
    database: String,
    ports: [u16; 3],
    /// The port of `HAProxy`.
    port: u16,
    servers: Vec<Child>,
    haproxy: Child,
}

impl Cluster {
    fn start(folder: &Path, program: &Path) -> Self {
        let StoreLocation::Postgres(database) = fresh_database(&[]) else { unreachable!() };
        let (ports, port) = (SERVERS.map(|_| free_port()), free_port());
        let servers = SERVERS.iter().zip(ports);
        let servers: Vec<String> = servers
            .map(|(name, port)| format!("    server {name} 127.0.0.1:{port} check"))
            .collect();
        let servers = servers.join("\n");
        // As in the guide for operators, with shorter times.
        let config = format!(
            "defaults\n    mode http\n    option redispatch\n    timeout connect 2s\n    timeout client 60s\n    \
             timeout server 60s\nlisten lyceum\n    bind 127.0.0.1:{port}\n    stats uri /haproxy\n    \
             balance roundrobin\n    option httpchk GET /ready\n    http-check expect status 200\n    \
             default-server inter 500ms fall 2 rise 2\n{servers}\n"
        );
        fs::write(folder.join("haproxy.cfg"), config).unwrap();
        let mut haproxy = Command::new("haproxy");
        haproxy.args(["-db", "-f"]).arg(folder.join("haproxy.cfg"));
        let log = File::create(folder.join("haproxy.log")).unwrap();
        haproxy.stdout(log.try_clone().unwrap()).stderr(log);
        let haproxy = haproxy.spawn().expect("the package 'haproxy' is installed");
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = || fs::read_to_string(folder.join("haproxy.log")).unwrap();
            assert!(since.elapsed() < PATIENCE, "{}", log());
            sleep(Duration::from_millis(20));
        }
        let folder = folder.to_owned();
        let mut cluster = Self { folder, database, ports, port, servers: Vec::new(), haproxy };
        for at in 0..SERVERS.len() {
            let server = cluster.serve(at, program);
            cluster.servers.push(server);
            cluster.wait_until_used(at);
        }
        cluster
    }

    fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn command(&self, at: usize, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).arg("--data").arg(self.folder.join(SERVERS[at]));
        command.args(["--database", &self.database]);
        command.env("LYCEUM_KEYS__MASTER", "5a".repeat(32));
        command.env("LYCEUM_SERVER__NODE_NAME", SERVERS[at]);
        // More than the two failed checks of HAProxy.
        command.env("LYCEUM_SERVER__SHUTDOWN_NOTICE_MS", "2500");
        command
    }

    fn serve(&self, at: usize, program: &Path) -> Child {
        let listen = format!("127.0.0.1:{}", self.ports[at]);
        let serve = ["serve", "--listen", &listen, "--public-url", &self.base()];
        let log = File::options().create(true).append(true).open(self.log(at)).unwrap();
        let mut command = self.command(at, program, &serve);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        command.spawn().unwrap()
    }

    fn log(&self, at: usize) -> PathBuf {
        self.folder.join(format!("{}.log", SERVERS[at]))
    }

    /// Waits until `HAProxy` sends requests to a server.
    fn wait_until_used(&self, at: usize) {
        let since = Instant::now();
        let statistics = TestClient::new(self.base());
        let line = format!("lyceum,{},", SERVERS[at]);
        loop {
            let found = statistics.get("/haproxy;csv").expect(200).text();
            let own = found.lines().find(|found| found.starts_with(&line)).unwrap();
            if own.contains(",UP,") {
                return;
            }
            let log = || fs::read_to_string(self.log(at)).unwrap_or_default();
            assert!(since.elapsed() < PATIENCE, "{own}\n{}", log());
            sleep(Duration::from_millis(50));
        }
    }

    /// Replaces one server by one of another release.
    fn replace(&mut self, at: usize, program: &Path) {
        kill_process(Pid::from_child(&self.servers[at]), Signal::TERM).unwrap();
        let status = wait(&mut self.servers[at], PATIENCE).expect("the server ends when asked");
        assert!(status.success(), "{status}");
        self.servers[at] = self.serve(at, program);
        let since = Instant::now();
        let ready = format!("http://127.0.0.1:{}/ready", self.ports[at]);
        while !ureq::get(&ready).call().is_ok_and(|answer| answer.status() == 200) {
            assert!(since.elapsed() < PATIENCE, "{}", fs::read_to_string(self.log(at)).unwrap());
            sleep(Duration::from_millis(50));
        }
        self.wait_until_used(at);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in self.servers.iter_mut().chain([&mut self.haproxy]) {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[test]
#[ignore = "rest"]
fn a_rolling_upgrade_from_the_former_release_fails_no_request() {
    let Some(former) = variable("LYCEUM_TEST_PREVIOUS_BIN").map(PathBuf::from) else {
        assert!(!full_size(), "`cargo xtask soak` builds the previous release");
        eprintln!("skipped: LYCEUM_TEST_PREVIOUS_BIN names no program of the previous release");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::start(folder.path(), &former);
    let create = ["client", "create", "test", "--id", "test", "--json"];
    let created = cluster.command(0, &former, &create).output().unwrap();
    let created: Value = serde_json::from_slice(&created.stdout).unwrap();
    let key = Key {
        id: created["id"].as_str().unwrap().to_owned(),
        secret: created["secret"].as_str().unwrap().to_owned(),
    };
    let token = Http::sign_in(&cluster.base(), &key, None).token().to_owned();
    let (done, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    let base = cluster.base();
    scope(|scope| {
        for client in 0..4 {
            let (done, written, token, base) = (&done, &written, token.clone(), base.clone());
            scope.spawn(move || {
                let stop = StopOnPanic(done);
                let api = TestClient::new(base).with_token(token);
                for number in (0..).take_while(|_| !done.load(Relaxed)) {
                    let id = format!("org-{client}-{number}");
                    let org = json!({"org": {"sourcedId": id, "name": id, "type": "school"}});
                    api.post(ORGS).json(&org).expect(201);
                    api.get(&format!("{ORGS}/{id}")).expect(200);
                    api.get(&format!("{ORGS}?limit=20&offset={number}")).expect(200);
                    written.fetch_add(1, Relaxed);
                }
                drop(stop);
            });
        }
        let stop = StopOnPanic(&done);
        for at in 0..SERVERS.len() {
            let before = written.load(Relaxed);
            cluster.replace(at, &binary());
            assert!(written.load(Relaxed) > before && !done.load(Relaxed), "a request failed");
        }
        drop(stop);
    });
    let client = TestClient::new(cluster.base()).with_token(token);
    let all = client.get(&format!("{ORGS}?limit=1")).expect(200);
    let total = all.header("x-total-count").parse::<usize>().unwrap();
    assert_eq!(total, written.load(Relaxed));
}

/// Ends the traffic when its owner ends, also by a panic.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
