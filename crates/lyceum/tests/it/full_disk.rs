//! A server whose PostgreSQL has no room left on its disk.

use std::fs::{self, File};
use std::io::Write;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testkit::postgres::Cluster;
use lyceum_testserver::client::{Reply, TestClient};
use serde_json::json;
use tempfile::TempDir;

use crate::deploy::client;
use crate::served::{Served, Store};

const ORGS: &str = "/ims/oneroster/rostering/v1p2/orgs";

/// A small disk; it goes with this value.
struct Disk(TempDir);

impl Disk {
    /// No file system: only root may mount.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=192m,mode=1777", "tmpfs"]).arg(folder.path());
        let is_done = mount.output().is_ok_and(|done| done.status.success());
        is_done.then(|| Self(folder))
    }

    /// Takes all the room that is left; the file gives it back.
    fn fill(&self) -> std::path::PathBuf {
        let filler = self.0.path().join("filler");
        let mut file = File::create(&filler).unwrap();
        for bytes in [1 << 20, 4096] {
            while file.write_all(&vec![0; bytes]).is_ok() {}
        }
        filler
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// Text that does not become shorter when it is stored.
fn mixed(seed: usize) -> String {
    let mut state = u64::try_from(seed).unwrap() + 1;
    let mut letter = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
    };
    (0..8_000).map(|_| letter()).collect()
}

/// Creates an organization that takes a few pages of the database.
fn create(client: &TestClient, number: usize) -> Reply {
    let org = json!({ "org": { "sourcedId": format!("o{number}"), "name": "Hillside",
        "type": "school", "metadata": { "text": mixed(number) } } });
    client.post(ORGS).json(&org).send()
}

#[test]
#[ignore = "rest"]
fn a_full_disk_of_postgresql_stops_only_writes_until_there_is_room_again() {
    let Some(disk) = Disk::mount() else {
        println!("left out: only root may mount a small disk");
        return;
    };
    let cluster = Cluster::start_below(disk.0.path());
    let served = Served::start(Store::Postgres(cluster.url()));
    let client = client(&served);
    assert_eq!(create(&client, 0).status, 201);
    client.get("/ready").expect(200);
    // The log of PostgreSQL has room of its own: without that it would not end writes but itself.
    cluster.run("SELECT pg_switch_wal()");
    cluster.run("CHECKPOINT");
    let filler = disk.fill();

    let written = (1..400).take_while(|&number| {
        let reply = create(&client, number);
        assert!([201, 503].contains(&reply.status), "{} {}", reply.status, reply.text());
        reply.status == 201
    });
    let refused = 1 + written.count();
    assert!(refused < 400, "the disk is not full");
    for _ in 0..3 {
        let reply = create(&client, refused);
        assert_eq!((reply.status, reply.header("retry-after")), (503, "60"), "{}", reply.text());
        assert!(reply.text().contains("disk of the database is full"), "{}", reply.text());
        client.get(&format!("{ORGS}?limit=5")).expect(200);
        client.get(&format!("{ORGS}/o0")).expect(200);
    }
    let ready = until_ready_is(&client, 503);
    assert!(ready.text().contains("does not take writes"), "{}", ready.text());
    assert!(served.log().contains("disk of the database is full"), "{}", served.log());
    client.get("/health").expect(200);

    fs::remove_file(filler).unwrap();
    until_ready_is(&client, 200);
    client.get(&format!("{ORGS}/o{refused}")).expect(404);
    assert_eq!(create(&client, refused).status, 201);
    client.get(&format!("{ORGS}/o{}", refused - 1)).expect(200);
}

fn until_ready_is(client: &TestClient, status: u16) -> Reply {
    let since = Instant::now();
    loop {
        let reply = client.get("/ready").send();
        if reply.status == status {
            return reply;
        }
        assert!(since.elapsed() < Duration::from_secs(20), "{}", reply.text());
        sleep(Duration::from_millis(50));
    }
}
