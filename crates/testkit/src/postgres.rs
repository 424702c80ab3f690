//! A private PostgreSQL cluster for tests, and tests on both stores.
//!
//! `cargo xtask test` starts one cluster for all test processes ([`Cluster::start`]) and names it
//! in `LYCEUM_TEST_POSTGRES`; without that variable each test process starts its own, once. A
//! cluster ends with the process that started it, however that ends.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher as _, DefaultHasher, Hash, Hasher, RandomState};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_store::{Db, Migration, StoreLocation};
use postgres::{Client, NoTls};
use rustix::fs::{StatVfs, statvfs};

use crate::full_size;

/// The variable that names a running cluster: the address of its database `postgres`.
pub const CLUSTER_VARIABLE: &str = "LYCEUM_TEST_POSTGRES";

/// Room that the databases of a whole test run need in memory, several times over.
const MEMORY_MIN_BYTES: u64 = 3 * 1024 * 1024 * 1024;

/// Makes a cluster and serves it until the standard input ends, which it does with the process
/// that holds its other end; then stops the server and removes the folder.
const KEEPER: &str = r#"
if [ "$4" = replica ]; then
    "$1/pg_basebackup" --dbname="$6" --pgdata="$2/data" --write-recovery-conf --checkpoint=fast \
        --no-sync </dev/null >"$2/log" 2>&1
else
    "$1/initdb" --auth=trust --username=postgres --encoding=UTF8 --locale=C --no-sync \
        -D "$2/data" </dev/null >"$2/log" 2>&1
fi
[ "$4" = standby ] && touch "$2/data/standby.signal"
"$1/postgres" -D "$2/data" -k "$2" -p "$3" -c listen_addresses=127.0.0.1 -c fsync="$5" \
    -c max_connections=500 -c max_wal_size=256MB -c log_min_messages=log </dev/null >>"$2/log" 2>&1 &
server=$!
read -r _
# Again and again, because a server that is just starting may not hear it.
while kill -INT $server; do sleep 1; done &
wait $server
rm -rf "$2"
"#;

/// Whether commits reach the disk.
#[derive(Clone, Copy)]
enum DiskSync {
    On,
    Off,
}

impl DiskSync {
    /// As PostgreSQL's `fsync` reads it.
    fn setting(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// A running PostgreSQL cluster of its own folder and port; dropping it stops it.
pub struct Cluster {
    keeper: Child,
    port: u16,
}

impl Cluster {
    /// Makes and starts a cluster with `fsync` on, as the user `postgres` if this process belongs to root.
    /// Panics with a reason if it cannot.
    pub fn start() -> Self {
        Self::start_as("primary", &tempfile::env::temp_dir(), DiskSync::On, "")
    }

    /// As [`Cluster::start`], a server that replays what another one commits, a moment later, and takes no writes.
    pub fn replica_of(primary: &Self) -> Self {
        Self::start_as("replica", &tempfile::env::temp_dir(), DiskSync::Off, &primary.url())
    }

    /// As [`Cluster::start`], for the databases of many tests. In small sizes it syncs nothing and
    /// is in memory if that has room: dropping a database syncs the whole cluster, and tests
    /// kill processes but cut no power.
    pub fn start_shared() -> Self {
        if full_size() {
            return Self::start();
        }
        let memory = Path::new("/dev/shm");
        let has_room = |stat: StatVfs| stat.f_bavail * stat.f_frsize >= MEMORY_MIN_BYTES;
        let is_roomy = statvfs(memory).is_ok_and(has_room);
        let folder = if is_roomy { memory.into() } else { tempfile::env::temp_dir() };
        Self::start_as("primary", &folder, DiskSync::Off, "")
    }

    /// As [`Cluster::start`], below a folder, such as a small disk, which everybody may write.
    pub fn start_below(folder: &Path) -> Self {
        Self::start_as("primary", folder, DiskSync::On, "")
    }

    /// As [`Cluster::start`], a server that waits to take the place of another one and takes no writes.
    pub fn standby() -> Self {
        Self::start_as("standby", &tempfile::env::temp_dir(), DiskSync::On, "")
    }

    fn start_as(role: &str, below: &Path, syncs: DiskSync, primary: &str) -> Self {
        let programs = programs();
        let folder = tempfile::Builder::new()
            .prefix("lyceum-postgres-")
            .tempdir_in(below)
            .expect("a temporary folder can be made")
            .keep();
        let port = free_port();
        let mut keeper = Command::new("/bin/sh");
        keeper.args(["-c", KEEPER, "keeper"]).args([&programs, &folder]).args([
            port.to_string().as_str(),
            role,
            syncs.setting(),
            primary,
        ]);
        if let Some((user, group)) = owner() {
            // PostgreSQL refuses to run as root
            chown(&folder, Some(user), Some(group)).expect("root may give a folder away");
            keeper.uid(user).gid(group);
        }
        // A group of its own: what interrupts the tests leaves the keeper time to clear up.
        keeper.process_group(0).current_dir("/");
        keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut cluster = Self { keeper: keeper.spawn().expect("a shell runs"), port };
        cluster.wait_until_it_answers(&folder.join("log"));
        cluster
    }

    /// The address of the cluster's database `postgres`.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Runs one statement in the database `postgres`, as the cluster's owner.
    pub fn run(&self, sql: &str) {
        let mut client = Client::connect(&self.url(), NoTls).expect("the cluster answers");
        client.batch_execute(sql).expect("the statement is right");
    }

    /// The process above all of the cluster's.
    pub fn id(&self) -> u32 {
        self.keeper.id()
    }

    fn wait_until_it_answers(&mut self, log: &Path) {
        let deadline = Instant::now() + Duration::from_mins(2);
        while Client::connect(&self.url(), NoTls).is_err() {
            let log = fs::read_to_string(log).unwrap_or_default();
            let ended = log.contains("initdb: error")
                || log.contains("pg_basebackup: error")
                || log.contains("system is shut down");
            assert!(!ended && Instant::now() < deadline, "PostgreSQL does not start: {log}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A port of the loopback that nobody listens on now, below those that clients are given.
pub fn free_port() -> u16 {
    let random = || 20_000 + RandomState::new().hash_one(0) % 12_000;
    let mut ports = std::iter::repeat_with(|| u16::try_from(random()).expect("it is below 2^16"));
    let free = ports.find(|&port| TcpListener::bind(("127.0.0.1", port)).is_ok());
    free.expect("the ports do not end")
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// The folder of the newest PostgreSQL's programs, also if only links to some of them are on the path. Panics if no
/// release from 15 on is installed.
pub fn programs() -> PathBuf {
    let output = Command::new("pg_config").arg("--bindir").output().ok();
    let output = output.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let packaged = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let folders = packaged.map(|entry| entry.path().join("bin")).chain(output);
    folders
        .chain(std::env::split_paths(&on_path))
        .filter_map(|folder| Some((release(&folder)?, folder)))
        .max()
        .filter(|(release, _)| *release >= 15)
        .and_then(|(_, folder)| {
            fs::canonicalize(folder.join("initdb")).ok()?.parent().map(Path::to_owned)
        })
        .expect("PostgreSQL 15 or newer is needed: install the package 'postgresql'")
}

fn release(folder: &Path) -> Option<u32> {
    if !["initdb", "pg_basebackup"].iter().all(|program| folder.join(program).exists()) {
        return None;
    }
    let output = Command::new(folder.join("postgres")).arg("--version").output().ok()?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    output.split_whitespace().find_map(|word| word.split('.').next()?.parse().ok())
}

/// The user and group of PostgreSQL and its tools, if this process belongs to root.
pub fn owner() -> Option<(u32, u32)> {
    is_root().then(owner_of_postgres)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0)
}

fn owner_of_postgres() -> (u32, u32) {
    let number = |flag: &str| {
        let output = Command::new("id").args([flag, "postgres"]).output().expect("id runs");
        let output = String::from_utf8_lossy(&output.stdout).trim().parse();
        output.expect("the package 'postgresql' makes the user 'postgres'")
    };
    (number("-u"), number("-g"))
}

/// The address of the cluster of this test run.
fn cluster_url() -> String {
    static OWN: OnceLock<Cluster> = OnceLock::new();
    #[expect(clippy::disallowed_methods, reason = "tests are told where the cluster runs")]
    let url = std::env::var(CLUSTER_VARIABLE);
    url.unwrap_or_else(|_| OWN.get_or_init(Cluster::start_shared).url())
}

/// A new, empty PostgreSQL database with the schema of the migrations. It is copied from a
/// template that the first caller makes. May be called from async code.
pub fn fresh_database(migrations: &[Migration]) -> StoreLocation {
    thread::scope(|scope| {
        scope.spawn(|| make_database(migrations)).join().expect("a database can be made")
    })
}

fn make_database(migrations: &[Migration]) -> StoreLocation {
    let template = template_of(migrations);
    let cluster = cluster_url();
    let mut client = Client::connect(&cluster, NoTls).expect("the cluster answers");
    make_template(&mut client, &cluster, &template, migrations);
    // At random: numbers of processes come again while databases of failed tests are still there.
    let name = format!("test_{:016x}", RandomState::new().hash_one(0));
    client
        .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY"))
        .expect("a template without connections can be copied");
    StoreLocation::Postgres(database_url(&cluster, &name))
}

/// The name of what tests copy instead of running the migrations.
fn template_of(migrations: &[Migration]) -> String {
    let mut hasher = DefaultHasher::new();
    for Migration { version, name, sql } in migrations {
        (version, name, sql).hash(&mut hasher);
    }
    format!("template_{:016x}", hasher.finish())
}

/// Writes a new, empty SQLite file with the schema of the migrations: a copy of the first one of this process, because
/// running all migrations takes longer than many tests. May be called from async code.
pub fn write_fresh_file(migrations: &[Migration], file: &Path) {
    static CONTENTS: Mutex<BTreeMap<String, Arc<Vec<u8>>>> = Mutex::new(BTreeMap::new());
    let template = template_of(migrations);
    let mut contents = CONTENTS.lock().expect("no test panics here");
    let content = contents.entry(template).or_insert_with(|| {
        thread::scope(|scope| {
            scope.spawn(|| Arc::new(migrated_file(migrations))).join().expect("a file can be made")
        })
    });
    let content = content.clone();
    drop(contents);
    fs::write(file, content.as_slice()).expect("the file can be written");
}

fn migrated_file(migrations: &[Migration]) -> Vec<u8> {
    if migrations.is_empty() {
        return Vec::new();
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let copy = folder.path().join("copy.db");
    let db = Db::open(&StoreLocation::Sqlite(folder.path().join("draft.db")), migrations);
    let copied = db.and_then(|db| db.read_blocking(|tx| lyceum_store::copy_to(tx, &copy)));
    copied.expect("the migrations apply to SQLite");
    fs::read(copy).expect("the file can be read")
}

fn database_url(cluster: &str, name: &str) -> String {
    let base = cluster.rsplit_once('/').map_or(cluster, |(base, _)| base);
    format!("{base}/{name}")
}

/// Makes the migrated template under another name first, so that it is whole once it exists.
fn make_template(client: &mut Client, cluster: &str, template: &str, migrations: &[Migration]) {
    client.batch_execute("SELECT pg_advisory_lock(15)").expect("locks can be had");
    let known = client
        .query_opt("SELECT 1 FROM pg_database WHERE datname = $1", &[&template])
        .expect("the catalogue can be read");
    if known.is_none() {
        let draft = format!("draft_{template}");
        let mut run = |sql: String| client.batch_execute(&sql).expect("a template can be made");
        run(format!("DROP DATABASE IF EXISTS {draft}"));
        run(format!("CREATE DATABASE {draft} TEMPLATE template0"));
        if !migrations.is_empty() {
            let target = StoreLocation::Postgres(database_url(cluster, &draft));
            drop(Db::open(&target, migrations).expect("the migrations apply to PostgreSQL"));
        }
        run(format!("ALTER DATABASE {draft} RENAME TO {template}"));
    }
    client.batch_execute("SELECT pg_advisory_unlock(15)").expect("the lock is held");
}

/// Runs the body of a test on SQLite and on PostgreSQL, each with a new, empty database of the
/// migrations' schema, and names the store on failure. Without migrations it has no table at all. The databases go away
/// afterwards.
pub fn both_stores(migrations: &[Migration], body: impl Fn(&StoreLocation)) {
    on_sqlite(migrations, &body);
    on_postgres(migrations, &body);
}

/// Runs the body of a test on SQLite alone: for rules above the SQL, whose SQL tests on both stores prove.
pub fn on_sqlite(migrations: &[Migration], body: impl FnOnce(&StoreLocation)) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("test.db");
    write_fresh_file(migrations, &file);
    report_failing_store("SQLite", || body(&StoreLocation::Sqlite(file)));
}

/// Runs the body of a test on PostgreSQL alone.
pub fn on_postgres(migrations: &[Migration], body: impl FnOnce(&StoreLocation)) {
    let target = fresh_database(migrations);
    report_failing_store("PostgreSQL", || body(&target));
    drop_database(&target);
}

#[expect(clippy::print_stderr, reason = "this is how a test tells where it failed")]
fn report_failing_store(store: &str, body: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
        eprintln!("the test failed on {store}");
        resume_unwind(panic);
    }
}

fn drop_database(target: &StoreLocation) {
    let StoreLocation::Postgres(url) = target else { return };
    let name = url.rsplit('/').next().unwrap_or_default().to_owned();
    let dropped = thread::spawn(move || {
        let mut client = Client::connect(&cluster_url(), NoTls)?;
        client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)"))
    });
    dropped.join().expect("no panic").expect("a test's database can be dropped");
}
