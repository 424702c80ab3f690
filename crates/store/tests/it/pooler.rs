//! Behind PgBouncer.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::ProblemKind;
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::postgres;

use crate::{SCHEMA, count, wait};

/// A PgBouncer of the mode before the server; it ends with the test.
struct Pooler(Child);

impl Pooler {
    fn start(folder: &Path, server: &str, (mode, size): (&str, u32)) -> (Self, u16) {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let file = folder.join(format!("{mode}-{size}.ini"));
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nauth_type = any\npool_mode = {mode}\ndefault_pool_size = {size}\n\
             unix_socket_dir =\nserver_round_robin = {}\n",
            u32::from(size > 5)
        );
        // Any user is taken for the owner.
        fs::write(&file, settings.replacen("port=", "user=postgres port=", 1)).unwrap();
        let mut command = Command::new("pgbouncer");
        command.arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some((user, group)) = postgres::owner() {
            command.uid(user).gid(group); // it refuses to run as root
        }
        let running = Self(command.spawn().expect("the package 'pgbouncer' is installed"));
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "PgBouncer does not start");
            thread::sleep(Duration::from_millis(20));
        }
        (running, port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "rest"]
fn a_pooler_in_transaction_mode_is_refused_and_one_in_session_mode_works() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let StoreLocation::Postgres(url) = &target else { unreachable!("it is PostgreSQL") };
    let (front, rest) = url.rsplit_once(':').unwrap();
    let (server, name) = rest.split_once('/').unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    for (mode, size) in [("transaction", 1), ("transaction", 5), ("transaction", 20)] {
        let (_running, port) = Pooler::start(folder.path(), server, (mode, size));
        let refused = Db::open(&StoreLocation::Postgres(format!("{front}:{port}/{name}")), SCHEMA);
        let error = refused.err().expect("it is refused");
        assert_eq!(error.kind, ProblemKind::Invalid, "{mode} {size}: {error:?}");
        assert!(error.message.contains("pool_mode"), "{}", error.message);
    }
    let (_running, port) = Pooler::start(folder.path(), server, ("session", 20));
    let db = Db::open(&StoreLocation::Postgres(format!("{front}:{port}/{name}")), SCHEMA).unwrap();
    wait(async {
        let writes: Vec<_> = (0..50)
            .map(|n| {
                let db = db.clone();
                tokio::spawn(async move {
                    db.write(move |tx| {
                        tx.tally("things", n, 1);
                        let id = n.to_string();
                        tx.execute("INSERT INTO things (id) VALUES ($1)", &[id.as_str().into()])
                    })
                    .await
                })
            })
            .collect();
        for write in writes {
            write.await.unwrap().unwrap();
        }
    });
    assert_eq!(count(&db), 50);
}
