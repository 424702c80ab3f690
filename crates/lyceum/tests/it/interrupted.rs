//! Deploys that break off: what was served is served on, whole, and the command can be repeated.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_core::random::RandomStream;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::deploy::{client, place_at, staging};
use crate::served::{Served, Store};
use crate::transcript::Place;

/// Writes the project's nth version: page, code and schema name it, so that a mixture would show.
fn version(place: &Place, n: u32) {
    place.write("dist/index.html", &format!("version {n}"));
    let column = |m: u32| format!(", c{m} INTEGER NOT NULL DEFAULT {m}");
    let columns: String = (1..=n).map(column).collect();
    place.write("db/schema.sql", &format!("CREATE TABLE t (id INTEGER PRIMARY KEY{columns});\n"));
    place.write(
        "server/api/state.ts",
        &format!(
            "export const GET = async (c) => {{\n\
               const info = (await c.env.DB.prepare('PRAGMA table_info(t)').all()).results;\n\
               const rows = await c.env.DB.prepare('SELECT count(*) AS n FROM t').first('n');\n\
               return c.json({{ version: {n}, columns: info.length - 1, rows }});\n\
             }};\n\
             export const POST = async (c) => {{ await c.env.DB.exec('INSERT INTO t DEFAULT VALUES'); return c.json({{}}); }};\n"
        ),
    );
}

fn project(served: &Served) -> Place {
    let place = place_at(served);
    place.write(
        "lyceum.config.js",
        "export default { name: 'Word Rivers', buildPath: 'dist', integrations: { database: true } };\n",
    );
    fs::create_dir(place.path().join("db")).unwrap();
    version(&place, 1);
    place.ok("deploy --yes");
    add(served);
    place
}

const STATE: &str = "/_projects/word-rivers/api/state";

fn add(served: &Served) {
    client(served).post(STATE).json(&json!({})).expect(200);
}

/// The version that is served: the same of page, code and schema, with every row that was written.
fn whole(served: &Served, rows: u32) -> u32 {
    let client = client(served);
    let state: Value = client.get(STATE).expect(200).json();
    let page = client.get("/_projects/word-rivers/").expect(200).text();
    let version = u32::try_from(state["version"].as_u64().unwrap()).unwrap();
    assert_eq!(page, format!("version {version}"), "{state}");
    assert_eq!((&state["columns"], &state["rows"]), (&json!(version), &json!(rows)), "{state}");
    version
}

fn is_full() -> bool {
    crate::served::variable("LYCEUM_TEST_SIZE").as_deref() == Some("full")
}

/// Repeats the command. What a client that is gone had asked for may be done just then.
fn again(place: &Place) {
    if place.run("deploy --yes").0 != 0 {
        place.ok("deploy --yes");
    }
}

#[test]
#[ignore = "rest"]
fn a_server_or_client_that_is_killed_at_any_moment_leaves_one_whole_version() {
    let mut served = staging(Store::Sqlite);
    let mut place = project(&served);
    let mut random = RandomStream::seeded(7);
    let (mut rows, mut current) = (1, 1);
    // How long a deploy takes here, so that the moments lie within one.
    version(&place, 2);
    let since = Instant::now();
    place.ok("deploy --yes");
    let length = u64::try_from(since.elapsed().as_millis()).unwrap();
    current += 1;
    let turns = if is_full() { 40 } else { 6 };
    for turn in 0..turns {
        version(&place, current + 1);
        let mut deploy = place.command("deploy --yes");
        let mut deploy = deploy.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(random.below(length)));
        if turn % 2 == 0 {
            served.kill();
            deploy.kill().unwrap();
            deploy.wait().unwrap();
            served = served.again();
            place = place.with("LYCEUM_URL", &served.base);
        } else {
            deploy.kill().unwrap();
            deploy.wait().unwrap();
        }
        let found = whole(&served, rows);
        assert!(found == current || found == current + 1, "{found} after {current}");
        add(&served);
        rows += 1;
        again(&place);
        current += 1;
        assert_eq!(whole(&served, rows), current);
    }
}

#[test]
#[ignore = "rest"]
fn a_backend_that_is_killed_during_a_deploy_is_back_in_one_version() {
    let served = staging(Store::Sqlite);
    let place = project(&served);
    version(&place, 2);
    let mut deploy = place.command("deploy --yes");
    let mut deploy = deploy.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while deploy.try_wait().unwrap().is_none() {
        for id in backends(served.pid()) {
            let _ = kill_process(Pid::from_raw(id).unwrap(), Signal::KILL);
        }
        sleep(Duration::from_millis(30));
    }
    // What crashed is started again, after a moment where it crashed often.
    let since = Instant::now();
    while client(&served).get(STATE).send().status != 200 {
        assert!(since.elapsed() < Duration::from_mins(1), "{}", served.log());
        sleep(Duration::from_millis(100));
    }
    whole(&served, 1);
    again(&place);
    assert_eq!(whole(&served, 1), 2);
}

/// The processes of workerd that a server started.
fn backends(server: u32) -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let id: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let (name, rest) = stat.rsplit_once(')')?;
        let parent: u32 = rest.split_whitespace().nth(1)?.parse().ok()?;
        (parent == server && name.contains("workerd")).then_some(id)
    });
    processes.collect()
}

/// A small disk of its own below the server's data, where the system allows that.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    fn on(folder: &'a Path, size: &str) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder);
        let mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        mounted.then_some(Self(folder))
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["--lazy"]).arg(self.0).status();
    }
}

/// Leaves no room on a disk; answers what takes it.
fn fill(folder: &Path) -> PathBuf {
    let filler = folder.join("filler");
    let mut size = 16 * 1024 * 1024;
    while fs::write(&filler, vec![1; size]).is_err() {
        size -= 4096;
    }
    filler
}

/// The second version is refused while the disk is full, and the first one served; then it is deployed.
fn refused_until_there_is_room(served: &Served, place: &Place, filler: &Path) {
    version(place, 2);
    let (code, stderr) = place.fails("deploy --yes");
    assert_eq!(code, 1, "{stderr}");
    assert_eq!(whole(served, 1), 1);
    fs::remove_file(filler).unwrap();
    place.ok("deploy --yes");
    assert_eq!(whole(served, 1), 2);
}

#[test]
#[ignore = "rest"]
fn a_full_disk_refuses_a_change_of_the_schema_and_serves_on() {
    let served = staging(Store::Sqlite);
    // The databases of all projects on a disk that a copy of one fills.
    let folder = served.file("data/hosting/projects");
    let Some(_disk) = Disk::on(&folder, "1m") else {
        println!("left out: nobody may mount a disk here");
        return;
    };
    let place = project(&served);
    let filler = fill(&folder);
    refused_until_there_is_room(&served, &place, &filler);
    let names: Vec<_> = fs::read_dir(folder.join("word-rivers")).unwrap().flatten().collect();
    assert!(names.len() <= 8, "{names:?}");
}

#[test]
#[ignore = "rest"]
fn a_full_disk_refuses_files_and_serves_on() {
    let mut served = staging(Store::Sqlite);
    served.kill();
    let folder = served.file("data/hosting");
    let Some(_disk) = Disk::on(&folder, "8m") else {
        println!("left out: nobody may mount a disk here");
        return;
    };
    let served = served.again();
    let place = project(&served);
    let filler = fill(&folder);
    let mut random = RandomStream::seeded(1);
    let large: Vec<u8> = (0..1 << 20).map(|_| u8::try_from(random.below(256)).unwrap()).collect();
    fs::write(place.path().join("dist/large.bin"), large).unwrap();
    refused_until_there_is_room(&served, &place, &filler);
}
