//! The program of the test kit: the cluster for many test processes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use lyceum_store::{StoreLocation, inspect};

#[test]
fn the_cluster_serves_until_its_input_ends() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_test-postgres"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let target = StoreLocation::Postgres(address.trim().to_owned());
    assert_eq!(inspect(&target).unwrap().schema, None, "an empty database");

    drop(program.stdin.take());
    assert!(program.wait().unwrap().success());
    inspect(&target).unwrap_err();
}
