//! The packages of `cargo xtask pack`, each installed on a bare Debian that has nothing but what the packages need.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testkit::{free_port, full_size};
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::sandbox::Running;
use crate::served::{binary, root, target};
use crate::transcript::Place;
use crate::walkthrough::blocks;

const START_MAX: Duration = Duration::from_secs(30);

/// A root file system, below which commands run in process and mount namespaces of their own.
struct BareSystem {
    folder: TempDir,
}

impl BareSystem {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(target()).unwrap();
        run(Command::new("tar").args(["-xf"]).arg(debian(&[])).arg("-C").arg(folder.path()));
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    /// A command inside, as root.
    fn command(&self, line: &str) -> Command {
        let root = self.folder.path().display();
        inside(&format!("mount -t proc proc {root}/proc && chroot {root} {line} || exit $?"))
    }

    fn run(&self, line: &str) -> String {
        run(&mut self.command(line))
    }

    /// Runs lines of a shell in the root folder.
    fn run_script(&self, lines: &str) -> String {
        fs::write(self.path("/script"), lines).unwrap();
        self.run("sh -eu /script")
    }
}

/// The commands of the operators' guide for this kind of package.
fn guide(kind: &str) -> String {
    let text = fs::read_to_string(root().join("docs/guides/operators.md")).unwrap();
    let blocks = blocks(&text);
    let texts =
        blocks.iter().filter(|block| block.info == format!("sh {kind}")).map(|block| &*block.text);
    let script: String = texts.collect();
    assert!(!script.is_empty(), "the guide has no block 'sh {kind}'");
    script
}

/// A shell command that sees its own mounts and processes only, and ends with its parent.
fn inside(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    command
}

/// A server in a bare system or a container. A process of this test is killed with this value.
struct Server {
    process: Option<Child>,
    url: String,
    client: TestClient,
}

impl Server {
    /// Starts the server that listens on this port.
    fn start(mut command: Command, port: u16) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Self::new(Some(command.spawn().unwrap()), &port.to_string())
    }

    /// The server that was started elsewhere.
    fn at(port: &str) -> Self {
        Self::new(None, port)
    }

    fn new(process: Option<Child>, port: &str) -> Self {
        let url = format!("http://127.0.0.1:{port}");
        let mut server = Self { process, client: TestClient::new(&url), url };
        let started = Instant::now();
        while !server.client.get("/health").try_send().is_ok_and(|answer| answer.status == 200) {
            server.panic_if_ended();
            assert!(started.elapsed() < START_MAX, "no answer within {START_MAX:?}");
            sleep(Duration::from_millis(100));
        }
        server
    }

    fn panic_if_ended(&mut self) {
        let Some(process) = &mut self.process else { return };
        if let Some(status) = process.try_wait().unwrap() {
            let mut log = String::new();
            process.stderr.take().unwrap().read_to_string(&mut log).unwrap();
            panic!("{status}: {log}");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// A minimal Debian as a tarball, fetched by the first test that needs it, with `ca-certificates`, on which the package
/// depends, systemd and these packages.
pub(crate) fn debian(packages: &[&str]) -> PathBuf {
    let name = ["debian-minbase"].iter().chain(packages).copied().collect::<Vec<_>>().join("-");
    let file = target().join(format!("{name}.tar"));
    // Tests are processes of their own, several at a time.
    let lock = fs::File::create(target().join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    if !file.exists() {
        let folder = tempfile::tempdir_in(target()).unwrap();
        let packages = [&["ca-certificates", "systemd"], packages].concat().join(",");
        run(Command::new("debootstrap")
            .args(["--variant=minbase", &format!("--include={packages}"), "bookworm"])
            .arg(folder.path()));
        let partial = file.with_extension("partial");
        run(Command::new("tar").arg("-cf").arg(&partial).arg("-C").arg(folder.path()).arg("."));
        fs::rename(partial, &file).unwrap();
    }
    file
}

/// Packs the program under test; answers the folder of the packages.
pub(crate) fn pack(formats: &[&str]) -> TempDir {
    pack_program(&binary(), formats)
}

/// Packs a program; answers the folder of the packages. In small size, they differ in their compression only.
pub(crate) fn pack_program(program: &Path, formats: &[&str]) -> TempDir {
    let folder = tempfile::tempdir_in(target()).unwrap();
    let quick = (!full_size()).then_some("--quick");
    run(xtask_pack(formats, folder.path()).arg("--program").arg(program).args(quick));
    folder
}

/// `cargo xtask pack` into a folder.
fn xtask_pack(formats: &[&str], folder: &Path) -> Command {
    let xtask = Path::new(env!("CARGO_BIN_EXE_lyceum")).with_file_name("xtask");
    let mut command = Command::new(xtask);
    command.arg("pack").args(formats).arg("--out").arg(folder);
    command
}

/// The only file of the folder with this ending.
pub(crate) fn package(folder: &TempDir, ending: &str) -> PathBuf {
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut found = entries.filter(|path| path.to_string_lossy().ends_with(ending));
    let package = found.next().unwrap_or_else(|| panic!("no package ends with {ending}"));
    assert_eq!(found.next(), None);
    package
}

/// These tests change the owners of files and mount folders.
pub(crate) fn without_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: only root may install packages on a root file system");
    }
    !is_root
}

#[test]
#[ignore = "rest"]
fn the_npm_package_of_the_program_is_small() {
    if !full_size() {
        println!("skipped: only the soak has the release build, which is small");
        return;
    }
    let folder = tempfile::tempdir_in(target()).unwrap();
    let printed = run(&mut xtask_pack(&["npm"], folder.path()));
    assert!(printed.contains("the npm package of the program has "), "{printed}");
}

#[test]
#[ignore = "rest"]
fn the_release_tarball_runs_on_a_bare_system() {
    if without_root() {
        return;
    }
    let packages = pack(&["tarball"]);
    let tarball = package(&packages, ".tar.gz");
    let system = BareSystem::new();
    fs::copy(&tarball, system.path("/").join(tarball.file_name().unwrap())).unwrap();
    system.run_script(&guide("tarball"));
    let folder = fs::read_dir(system.path("/opt")).unwrap().next().unwrap().unwrap().file_name();
    let folder = format!("/opt/{}", folder.to_str().unwrap());
    for file in [
        "etc/lyceum/lyceum.toml",
        "lib/systemd/system/lyceum.service",
        "share/bash-completion/completions/lyceum",
        "share/man/man1/lyceum-serve.1",
        "share/doc/lyceum/LICENSE-MIT",
    ] {
        assert!(system.path(&folder).join(file).is_file(), "{file}");
    }
    let licences =
        fs::read_to_string(system.path(&folder).join("share/doc/lyceum/THIRD-PARTY-LICENSES.txt"));
    let licences = licences.unwrap();
    for name in ["tokio 1.", "rusqlite 0.", "swagger-ui-dist 5.", "workerd 1."] {
        assert!(licences.contains(name), "{name}");
    }
    assert!(!licences.contains("proptest 1."), "only tests use it");

    let findings = system.run("lyceum doctor --json --data /srv/lyceum");
    let findings: Value = serde_json::from_str(&findings).unwrap();
    let runtime =
        findings.as_array().unwrap().iter().find(|one| one["check"] == "runtime").unwrap();
    assert_eq!(runtime["state"], "ok", "{runtime}");
    let port = free_port();
    let line = format!("lyceum serve --data /srv/lyceum --listen 127.0.0.1:{port}");
    drop(Server::start(system.command(&line), port));
}

/// Builds the image and runs it as the guide says: as its own user, on a read-only root.
#[test]
#[ignore = "rest"]
fn the_container_runs() {
    if without_root() {
        return;
    }
    let packages = pack(&["container"]);
    let packages = packages.path();
    let storage = tempfile::tempdir_in(target()).unwrap();
    let port = free_port().to_string();
    let podman = Podman::new(storage.path());
    podman.run(&["import", debian(&[]).to_str().unwrap(), "debian:bookworm-slim"]);
    let file = packages.join("container/Containerfile");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("4321", &port)).unwrap();

    let script = guide("container").replace("4321", &port);
    run(podman.command("sh").args(["-euc", &script]).current_dir(packages));
    let server = Server::at(&port);
    learn_through_a_sandbox(&server, &|line| podman.run(&["exec", "lyceum", "sh", "-c", line]));
    let facts: Value = serde_json::from_str(&podman.run(&["inspect", "lyceum"])).unwrap();
    assert_eq!(facts[0]["Config"]["User"], "970");
    assert_eq!(facts[0]["HostConfig"]["ReadonlyRootfs"], true);
    podman.run(&["stop", "lyceum"]);
    podman.run(&["rm", "lyceum"]);
}

/// Podman with images, containers and volumes of its own, on the network of this machine, and without the limits that
/// a machine may forbid to set.
struct Podman<'a> {
    folder: &'a Path,
}

impl<'a> Podman<'a> {
    fn new(folder: &'a Path) -> Self {
        let shown = folder.display();
        let storage = format!(
            "[storage]\ndriver = \"vfs\"\ngraphroot = \"{shown}/images\"\nrunroot = \"{shown}/run\"\n"
        );
        fs::write(folder.join("storage.conf"), storage).unwrap();
        let containers = format!(
            "[containers]\nnetns = \"host\"\ndefault_ulimits = [\"nofile=1024:4096\", \"nproc=4096:4096\"]\n\
             [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n\
             tmp_dir = \"{shown}/tmp\"\nvolume_path = \"{shown}/volumes\"\n"
        );
        fs::write(folder.join("containers.conf"), containers).unwrap();
        Self { folder }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("CONTAINERS_STORAGE_CONF", self.folder.join("storage.conf"))
            .env("CONTAINERS_CONF", self.folder.join("containers.conf"))
            .env("BUILDAH_ISOLATION", "chroot")
            // One copy of the root instead of one for each step.
            .env("BUILDAH_LAYERS", "false");
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        run(self.command("podman").args(arguments))
    }
}

/// A sandbox for app developers keeps its students' progress on the server in the container.
fn learn_through_a_sandbox(server: &Server, run_there: &dyn Fn(&str) -> String) {
    run_there("lyceum client create Sandbox --id sandbox --secret sandbox-secret-1234");
    let place = Place::new().running(binary());
    place.write(
        "lyceum.config.json",
        r#"{"name": "Rivers", "integrations": {"lms": {"courses": [
            {"subject": "Math", "grade": 4, "totalXp": 500}]}}}"#,
    );
    let place = place
        .with("TRACKING_API_CLIENT_ID", "sandbox")
        .with("TRACKING_API_CLIENT_SECRET", "sandbox-secret-1234");
    let flags = format!("--memory --tracking-local --tracking-oneroster-url {}", server.url);
    let sandbox = Running::start(&place, &flags);
    assert_eq!(sandbox.printed["learning"], "local");
    let setup = json!({"gameId": "rivers", "courses": [
        {"subject": "Math", "grade": 4, "totalXp": 500}]});
    sandbox.client().post("/api/lms/setup").json(&setup).expect(200);
    let ended = json!({
        "activityData": {"activityId": "fractions-1", "subject": "Math", "grade": 4},
        "scoreData": {"correctQuestions": 10, "totalQuestions": 10},
        "timingData": {"durationSeconds": 600},
    });
    let client = sandbox.client();
    let call = client.post("/api/lms/end-activity").header("idempotency-key", "one");
    call.json(&ended).expect(200);
    let total = sandbox.get("/api/lms/xp/total");
    assert!(total["totalXp"].as_f64().is_some_and(|xp| xp > 0.0), "{total}");
}
