//! A day of an operator: machines with systemd run the commands of the operators' guide, from the installation of the
//! package to the loss of a server, while clients write. No acknowledged write is lost.
//!
//! The commands are the blocks `sh debian STEP` of the guide; each test says where it runs which of them. In small size the
//! day ends with the renewed certificate.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use lyceum_testkit::client::TestClient;
use lyceum_testkit::full_size;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::deploy;
use crate::hosted::Moto;
use crate::machines::{Machine, Network};
use crate::packages::{pack, pack_program, package, run, without_root};
use crate::served::{binary, root, variable};
use crate::transcript::Place;
use crate::walkthrough::blocks;
use crate::whole_project;

/// What the guide's commands need besides the package and systemd.
const PROGRAMS: [&str; 3] = ["curl", "haproxy", "postgresql"];
const PATIENCE: Duration = Duration::from_mins(1);
/// The time until another server answers for one that is lost: the guide promises 15 s, after which the load balancer has to
/// notice it, too.
const TAKEN_MAX: Duration = Duration::from_secs(20);
/// Writes to a project that were acknowledged within this time before its server was lost may be missing.
const REPLICATED_WITHIN: Duration = Duration::from_secs(2);
const ORGS: &str = "/ims/oneroster/rostering/v1p2/orgs";
const SCORES: &str = "/_projects/word-rivers/api/scores";
const LIVE: &str = "/etc/letsencrypt/live/lyceum.example.org";

/// The guide's steps, and how long each took.
struct Guide {
    steps: BTreeMap<String, String>,
    since: Instant,
}

impl Guide {
    fn read() -> Self {
        let text = fs::read_to_string(root().join("docs/guides/operators.md")).unwrap();
        let step = |info: &str| info.strip_prefix("sh debian ").map(str::to_owned);
        let blocks = blocks(&text).into_iter();
        let named: Vec<_> =
            blocks.filter_map(|block| Some((step(block.info)?, block.text))).collect();
        let count = named.len();
        let steps: BTreeMap<String, String> = named.into_iter().collect();
        assert_eq!(steps.len(), count, "two blocks of the guide have the same name");
        Self { steps, since: Instant::now() }
    }

    /// Runs a step on a machine; what it printed.
    fn take(&self, machine: &Machine, step: &str) -> String {
        self.take_with(machine, step, |text| text.to_owned())
    }

    /// Runs a step with values of the machine in place of those in the guide.
    fn take_with(
        &self,
        machine: &Machine,
        step: &str,
        edit: impl FnOnce(&str) -> String,
    ) -> String {
        let text = self.steps.get(step).unwrap_or_else(|| panic!("the guide has no '{step}'"));
        let since = Instant::now();
        let printed = machine.run(&edit(text));
        self.note(&format!("{}: {step} took {:.1} s", machine.name, since.elapsed().as_secs_f64()));
        printed
    }

    /// A line of the transcript.
    fn note(&self, line: &str) {
        println!("{:6.1} s  {line}", self.since.elapsed().as_secs_f64());
    }
}

#[test]
fn the_steps_of_the_guide_parse_and_each_one_is_run() {
    let day = include_str!("operators_day.rs");
    for (step, text) in Guide::read().steps {
        assert!(day.contains(&format!(", \"{step}\"")), "no test runs the guide's step '{step}'");
        run(Command::new("bash").args(["-n", "-c", &text]));
    }
}

/// A certificate authority of the school.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(parameters, key), certificate }
    }

    /// Lets a machine have a certificate that is valid until the end of this year, where Certbot puts it.
    fn certify(&self, machine: &Machine, until: i32) {
        let names = ["lyceum.example.org", machine.address].map(str::to_owned);
        let mut parameters = CertificateParams::new(names).unwrap();
        parameters.not_after = date_time_ymd(until, 12, 31);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap().pem();
        let live = machine.path(LIVE);
        fs::create_dir_all(&live).unwrap();
        fs::write(live.join("fullchain.pem"), certificate + &self.certificate).unwrap();
        fs::write(live.join("privkey.pem"), key.serialize_pem()).unwrap();
    }

    /// Lets a machine trust the authority and find the server's name at an address.
    fn introduce(&self, machine: &Machine, address: &str) {
        let file = machine.path("/usr/local/share/ca-certificates/school.crt");
        fs::write(file, &self.certificate).unwrap();
        machine.run(&format!(
            "update-ca-certificates; echo {address} lyceum.example.org >> /etc/hosts"
        ));
    }

    fn client(&self, machine: &Machine) -> TestClient {
        let url = format!("https://{}", machine.address);
        TestClient::trusting(url, self.certificate.as_bytes())
    }
}

/// A client of the API, which is registered on a machine.
fn sign_in(machine: &Machine, client: &TestClient) -> TestClient {
    machine.run(
        "set -a; [ ! -e /etc/lyceum/environment ] || . /etc/lyceum/environment; set +a\n\
         runuser -u lyceum -- lyceum client create day --id day --secret not-a-real-one \
         --config /etc/lyceum/lyceum.toml",
    );
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", "day"),
        ("client_secret", "not-a-real-one"),
    ];
    let answer: Value = client.post("/oauth2/token").form(&form).expect(200).json();
    client.clone().with_token(answer["access_token"].as_str().unwrap())
}

/// Creates records one after the other until it is stopped, and notes which of them were acknowledged when.
struct Writer {
    path: &'static str,
    client: TestClient,
    acknowledged: Mutex<Vec<(String, Instant)>>,
    refusals: Mutex<Vec<(u16, String)>>,
    is_done: AtomicBool,
}

impl Writer {
    fn new(path: &'static str, client: TestClient) -> Self {
        let (acknowledged, refusals) = (Mutex::default(), Mutex::default());
        Self { path, client, acknowledged, refusals, is_done: AtomicBool::new(false) }
    }

    fn work(&self) {
        for id in
            (0..).map(|number| format!("day-{number}")).take_while(|_| !self.is_done.load(Relaxed))
        {
            let record = match self.path {
                ORGS => json!({"org": {"sourcedId": id, "name": id, "type": "school"}}),
                _ => json!({"player": id, "points": 1}),
            };
            match self.client.post(self.path).json(&record).try_send() {
                Ok(reply) if reply.status == 201 => {
                    self.acknowledged.lock().unwrap().push((id, Instant::now()));
                    sleep(Duration::from_millis(20));
                }
                Ok(reply) => {
                    self.refusals.lock().unwrap().push((reply.status, reply.text()));
                    sleep(Duration::from_millis(100));
                }
                // The server restarts.
                Err(_) => sleep(Duration::from_millis(100)),
            }
        }
    }

    /// The records that were acknowledged before an instant.
    fn acknowledged(&self, before: Instant) -> Vec<String> {
        let all = self.acknowledged.lock().unwrap();
        all.iter().filter(|(_, at)| *at < before).map(|(id, _)| id.clone()).collect()
    }

    /// Waits until one more record is acknowledged; how long that took.
    fn wait(&self, at_most: Duration) -> Duration {
        let (since, before) = (Instant::now(), self.acknowledged.lock().unwrap().len());
        // One may be on its way.
        while self.acknowledged.lock().unwrap().len() < before + 2 {
            let refusals = || format!("{:?}", self.refusals.lock().unwrap().last());
            assert!(since.elapsed() < at_most, "nothing is acknowledged: {}", refusals());
            sleep(Duration::from_millis(20));
        }
        since.elapsed()
    }

    /// Checks that the records are there.
    fn expect_in(&self, client: &TestClient, expected: &[String]) {
        if self.path != ORGS {
            let found = client.get(self.path).expect(200).text();
            let is_missing = |id: &&String| !found.contains(&format!("\"{id}\""));
            let missing: Vec<_> = expected.iter().filter(is_missing).collect();
            assert!(missing.is_empty(), "{missing:?} of {} are missing", expected.len());
        }
        for id in expected.iter().filter(|_| self.path == ORGS) {
            client.get(&format!("{}/{id}", self.path)).expect(200);
        }
    }
}

/// Ends writers, also if the test panics.
struct Stop<'a>(&'a [&'a Writer]);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|writer| writer.is_done.store(true, Relaxed));
    }
}

/// The Debian package of a program in a folder of its own.
struct Deb {
    _folder: TempDir,
    file: PathBuf,
}

impl Deb {
    fn of_this_release() -> Self {
        let folder = pack(&["deb"]);
        Self { file: package(&folder, ".deb"), _folder: folder }
    }

    /// The former release, with a lower version and with another file of settings.
    fn of_the_former_release() -> Self {
        let program = variable("LYCEUM_TEST_PREVIOUS_BIN");
        let program = program.expect("`cargo xtask soak` builds the former release");
        let folder = pack_program(program.as_ref(), &["deb"]);
        let (packed, file) = (package(&folder, ".deb"), folder.path().join("lyceum_0.0.1.deb"));
        let tree = folder.path().join("tree");
        run(Command::new("dpkg-deb").arg("--raw-extract").arg(&packed).arg(&tree));
        let control = fs::read_to_string(tree.join("DEBIAN/control")).unwrap();
        let is_version = |line: &&str| line.starts_with("Version: ");
        let version = control.lines().find(is_version).unwrap();
        fs::write(tree.join("DEBIAN/control"), control.replace(version, "Version: 0.0.1")).unwrap();
        let settings = tree.join("etc/lyceum/lyceum.toml");
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, format!("# The settings of the former release.\n{text}")).unwrap();
        run(Command::new("dpkg-deb").args(["--build", "-Znone"]).arg(&tree).arg(&file));
        fs::remove_dir_all(tree).unwrap();
        fs::remove_file(packed).unwrap();
        Self { _folder: folder, file }
    }
}

/// The first process of the service; it stays the same until a restart.
fn main_process(machine: &Machine) -> String {
    let state = machine.run("systemctl show lyceum --property=ActiveState,NRestarts,MainPID");
    assert!(state.contains("ActiveState=active") && state.contains("NRestarts=0"), "{state}");
    state
}

fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_true() {
        assert!(since.elapsed() < PATIENCE, "{what} did not happen");
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn an_operator_installs_secures_upgrades_and_restores_a_server() {
    if without_root() {
        return;
    }
    let network = Network::new();
    network.enter(|| match full_size() {
        true => a_day_with_one_server(&network),
        false => the_first_hour(&network),
    });
}

fn the_first_hour(network: &Network) {
    let (guide, authority, deb) = (Guide::read(), Authority::new(), Deb::of_this_release());
    let oak = Machine::start(network, "oak", "10.0.0.5", &[]);
    oak.receive(&deb.file);
    install(&guide, &oak, &authority);
    renew(&guide, &oak, &authority);

    oak.run("apt-get remove --yes lyceum");
    let exists = |path: &str| oak.path(path).exists();
    assert!(!exists("/usr/bin/lyceum") && !exists("/usr/lib/lyceum/workerd"));
    assert!(exists("/etc/lyceum/lyceum.toml"), "settings stay until the purge");
    oak.run("dpkg --purge lyceum");
    assert!(!exists("/etc/lyceum/lyceum.toml"));
    assert!(exists("/var/lib/lyceum/master.key"), "only a person may delete data");
}

/// From the package to a server that answers at port 443.
fn install(guide: &Guide, machine: &Machine, authority: &Authority) -> TestClient {
    guide.take(machine, "install");
    let link = guide.take(machine, "administrator");
    assert!(link.contains("/welcome?link="), "{link}");
    guide.take(machine, "port");
    authority.certify(machine, 2100);
    guide.take(machine, "certificate");
    guide.take(machine, "tls");
    assert_eq!(machine.run("systemd-analyze verify --man=no lyceum.service"), "");
    let client = authority.client(machine);
    wait_until("an answer", || {
        client.get("/ready").try_send().is_ok_and(|answer| answer.status == 200)
    });
    client
}

/// Renews the certificate as Certbot does it.
fn renew(guide: &Guide, machine: &Machine, authority: &Authority) {
    let before = main_process(machine);
    assert!(guide.take(machine, "expiry").contains("2100"));
    authority.certify(machine, 2101);
    machine.run(&format!("RENEWED_LINEAGE={LIVE} /etc/letsencrypt/renewal-hooks/deploy/lyceum"));
    let since = Instant::now();
    wait_until("the new certificate", || guide.take(machine, "expiry").contains("2101"));
    guide.note(&format!(
        "the new certificate is in use after {:.1} s",
        since.elapsed().as_secs_f64()
    ));
    authority.client(machine).get("/ready").expect(200);
    assert_eq!(main_process(machine), before, "the server was restarted");
}

fn a_day_with_one_server(network: &Network) {
    let (guide, authority) = (Guide::read(), Authority::new());
    let (former, current) = (Deb::of_the_former_release(), Deb::of_this_release());
    let oak = Machine::start(network, "oak", "10.0.0.5", &PROGRAMS);
    // A small disk for the data.
    oak.run("mkdir /var/lib/lyceum && mount -t tmpfs -o size=600m tmpfs /var/lib/lyceum");
    authority.introduce(&oak, oak.address);
    oak.receive(&former.file);
    let client = install(&guide, &oak, &authority);
    let writer = Writer::new(ORGS, sign_in(&oak, &client));
    scope(|scope| {
        let stop = Stop(&[&writer]);
        scope.spawn(|| writer.work());
        writer.wait(PATIENCE);

        oak.run("rm lyceum_*.deb");
        oak.receive(&current.file);
        let former = main_process(&oak);
        let printed = guide.take(&oak, "upgrade");
        assert!(printed.trim().ends_with("active"), "{printed}");
        guide.note(&format!("upgraded; writes wait {:.1} s", writer.wait(PATIENCE).as_secs_f64()));
        assert_ne!(main_process(&oak), former);
        assert!(oak.path("/etc/lyceum/lyceum.toml.dpkg-dist").exists());
        guide.take(&oak, "metrics");
        writer.wait(PATIENCE);

        let (backup, written) = back_up(&guide, &oak, &writer);
        let elm = restore(&guide, network, &authority, (&oak, &backup, &current));
        writer.expect_in(&authority.client(&elm).with_token(token(&writer)), &written);
        drop(elm);

        renew(&guide, &oak, &authority);
        let metrics = oak.run("curl --silent http://127.0.0.1:9464/metrics");
        // The first second after 2101-12-31.
        let expiry = "lyceum_certificate_expiry_timestamp_seconds 4165430400";
        assert!(metrics.contains(expiry), "{metrics}");
        fill_the_disk(&guide, &oak, &writer);
        drop(stop);
    });
    writer.expect_in(&writer.client, &writer.acknowledged(Instant::now()));
    let count = writer.acknowledged(Instant::now()).len();
    guide.note(&format!("all {count} acknowledged organizations are there"));
}

fn token(writer: &Writer) -> &str {
    writer.client.token().unwrap()
}

/// Lets the server back itself up at a minute that is near. Returns the backup of that minute, and what was acknowledged
/// before.
fn back_up(guide: &Guide, machine: &Machine, writer: &Writer) -> (PathBuf, Vec<String>) {
    let at = machine.run("date --utc --date='90 seconds' +%H:%M");
    guide.take_with(machine, "backups", |text| text.replace("02:00", at.trim()));
    writer.wait(PATIENCE);
    guide.take(machine, "settings");
    let time = format!("T{}-", at.trim().replace(':', "-"));
    let folder = machine.path("/var/backups/lyceum");
    let is_due = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy();
        name.contains(&time) && name.ends_with(".backup")
    };
    let find = || fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).find(is_due);
    let (since, mut written) = (Instant::now(), Vec::new());
    let backup = loop {
        if let Some(backup) = find() {
            break backup;
        }
        assert!(since.elapsed() < 3 * PATIENCE, "no backup at {at}: {}", machine.log());
        written = writer.acknowledged(Instant::now());
        sleep(Duration::from_secs(1));
    };
    // Those of the last seconds may have been acknowledged while the backup was made.
    written.truncate(written.len().saturating_sub(200));
    guide.note(&format!("the scheduled backup is there: {}", backup.display()));
    wait_until("a trial restore", || {
        let found = guide.take(machine, "doctor");
        let name = backup.file_name().unwrap().to_string_lossy();
        found.contains("restored as a trial") && found.contains(&*name)
    });
    (backup, written)
}

/// Restores the backup on a machine that has nothing but a minimal Debian, the package, the settings and the backup.
fn restore(
    guide: &Guide,
    network: &Network,
    authority: &Authority,
    (oak, backup, deb): (&Machine, &PathBuf, &Deb),
) -> Machine {
    let elm = Machine::start(network, "elm", "10.0.0.6", &PROGRAMS);
    for file in [&deb.file, backup, &oak.path("/root/lyceum-settings.tar.gz")] {
        elm.receive(file);
    }
    authority.introduce(&elm, elm.address);
    let printed = guide.take(&elm, "restore");
    assert!(printed.contains("no errors"), "{printed}");
    guide.take(&elm, "port");
    guide.take(&elm, "start");
    guide.take(&elm, "ready");
    main_process(&elm);
    elm
}

/// Takes all the room that the data folder has, and gives it back as the guide says.
fn fill_the_disk(guide: &Guide, machine: &Machine, writer: &Writer) {
    let before = main_process(machine);
    writer.refusals.lock().unwrap().clear();
    machine.run("cat /dev/zero >> /var/lib/lyceum/before-upgrade.backup || true");
    wait_until("a refusal", || writer.refusals.lock().unwrap().len() > 5);
    for (status, text) in writer.refusals.lock().unwrap().iter() {
        assert_eq!(*status, 503, "{text}");
        assert!(text.contains("disk of the database is full; free some space on it"), "{text}");
    }
    writer.client.get(&format!("{ORGS}?limit=5")).expect(200);
    writer.client.get("/ready").expect(503);
    let doctor = guide.take_with(machine, "doctor", |text| format!("{text}|| true"));
    assert!(doctor.contains("free some space"), "{doctor}");
    assert!(guide.take(machine, "usage").contains("before-upgrade.backup"));
    machine.run("rm /var/lib/lyceum/before-upgrade.backup");
    let since = Instant::now();
    guide.take(machine, "ready");
    writer.wait(PATIENCE);
    guide.note(&format!("writes again {:.1} s after there is room", since.elapsed().as_secs_f64()));
    assert_eq!(main_process(machine), before, "the server was restarted");
}

/// Two servers, a load balancer, PostgreSQL and an S3 service. One server is lost while clients write, and a new one takes its
/// place.
#[test]
fn an_operator_replaces_a_lost_server() {
    if without_root() {
        return;
    }
    if !full_size() {
        println!("left out: it takes minutes, so only the soak runs it");
        return;
    }
    let network = Network::new();
    network.enter(|| a_lost_server(&network));
}

fn a_lost_server(network: &Network) {
    let (guide, authority, deb) = (Guide::read(), Authority::new(), Deb::of_this_release());
    let s3 = Moto::start_at("10.0.0.9", "9000");
    s3.create_bucket("lyceum");
    let [data, mut oak, elm] = [("data", "10.0.0.4"), ("oak", "10.0.0.5"), ("elm", "10.0.0.6")]
        .map(|(name, address)| Machine::start(network, name, address, &PROGRAMS));
    [&oak, &elm].into_iter().for_each(|server| server.receive(&deb.file));
    guide.take(&data, "postgresql");
    authority.certify(&data, 2100);
    data.run(&format!("cat {LIVE}/fullchain.pem {LIVE}/privkey.pem > /etc/haproxy/lyceum.pem"));
    guide.take(&data, "haproxy");
    guide.take(&oak, "first-server");
    wait_until("the master key", || oak.path("/var/lib/lyceum/master.key").exists());
    guide.take(&oak, "settings");
    let settings = oak.path("/root/lyceum-settings.tar.gz");
    elm.receive(&settings);
    guide.take(&elm, "next-server");

    let client = authority.client(&data);
    wait_until("an answer of both servers", || servers_in_use(&data) == ["elm", "oak"]);
    let client = sign_in(&elm, &client);
    deploy_through(&oak);
    let writers = [Writer::new(ORGS, client.clone()), Writer::new(SCORES, client.clone())];
    let [orgs, scores] = &writers;
    scope(|scope| {
        let stop = Stop(&[orgs, scores]);
        for writer in &writers {
            scope.spawn(|| writer.work());
        }
        scores.wait(PATIENCE);
        sleep(2 * REPLICATED_WITHIN);
        oak.switch_off();
        let lost = Instant::now();
        guide.note("the power of oak is cut");
        orgs.wait(TAKEN_MAX);
        guide.note(&format!(
            "organizations are written after {:.1} s",
            lost.elapsed().as_secs_f64()
        ));
        scores.wait(TAKEN_MAX);
        guide.note(&format!("the project is served after {:.1} s", lost.elapsed().as_secs_f64()));
        assert!(lost.elapsed() < TAKEN_MAX);
        orgs.expect_in(&client, &orgs.acknowledged(Instant::now()));
        scores.expect_in(&client, &scores.acknowledged(lost - REPLICATED_WITHIN));

        let fir = Machine::start(network, "fir", "10.0.0.7", &PROGRAMS);
        fir.receive(&deb.file);
        fir.receive(&settings);
        guide.take_with(&fir, "next-server", |text| text.replace("10.0.0.6", "10.0.0.7"));
        data.run(
            "sed --in-place 's|server oak 10.0.0.5|server fir 10.0.0.7|' /etc/haproxy/haproxy.cfg\n\
             systemctl reload haproxy",
        );
        wait_until("an answer of the new server", || servers_in_use(&data) == ["elm", "fir"]);
        guide
            .note(&format!("the new server is in use after {:.1} s", lost.elapsed().as_secs_f64()));
        wait_until("the lost server is named", || {
            guide.take_with(&fir, "doctor", |text| format!("{text}|| true")).contains("oak")
        });
        orgs.wait(PATIENCE);
        scores.wait(PATIENCE);
        drop(stop);
    });
    orgs.expect_in(&client, &orgs.acknowledged(Instant::now()));
    guide.note(&format!(
        "all {} acknowledged organizations and {} scores are there",
        orgs.acknowledged(Instant::now()).len(),
        scores.acknowledged(Instant::now()).len()
    ));
}

/// The servers to which the load balancer sends requests.
fn servers_in_use(data: &Machine) -> Vec<String> {
    let mut socket = UnixStream::connect(data.seen("/run/haproxy/admin.sock")).unwrap();
    socket.write_all(b"show stat\n").unwrap();
    let mut state = String::new();
    socket.read_to_string(&mut state).unwrap();
    let servers = state.lines().filter(|line| line.starts_with("lyceum,") && line.contains(",UP,"));
    let names = servers.map(|line| line.split(',').nth(1).unwrap().to_owned());
    let mut names: Vec<_> = names.filter(|name| name != "BACKEND").collect();
    names.sort();
    names
}

/// Deploys a project with a database to the server itself.
fn deploy_through(server: &Machine) {
    let place = Place::new()
        .running(binary())
        .with("LYCEUM_URL", &format!("http://{}:4321", server.address))
        .with("LYCEUM_CLIENT_ID", "day")
        .with("LYCEUM_CLIENT_SECRET", "not-a-real-one");
    deploy::project(&place);
    whole_project::write(&place);
    place.ok("deploy --yes");
}
