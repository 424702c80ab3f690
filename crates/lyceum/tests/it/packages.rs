//! The packages of `cargo xtask pack`, each installed on a bare Debian that has nothing but what the packages need.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testkit::client::TestClient;
use lyceum_testkit::{free_port, full_size};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::sandbox::Running;
use crate::served::{binary, target};
use crate::transcript::Place;

/// A newcomer downloads it before anything else.
const NPM_BYTES_MAX: u64 = 15_000_000;
const START_MAX: Duration = Duration::from_secs(30);

/// A root file system, below which commands run in process and mount namespaces of their own.
struct BareSystem {
    folder: TempDir,
}

impl BareSystem {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(target()).unwrap();
        run(Command::new("tar").args(["-xf"]).arg(debian()).arg("-C").arg(folder.path()));
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    /// A command inside, as root or as this user.
    fn command(&self, user: Option<&str>, line: &str) -> Command {
        let root = self.folder.path().display();
        let user = user.map(|user| format!("--userspec={user}:{user} ")).unwrap_or_default();
        inside(&format!("mount -t proc proc {root}/proc && exec chroot {user}{root} {line}"))
    }

    fn run(&self, line: &str) -> String {
        run(&mut self.command(None, line))
    }
}

/// A shell command that sees its own mounts and processes only, and ends with its parent.
fn inside(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]);
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command
}

/// A server in a bare system; it is killed with this value.
struct Server {
    process: Child,
    url: String,
    client: TestClient,
}

impl Server {
    fn start(mut command: Command, port: u16) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let process = command.spawn().unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let mut server = Self { process, client: TestClient::new(&url), url };
        let started = Instant::now();
        while !server.client.get("/health").try_send().is_ok_and(|answer| answer.status == 200) {
            if let Some(status) = server.process.try_wait().unwrap() {
                let mut log = String::new();
                server.process.stderr.take().unwrap().read_to_string(&mut log).unwrap();
                panic!("{status}: {log}");
            }
            assert!(started.elapsed() < START_MAX, "no answer within {START_MAX:?}");
            sleep(Duration::from_millis(100));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// A minimal Debian as a tarball, fetched once. `ca-certificates` is what the package depends on.
fn debian() -> PathBuf {
    let file = target().join("debian-minbase.tar");
    if !file.exists() {
        let folder = tempfile::tempdir_in(target()).unwrap();
        run(Command::new("debootstrap")
            .args(["--variant=minbase", "--include=ca-certificates", "bookworm"])
            .arg(folder.path()));
        let partial = file.with_extension("partial");
        run(Command::new("tar").arg("-cf").arg(&partial).arg("-C").arg(folder.path()).arg("."));
        fs::rename(partial, &file).unwrap();
    }
    file
}

/// Packs the program under test; answers the folder of the packages.
fn pack(formats: &[&str]) -> TempDir {
    let folder = tempfile::tempdir_in(target()).unwrap();
    let xtask = Path::new(env!("CARGO_BIN_EXE_lyceum")).with_file_name("xtask");
    run(Command::new(xtask)
        .arg("pack")
        .args(formats)
        .arg("--program")
        .arg(binary())
        .arg("--out")
        .arg(folder.path()));
    folder
}

/// The only file of the folder with this ending.
fn package(folder: &TempDir, ending: &str) -> PathBuf {
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut found = entries.filter(|path| path.to_string_lossy().ends_with(ending));
    let package = found.next().unwrap_or_else(|| panic!("no package ends with {ending}"));
    assert_eq!(found.next(), None);
    package
}

/// These tests change the owners of files and mount folders.
fn without_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: only root may install packages on a root file system");
    }
    !is_root
}

#[test]
fn every_package_runs_on_a_bare_system() {
    if without_root() {
        return;
    }
    let packages = pack(&["tarball", "deb", "container"]);
    release_tarball(&package(&packages, ".tar.gz"));
    debian_package(&package(&packages, ".deb"));
    container(&packages.path().join("container"));
}

#[test]
fn the_npm_package_of_the_program_is_small() {
    if !full_size() {
        println!("skipped: only the release build, which the soak tests, is small");
        return;
    }
    let packages = pack(&["npm"]);
    let npm = fs::read_dir(packages.path().join("npm")).unwrap().map(|entry| entry.unwrap());
    let program = npm.filter(|entry| entry.file_name().to_string_lossy().contains("-cli-"));
    let sizes: Vec<u64> = program.map(|entry| entry.metadata().unwrap().len()).collect();
    assert!(matches!(sizes[..], [size] if size < NPM_BYTES_MAX), "{sizes:?} bytes");
}

fn release_tarball(tarball: &Path) {
    let system = BareSystem::new();
    run(Command::new("tar").arg("-xf").arg(tarball).arg("-C").arg(system.path("/opt")));
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

    let findings = system.run(&format!("{folder}/bin/lyceum doctor --json --data /srv/lyceum"));
    let findings: Value = serde_json::from_str(&findings).unwrap();
    let runtime =
        findings.as_array().unwrap().iter().find(|one| one["check"] == "runtime").unwrap();
    assert_eq!(runtime["state"], "ok", "{runtime}");
    let port = free_port();
    let line = format!("{folder}/bin/lyceum serve --data /srv/lyceum --listen 127.0.0.1:{port}");
    drop(Server::start(system.command(None, &line), port));
}

fn debian_package(deb: &Path) {
    let system = BareSystem::new();
    fs::copy(deb, system.path("/lyceum.deb")).unwrap();
    system.run("dpkg --install /lyceum.deb");
    let unit = fs::read_to_string(system.path("/usr/lib/systemd/system/lyceum.service")).unwrap();
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let port = free_port();
    let mut command = system.command(Some("lyceum"), start);
    command.env("LYCEUM_SERVER__LISTEN", format!("127.0.0.1:{port}"));
    drop(Server::start(command, port));
    let data = system.path("/var/lib/lyceum");
    let is_there = |path: &str| system.path(path).exists();
    assert!(data.join("master.key").exists());

    system.run("dpkg --remove lyceum");
    assert!(!is_there("/usr/bin/lyceum") && !is_there("/usr/lib/lyceum/workerd"));
    assert!(is_there("/etc/lyceum/lyceum.toml"), "settings stay until the purge");
    system.run("dpkg --purge lyceum");
    assert!(!is_there("/etc/lyceum/lyceum.toml"));
    assert!(data.join("master.key").exists(), "only a person may delete data");
}

/// Builds the image with buildah and runs it as its own user on a read-only root.
fn container(context: &Path) {
    let storage = tempfile::tempdir_in(target()).unwrap();
    let buildah = |arguments: &[&str]| {
        let mut command = Command::new("buildah");
        command.arg("--root").arg(storage.path().join("root"));
        command.arg("--runroot").arg(storage.path().join("run"));
        command.args(["--storage-driver", "vfs"]).env("BUILDAH_ISOLATION", "chroot");
        run(command.args(arguments)).trim().to_owned()
    };
    let base = buildah(&["from", "scratch"]);
    buildah(&["add", &base, debian().to_str().unwrap(), "/"]);
    buildah(&["commit", "--quiet", &base, "localhost/debian"]);
    let (context, base) = (context.to_str().unwrap(), "BASE=localhost/debian");
    buildah(&["bud", "--quiet", "--pull-never", "--build-arg", base, "--tag", "lyceum", context]);
    let container = buildah(&["from", "--pull-never", "localhost/lyceum"]);
    let container_facts: Value = serde_json::from_str(&buildah(&["inspect", &container])).unwrap();
    let image = &container_facts["OCIv1"]["config"];
    assert_eq!(image["User"], "970");

    let root = buildah(&["mount", &container]);
    let words =
        |member: &str| -> Vec<String> { serde_json::from_value(image[member].clone()).unwrap() };
    let (port, data) = (free_port(), tempfile::tempdir_in(target()).unwrap());
    let mut command = inside(&format!(
        "mount --bind {root} {root} && mount --bind {data} {root}/var/lib/lyceum && \
         chown 970:970 {root}/var/lib/lyceum && mount -t proc proc {root}/proc && \
         mount -o remount,bind,ro {root} && \
         exec chroot --userspec=970:970 {root} {} {}",
        words("Entrypoint").join(" "),
        words("Cmd").join(" "),
        data = data.path().display(),
    ));
    let variables = words("Env");
    command.envs(variables.iter().filter_map(|variable| variable.split_once('=')));
    command.env("LYCEUM_SERVER__LISTEN", format!("127.0.0.1:{port}"));
    let server = Server::start(command, port);
    learn_through_a_sandbox(&server, data.path());
    drop(server);
    buildah(&["rm", &container]);
}

/// A sandbox for app developers keeps its students' progress on the server in the container.
fn learn_through_a_sandbox(server: &Server, data: &Path) {
    let place = Place::new().running(binary());
    let data = data.display();
    place.ok(&format!(
        "client create Sandbox --data {data} --id sandbox --secret sandbox-secret-1234"
    ));
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
    assert_eq!(sandbox.told["learning"], "local");
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
