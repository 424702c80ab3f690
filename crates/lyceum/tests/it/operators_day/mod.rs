//! A day of an operator: machines with systemd run the commands of the operators' guide, from the installation of the
//! package to the loss of a server, while clients write. No acknowledged write is lost.
//!
//! The commands are the blocks `sh debian STEP` of the guide; each test says where it runs which of them. In small size the
//! day ends with the renewed certificate.

mod authority;
mod deb;
mod guide;
mod lost_server;
mod writer;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use lyceum_testkit::full_size;
use lyceum_testserver::client::TestClient;

use crate::machines::{Network, TestMachine};
use crate::packages::{run, without_root};
use authority::{Authority, sign_in};
use deb::Deb;
use guide::Guide;
use writer::{Stop, Writer};

/// The programs that the guide's commands need besides the package and systemd.
const PROGRAMS: [&str; 3] = ["curl", "haproxy", "postgresql"];
const PATIENCE: Duration = Duration::from_mins(1);
const ORGS: &str = "/ims/oneroster/rostering/v1p2/orgs";
const LIVE: &str = "/etc/letsencrypt/live/lyceum.example.org";

#[test]
fn the_steps_of_the_guide_parse_and_each_one_is_run() {
    let day = [include_str!("mod.rs"), include_str!("lost_server.rs")].concat();
    for (step, text) in Guide::read().steps {
        assert!(day.contains(&format!(", \"{step}\"")), "no test runs the guide's step '{step}'");
        run(Command::new("bash").args(["-n", "-c", &text]));
    }
}

#[test]
#[ignore = "rest"]
fn an_operator_installs_secures_upgrades_and_restores_a_server() {
    if without_root() {
        return;
    }
    if full_size() {
        let network = Network::new(&PROGRAMS);
        network.enter(|| a_day_with_one_server(&network));
    } else {
        let network = Network::new(&[]);
        network.enter(|| the_first_hour(&network));
    }
}

fn the_first_hour(network: &Network) {
    let (guide, authority, deb) = (Guide::read(), Authority::new(), Deb::of_this_release());
    let oak = TestMachine::start(network, "oak", "10.0.0.5");
    oak.receive(&deb.file);
    install(&guide, &oak, &authority);
    guide.take(&oak, "doctor");
    renew(&guide, &oak, &authority);

    oak.run("apt-get remove --yes lyceum");
    let exists = |path: &str| oak.path(path).exists();
    assert!(!exists("/usr/bin/lyceum") && !exists("/usr/lib/lyceum/workerd"));
    assert!(exists("/etc/lyceum/lyceum.toml"), "settings stay until the purge");
    oak.run("dpkg --purge lyceum");
    assert!(!exists("/etc/lyceum/lyceum.toml") && !exists("/etc/lyceum/environment"));
    assert!(exists("/var/lib/lyceum/master.key"), "only a person may delete data");
}

/// From the package to a server that answers at port 443.
fn install(guide: &Guide, machine: &TestMachine, authority: &Authority) -> TestClient {
    guide.take(machine, "install");
    guide.take(machine, "public-url");
    let link = guide.take(machine, "administrator");
    assert!(link.contains("https://lyceum.example.org/welcome?link="), "{link}");
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
fn renew(guide: &Guide, machine: &TestMachine, authority: &Authority) {
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
    let oak = TestMachine::start(network, "oak", "10.0.0.5");
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
        let (former, upgraded) = (main_process(&oak), Instant::now());
        let printed = guide.take(&oak, "upgrade");
        assert!(printed.contains("\"status\":\"ok\""), "{printed}");
        writer.wait(PATIENCE);
        let pause = writer.longest_pause(upgraded);
        guide
            .note(&format!("upgraded; no write was acknowledged for {:.1} s", pause.as_secs_f64()));
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
fn back_up(guide: &Guide, machine: &TestMachine, writer: &Writer) -> (PathBuf, Vec<String>) {
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
    assert!(!written.is_empty());
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
    (oak, backup, deb): (&TestMachine, &PathBuf, &Deb),
) -> TestMachine {
    let elm = TestMachine::start(network, "elm", "10.0.0.6");
    for file in [&deb.file, backup, &oak.path("/root/lyceum-settings.tar.gz")] {
        elm.receive(file);
    }
    authority.introduce(&elm, elm.address);
    let printed = guide.take(&elm, "restore");
    assert!(printed.contains("no errors"), "{printed}");
    guide.take(&elm, "port");
    guide.take(&elm, "start");
    main_process(&elm);
    elm
}

/// Takes all the room that the data folder has, and gives it back as the guide says.
fn fill_the_disk(guide: &Guide, machine: &TestMachine, writer: &Writer) {
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
    let doctor = guide.try_take(machine, "doctor");
    assert!(doctor.contains("free some space"), "{doctor}");
    assert!(guide.take(machine, "usage").contains("before-upgrade.backup"));
    machine.run("rm /var/lib/lyceum/before-upgrade.backup");
    let since = Instant::now();
    guide.take(machine, "ready");
    writer.wait(PATIENCE);
    guide.note(&format!("writes again {:.1} s after there is room", since.elapsed().as_secs_f64()));
    assert_eq!(main_process(machine), before, "the server was restarted");
}

/// The first process of the service; it stays the same until a restart.
fn main_process(machine: &TestMachine) -> String {
    let state = machine.run("systemctl show lyceum --property=ActiveState,NRestarts,MainPID");
    assert!(state.contains("ActiveState=active") && state.contains("NRestarts=0"), "{state}");
    state
}

fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_true() {
        assert!(since.elapsed() < PATIENCE, "{what} did not happen");
        sleep(Duration::from_millis(250));
    }
}
