//! The job that stores the words of names after an upgrade: a server stops, two servers run, the store fails.

use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_roster::limits::NAME_WORDS_LEASE_S;
use lyceum_roster::name_words;
use lyceum_server::limits::NAME_WORDS_POLL_MS;
use lyceum_store::jobs::{self, JobStatus};
use lyceum_testkit::jobs::pass_seconds;
use lyceum_testkit::records;
use lyceum_testserver::server::{TestServer, both};

/// A database as an upgrade leaves it: without words, and with the job. A server that stopped has just claimed it.
fn claim_after_upgrade(server: &TestServer) {
    records::school(server.db(), "s", "Harbour School");
    records::student(server.db(), "axolotl", "s", "3");
    let claimed = server.db().write_blocking(|tx| {
        tx.execute("DELETE FROM roster_link WHERE field LIKE '%.nameWords'", &[])?;
        jobs::add(tx, name_words::KIND, "")?;
        name_words::claim(tx)
    });
    assert!(claimed.unwrap().is_some());
}

fn word_count(server: &TestServer) -> i64 {
    let sql = "SELECT count(*) FROM roster_link WHERE field = 'user.nameWords'";
    server.db().read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0))).unwrap().unwrap()
}

fn job(server: &TestServer) -> JobStatus {
    server.db().read_blocking(|tx| jobs::newest(tx, None, 1)).unwrap().remove(0)
}

/// Waits until the job is so.
fn wait_for(server: &TestServer, is_reached: impl Fn(&JobStatus) -> bool) -> JobStatus {
    let started = Instant::now();
    loop {
        let job = job(server);
        if is_reached(&job) {
            return job;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{job:?}");
        sleep(Duration::from_millis(50));
    }
}

/// Lets the time of the lease pass.
fn end_lease(server: &TestServer) {
    pass_seconds(server.db(), NAME_WORDS_LEASE_S);
}

/// Long enough for every server to look for the job more than once.
fn pass_polls() {
    sleep(Duration::from_millis(2 * NAME_WORDS_POLL_MS + 500));
}

#[test]
fn words_are_stored_once_the_lease_of_a_server_that_stopped_has_ended() {
    both(|server| {
        claim_after_upgrade(server);
        server.restart();
        let twin = server.twin();
        pass_polls();
        assert_eq!((word_count(&twin), job(&twin).attempts), (0, 1), "the lease has not ended");
        server.stop();
        end_lease(&twin);
        let done = wait_for(&twin, |job| job.state == "done");
        assert_eq!(done.attempts, 2);
        assert!(word_count(&twin) > 0);
    });
}

#[test]
fn one_of_two_servers_stores_the_words() {
    both(|server| {
        claim_after_upgrade(server);
        server.restart();
        let twin = server.twin();
        end_lease(&twin);
        let done = wait_for(&twin, |job| job.state == "done");
        let words = word_count(&twin);
        assert!(words > 0);
        pass_polls();
        assert_eq!((job(&twin), word_count(&twin)), (done, words), "no server does it again");
    });
}

#[test]
fn words_are_stored_after_the_store_failed() {
    both(|server| {
        claim_after_upgrade(server);
        server.restart();
        let execute = |sql: &str| server.db().write_blocking(|tx| tx.execute(sql, &[])).unwrap();
        execute("ALTER TABLE courses RENAME TO courses_elsewhere");
        end_lease(server);
        // The server looks while the job is not due yet, and must not end because of that.
        let failed = wait_for(server, |job| job.attempts >= 3 && job.error.is_some());
        assert_eq!(failed.state, "waiting");
        execute("ALTER TABLE courses_elsewhere RENAME TO courses");
        assert!(wait_for(server, |job| job.state == "done").attempts >= 3);
        assert!(word_count(server) > 0);
    });
}
