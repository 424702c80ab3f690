//! A server that is killed loses nothing that was flushed.

use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use lyceum_core::time::SystemClock;
use lyceum_replica::ReplicaStore;
use rusqlite::Connection;

use crate::{PREFIX, Setup, insert, replicator_in, restored, rows, writer};

/// Tells the child process of the test its folder.
const FOLDER: &str = "LYCEUM_TEST_REPLICA_FOLDER";

#[test]
fn a_killed_writer_loses_nothing_that_was_flushed() {
    #[expect(clippy::disallowed_methods, reason = "the variable is for the child process only")]
    if let Ok(folder) = env::var(FOLDER) {
        write_until_killed(Path::new(&folder));
    }
    let setup = Setup::new();
    let mut random = fastrand::Rng::new();
    let mut flushed = -1;
    for epoch in 0..3 {
        let test = "crash::a_killed_writer_loses_nothing_that_was_flushed";
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", test])
            .env(FOLDER, setup.folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ids = lines.filter_map(|line| line.unwrap().strip_prefix("flushed ")?.parse().ok());
        flushed = ids.take(random.usize(5..40)).last().unwrap_or(flushed);
        child.kill().unwrap();
        child.wait().unwrap();
        let restored = restored(&setup.store, None);
        let count = i64::try_from(restored.len()).unwrap();
        assert!(count > flushed, "{epoch}: {flushed}");
        assert!(restored.keys().copied().eq(0..count), "no transaction is left out");
    }
    let replicator = setup.replicator();
    replicator.add(&setup.file(), PREFIX, Some(1));
    replicator.flush(&setup.file()).unwrap();
    let connection = Connection::open(setup.file()).unwrap();
    assert_eq!(restored(&setup.store, None), rows(&connection), "the file goes on after its crash");
    assert_eq!(setup.count("snapshot"), 1, "each start continued the chain");
}

fn write_until_killed(folder: &Path) -> ! {
    let file = folder.join("d1.sqlite");
    let store = ReplicaStore::in_folder(&folder.join("replicas")).unwrap();
    let replicator = replicator_in(store, Arc::new(SystemClock));
    let connection = writer(&file);
    replicator.add(&file, PREFIX, Some(1));
    for id in i64::try_from(rows(&connection).len()).unwrap().. {
        insert(&connection, id);
        if id % 3 == 0 {
            replicator.flush(&file).unwrap();
            // Unlike `println!`, this is not captured by the test harness.
            stdout().write_all(format!("flushed {id}\n").as_bytes()).unwrap();
        }
    }
    unreachable!("it is killed")
}
