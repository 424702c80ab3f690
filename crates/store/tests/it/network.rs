//! A PostgreSQL server that goes, hangs, has no room, or takes no writes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::{ProblemKind, Result};
use lyceum_store::limits;
use lyceum_store::{Db, StoreLocation, StoreOptions, Tx, WriteCheck};

use crate::{SCHEMA, count, open, wait};

/// Stands between a client and a server, and forgets either when told: nothing is closed.
struct Proxy {
    port: u16,
    is_cut: Arc<AtomicBool>,
}

impl Proxy {
    fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let cut = is_cut.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
                let ways =
                    [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)];
                for (from, to) in ways {
                    let cut = cut.clone();
                    thread::spawn(move || carry(from, to, &cut));
                }
            }
        });
        Self { port, is_cut }
    }

    fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }
}

/// Carries bytes one way. While the way is cut what comes is lost; afterwards such a connection is closed, as
/// a server does that knows nothing of it.
fn carry(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut lost = false;
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if is_cut.load(Ordering::SeqCst) {
            lost = true;
        } else if lost || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    if !is_cut.load(Ordering::SeqCst) {
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}

/// The port of a test's database, and its address with another port.
pub(crate) fn port(target: &StoreLocation) -> (u16, impl Fn(u16) -> String) {
    let StoreLocation::Postgres(url) = target.clone() else { unreachable!("it is PostgreSQL") };
    let (front, rest) = url.rsplit_once(':').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let (port, name) = rest.split_once('/').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    (port.parse().unwrap(), move |port| format!("{front}:{port}/{name}"))
}

fn add(tx: &mut Tx<'_>) -> Result<()> {
    tx.execute("INSERT INTO things (id) VALUES ('x') ON CONFLICT DO NOTHING", &[]).map(drop)
}

fn one(tx: &mut Tx<'_>) -> Result<Option<()>> {
    tx.query_one("SELECT 1", &[], |_| Ok(()))
}

#[test]
fn a_server_that_stops_answering_is_given_up_and_found_again() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let (server, url) = port(&target);
    let proxy = Proxy::before(server);
    let address =
        format!("{}?connect_timeout=1&options=-c%20statement_timeout%3D1000", url(proxy.port));
    let options = StoreOptions { connections: 4, ..StoreOptions::default() };
    let db = Db::open_with(&StoreLocation::Postgres(address), SCHEMA, options).unwrap();
    wait(db.write(add)).unwrap();
    proxy.cut(true);
    // Those that are under way learn it when their patience ends, and those that come then at once.
    let most = Duration::from_millis(limits::POSTGRES_READ_WAIT_MS + 5000);
    let ask = |is_write: bool| {
        let begun = Instant::now();
        let outcome = wait(async {
            if is_write { db.write(add).await } else { db.read(one).await.map(drop) }
        });
        assert_eq!(outcome.unwrap_err().kind, ProblemKind::Unavailable);
        begun.elapsed()
    };
    thread::scope(|scope| {
        let readers = (0..12).map(|n| scope.spawn(move || ask(n % 2 == 0)));
        for reader in readers.collect::<Vec<_>>() {
            let took = reader.join().unwrap();
            assert!(took < most, "{took:?}");
        }
    });
    let took: Vec<Duration> = (0..5).map(|_| ask(false)).collect();
    assert!(took.iter().all(|took| *took < Duration::from_secs(3)), "{took:?}");
    proxy.cut(false);
    let deadline = Instant::now() + Duration::from_secs(10);
    while wait(db.write(add)).is_err() {
        assert!(Instant::now() < deadline, "it is not found again");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(count(&db), 1);
}

#[test]
fn a_few_connections_serve_many_readers() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let StoreLocation::Postgres(url) = &target else { unreachable!("it is PostgreSQL") };
    // A role that may have three connections, as a server has that is nearly full.
    let role = format!("few_{}", std::process::id());
    let name = url.rsplit('/').next().unwrap().to_owned();
    let run = |sql: String| {
        open(&target)
            .write_blocking(|tx| sql.split(';').try_for_each(|sql| tx.execute(sql, &[]).map(drop)))
    };
    run(format!(
        "CREATE ROLE {role} LOGIN SUPERUSER;ALTER ROLE {role} NOSUPERUSER CONNECTION LIMIT 3;\
         ALTER DATABASE {name} OWNER TO {role};GRANT ALL ON ALL TABLES IN SCHEMA public TO {role};\
         GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}"
    ))
    .unwrap();
    let theirs = url.replacen("postgres@", &format!("{role}@"), 1);
    let db = Db::open(&StoreLocation::Postgres(theirs), SCHEMA).unwrap();
    let failed = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                for _ in 0..40 {
                    let sql = "SELECT pg_sleep(0.002)";
                    let answer = wait(db.read(move |tx| tx.query_one(sql, &[], |_| Ok(()))));
                    if answer.is_err() {
                        failed.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert_eq!(failed.into_inner(), 0, "of 960");
    drop(db);
    let _ =
        run(format!("REASSIGN OWNED BY {role} TO postgres;DROP OWNED BY {role};DROP ROLE {role}"));
}

#[test]
fn a_server_that_refuses_connections_is_reported_at_once() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let (server, url) = port(&target);
    let proxy = Proxy::before(server);
    let address = StoreLocation::Postgres(format!("{}?connect_timeout=1", url(proxy.port)));
    let db = Db::open(&address, SCHEMA).unwrap();
    proxy.cut(true); // before the first of the pool's connections
    let begun = Instant::now();
    let readers: Vec<_> = wait(async {
        let readers: Vec<_> = (0..40)
            .map(|_| {
                let db = db.clone();
                tokio::spawn(async move { db.read(one).await.map(drop) })
            })
            .collect();
        let mut answers = Vec::new();
        for reader in readers {
            answers.push(reader.await.unwrap());
        }
        answers
    });
    assert!(readers.iter().all(|answer| {
        answer.as_ref().is_err_and(|problem| problem.kind == ProblemKind::Unavailable)
    }));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn a_read_that_is_given_up_does_not_run_on_in_the_server() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let db = open(&target);
    let sleep = "SELECT pg_sleep(39), 'given up'";
    let found = wait(db.read(|tx| tx.query_one(sleep, &[], |_| Ok(()))));
    assert_eq!(found.unwrap_err().kind, ProblemKind::Unavailable);
    let running = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND query = $1 AND state = 'active'";
    let deadline = Instant::now() + Duration::from_secs(5);
    let is_running = |tx: &mut Tx<'_>| tx.query_one(running, &[sleep.into()], |row| row.int(0));
    while wait(db.read(is_running)).unwrap() != Some(0) {
        assert!(Instant::now() < deadline, "it runs on");
        thread::sleep(Duration::from_millis(20));
    }
}

fn checked(db: &Db) -> Result<WriteCheck> {
    wait(db.check_writes(Duration::from_secs(2)))
}

#[test]
fn a_check_of_writes_distinguishes_waiting_from_a_lost_server() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let (server, url) = port(&target);
    let proxy = Proxy::before(server);
    let db = Db::open(&StoreLocation::Postgres(url(proxy.port)), SCHEMA).unwrap();
    assert_eq!(checked(&db).unwrap(), WriteCheck::Durable);
    // As a migration of another server holds it.
    let lock = "LOCK TABLE refinery_schema_history IN EXCLUSIVE MODE";
    let waiting = open(&target).write_blocking(|tx| {
        tx.execute(lock, &[])?;
        checked(&db)
    });
    assert_eq!(waiting.unwrap(), WriteCheck::Waiting);
    assert_eq!(checked(&db).unwrap(), WriteCheck::Durable);
    proxy.cut(true);
    assert_eq!(checked(&db).unwrap_err().kind, ProblemKind::Unavailable);
}

#[test]
fn a_check_of_writes_needs_room_on_the_disk_and_changes_no_row() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let StoreLocation::Postgres(url) = &target else { unreachable!("it is PostgreSQL") };
    let name = url.rsplit('/').next().unwrap().to_owned();
    let owner = open(&target);
    let rows = |tx: &mut Tx<'_>| {
        tx.query_one("SELECT last_value, is_called::int FROM jobs_id_seq", &[], |row| row.int(1))
    };
    assert_eq!(checked(&owner).unwrap(), WriteCheck::Durable);
    assert_eq!(owner.read_blocking(rows).unwrap(), Some(0));
    // Less than the file that is written; what compresses well would fit.
    let limit = format!("ALTER DATABASE {name} SET temp_file_limit = '512kB'");
    owner.write_blocking(|tx| tx.execute(&limit, &[])).unwrap();
    checked(&open(&target)).unwrap_err();
}

#[test]
fn a_check_of_writes_reports_a_read_only_database() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let StoreLocation::Postgres(url) = &target else { unreachable!("it is PostgreSQL") };
    let name = url.rsplit('/').next().unwrap().to_owned();
    let owner = open(&target);
    checked(&owner).unwrap();
    // Both have no connection yet: what a database is set to counts for new ones.
    let [read_only, back] = [open(&target), open(&target)];
    let set = |to: &str| {
        let sql = format!("ALTER DATABASE {name} SET default_transaction_read_only = {to}");
        owner.write_blocking(|tx| tx.execute(&sql, &[])).unwrap();
    };
    set("on");
    let error = checked(&read_only).unwrap_err();
    assert_eq!(error.kind, ProblemKind::Unavailable, "{error:?}");
    wait(read_only.ping()).unwrap();
    set("off");
    checked(&back).unwrap();
}

#[test]
fn a_full_disk_shows_in_a_check_of_writes() {
    let folder = tempfile::tempdir().unwrap();
    let mount = |program: &str, arguments: &[&str]| {
        let done = std::process::Command::new(program).args(arguments).arg(folder.path()).status();
        done.is_ok_and(|done| done.success())
    };
    if !mount("mount", &["-t", "tmpfs", "-o", "size=4m", "tmpfs"]) {
        return; // only root may mount
    }
    let checked = std::panic::catch_unwind(|| {
        let db = open(&StoreLocation::Sqlite(folder.path().join("test.db")));
        checked(&db).unwrap();
        let filler = folder.path().join("filler");
        let mut file = std::fs::File::create(&filler).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        let error = checked(&db).unwrap_err();
        assert_eq!(error.kind, ProblemKind::Unavailable, "{error:?}");
        wait(db.ping()).unwrap();
        drop(file);
        std::fs::remove_file(filler).unwrap();
        checked(&db).unwrap();
    });
    assert!(mount("umount", &["-l"]));
    checked.unwrap();
}
