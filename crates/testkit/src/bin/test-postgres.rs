//! Keeps one private PostgreSQL cluster up for the tests of many processes.
//!
//! Prints the cluster's address and serves until the standard input ends, which it also does when
//! the process that holds its other end is killed. `cargo xtask test` runs this.

use std::io::{Write, read_to_string, stdin, stdout};

use lyceum_testkit::postgres::Cluster;

fn main() -> std::io::Result<()> {
    let cluster = Cluster::start_shared();
    writeln!(stdout(), "{}", cluster.url())?;
    read_to_string(stdin())?;
    Ok(())
}
