//! TLS to PostgreSQL, and addresses of several hosts.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use lyceum_core::Result;
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::postgres::Cluster;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use tempfile::TempDir;

use crate::SCHEMA;

struct Files {
    folder: TempDir,
}

impl Files {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate of the authority and its key, as PEM.
fn certificate(of: &CertifiedIssuer<'static, KeyPair>, host: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, host);
    (params.signed_by(&key, of).unwrap().pem(), key.serialize_pem())
}

/// Makes a file of the server's folder, as its own user.
fn put(cluster: &Cluster, name: &str, text: &str) {
    cluster.run(&format!(
        "COPY (SELECT 1) TO PROGRAM $$cat > /dev/null; umask 077; printf '%s' '{text}' > {name}$$"
    ));
}

/// A server with a certificate for `localhost`.
fn server(files: &Files) -> Cluster {
    let (root, stranger) = (authority("root"), authority("stranger"));
    files.write("root.pem", &root.pem());
    files.write("stranger.pem", &stranger.pem());
    let (chain, key) = certificate(&root, "postgres");
    files.write("client.pem", &chain);
    files.write("client.key", &key);
    let cluster = Cluster::start();
    let (chain, key) = certificate(&root, "localhost");
    put(&cluster, "server.crt", &chain);
    put(&cluster, "server.key", &key);
    put(&cluster, "root.crt", &root.pem());
    cluster.run("ALTER SYSTEM SET ssl_ca_file = 'root.crt'");
    cluster.run("ALTER SYSTEM SET ssl = on");
    cluster.run("SELECT pg_reload_conf()");
    cluster
}

fn port(cluster: &Cluster) -> String {
    let url = cluster.url();
    url.rsplit_once('/').unwrap().0.rsplit_once(':').unwrap().1.to_owned()
}

/// Whether the connection is encrypted, or why there is none.
fn opened(address: &str) -> Result<bool> {
    let db = Db::open(&StoreLocation::Postgres(address.to_owned()), SCHEMA)?;
    let sql = "SELECT ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    Ok(db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0)))?.unwrap() == 1)
}

fn parameter(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

#[test]
fn each_sslmode_has_the_requirements_of_libpq() {
    let files = Files { folder: tempfile::tempdir().unwrap() };
    let cluster = server(&files);
    let port = port(&cluster);
    let at = |host: &str, parameters: &[&str]| {
        opened(&format!("postgres://postgres@{host}:{port}/postgres?{}", parameters.join("&")))
    };
    let root = parameter("sslrootcert", &files.path("root.pem"));
    let stranger = parameter("sslrootcert", &files.path("stranger.pem"));
    let (root, stranger) = (root.as_str(), stranger.as_str());
    assert!(!at("localhost", &["sslmode=disable"]).unwrap());
    // The server may only just have read its settings.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !at("localhost", &["sslmode=prefer"]).unwrap() {
        assert!(std::time::Instant::now() < deadline, "the server takes no TLS");
    }
    assert!(at("localhost", &[]).unwrap(), "prefer is the default");
    assert!(at("127.0.0.1", &["sslmode=require"]).unwrap());
    assert!(at("127.0.0.1", &["sslmode=require", root]).unwrap());
    assert!(at("127.0.0.1", &["sslmode=verify-ca", root]).unwrap(), "of another host");
    assert!(at("localhost", &["sslmode=verify-full", root]).unwrap());
    let pairs = format!(
        "host=localhost port={port} user=postgres dbname='postgres' sslmode=verify-full {root}"
    );
    assert!(opened(&pairs).unwrap());
    let wrong: [(&str, &[&str], &str); 6] = [
        ("127.0.0.1", &["sslmode=verify-full", root], "NotValidForName"),
        ("localhost", &["sslmode=verify-full", stranger], "UnknownIssuer"),
        ("localhost", &["sslmode=verify-ca", stranger], "UnknownIssuer"),
        ("localhost", &["sslmode=require", stranger], "UnknownIssuer"),
        ("localhost", &["sslmode=verify-full"], "need sslrootcert"),
        ("localhost", &["sslmode=sure"], "sslmode must be one of"),
    ];
    for (host, parameters, cause) in wrong {
        let message = at(host, parameters).unwrap_err().message;
        assert!(
            message.contains(cause) || message.contains("certificate"),
            "{parameters:?}: {message}"
        );
    }

    put(&cluster, "pg_hba.conf", "hostssl all all all trust clientcert=verify-ca\n");
    cluster.run("SELECT pg_reload_conf()");
    let own = [
        parameter("sslcert", &files.path("client.pem")),
        parameter("sslkey", &files.path("client.key")),
    ];
    let with: Vec<&str> =
        own.iter().map(String::as_str).chain(["sslmode=verify-full", root]).collect();
    assert!(at("localhost", &with).unwrap());
    while at("localhost", &["sslmode=require"]).is_ok() {
        assert!(std::time::Instant::now() < deadline, "the server asks for no certificate");
    }
}

#[test]
fn a_server_without_tls_is_used_only_if_the_mode_allows_it() {
    let StoreLocation::Postgres(url) = lyceum_testkit::fresh_database(SCHEMA) else {
        unreachable!()
    };
    assert!(!opened(&url).unwrap());
    assert!(!opened(&format!("{url}?sslmode=prefer")).unwrap());
    let message = opened(&format!("{url}?sslmode=require")).unwrap_err().message;
    assert!(message.contains("does not support TLS"), "{message}");
}

#[test]
fn a_self_signed_certificate_is_its_own_root() {
    let files = Files { folder: tempfile::tempdir().unwrap() };
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "localhost");
    let key = KeyPair::generate().unwrap();
    let own = params.self_signed(&key).unwrap();
    files.write("own.pem", &own.pem());
    files.write("other.pem", &authority("localhost").pem());
    let cluster = Cluster::start();
    put(&cluster, "server.crt", &own.pem());
    put(&cluster, "server.key", &key.serialize_pem());
    cluster.run("ALTER SYSTEM SET ssl = on");
    cluster.run("SELECT pg_reload_conf()");
    let port = port(&cluster);
    let at = |host: &str, parameters: &str| {
        opened(&format!("postgres://postgres@{host}:{port}/postgres?{parameters}"))
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !at("localhost", "sslmode=prefer").unwrap() {
        assert!(std::time::Instant::now() < deadline, "the server takes no TLS");
    }
    let root = parameter("sslrootcert", &files.path("own.pem"));
    assert!(at("localhost", &format!("sslmode=verify-full&{root}")).unwrap());
    assert!(at("127.0.0.1", &format!("sslmode=verify-ca&{root}")).unwrap());
    at("127.0.0.1", &format!("sslmode=verify-full&{root}")).unwrap_err();
    let other = parameter("sslrootcert", &files.path("other.pem"));
    at("localhost", &format!("sslmode=verify-ca&{other}")).unwrap_err();

    // Such connections are refused that are encrypted.
    put(&cluster, "pg_hba.conf", "hostnossl all all all trust\n");
    cluster.run("SELECT pg_reload_conf()");
    while at("localhost", "sslmode=require").is_ok() {
        assert!(std::time::Instant::now() < deadline, "the server takes TLS");
    }
    assert!(!at("localhost", "sslmode=prefer").unwrap());
}

#[test]
fn a_requested_sslmode_is_never_weakened() {
    let StoreLocation::Postgres(url) = lyceum_testkit::fresh_database(SCHEMA) else {
        unreachable!()
    };
    let with_password = url.replacen('@', ":a?b@", 1);
    assert!(!opened(&with_password).unwrap(), "a password may hold a question mark");
    for (url, parameters) in [
        (&url, "sslmode=require&application_name=x@y"),
        (&url, "application_name=x@y&sslmode=require"),
        (&with_password, "sslmode=require"),
        (&url, "ssl%6Dode=require"),
    ] {
        let message = opened(&format!("{url}?{parameters}")).unwrap_err().message;
        assert!(message.contains("does not support TLS"), "{parameters}: {message}");
    }
    let (_, rest) = url.rsplit_once('@').unwrap();
    let ambiguous = format!("postgres://{rest}?sslmode=require&user=postgres&application_name=x@y");
    let message = opened(&ambiguous).unwrap_err().message;
    assert!(message.contains("%40"), "{message}");
}

#[test]
fn the_roots_of_the_system_require_a_matching_host_name() {
    let StoreLocation::Postgres(url) = lyceum_testkit::fresh_database(SCHEMA) else {
        unreachable!()
    };
    let found =
        |parameters: &str| opened(&format!("{url}?{parameters}")).unwrap_err().message.to_string();
    let without_mode = found("sslrootcert=system");
    let is_demanded = without_mode.contains("does not support TLS");
    assert!(is_demanded || without_mode.contains("contains no certificate"), "{without_mode}");
    for mode in ["disable", "prefer", "require", "verify-ca"] {
        let found = found(&format!("sslmode={mode}&sslrootcert=system"));
        assert!(found.contains("use verify-full"), "{mode}: {found}");
    }
}

#[test]
fn the_first_of_several_hosts_that_accepts_writes_is_used() {
    let StoreLocation::Postgres(url) = lyceum_testkit::fresh_database(SCHEMA) else {
        unreachable!()
    };
    let (front, name) = url.rsplit_once('/').unwrap();
    let (user, host) = front.rsplit_once('@').unwrap();
    // A host that answers nothing: its queue of connections is never looked at.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let standby = Cluster::standby();
    let standby = format!("127.0.0.1:{}", port(&standby));
    let hosts = format!("{dead},{silent},{standby},{host}");
    let ask = "connect_timeout=1&target_session_attrs";
    for value in ["read-write", "primary"] {
        opened(&format!("{user}@{hosts}/{name}?{ask}={value}")).unwrap();
    }
    let none = format!("{user}@{dead},{silent},{standby}/{name}?{ask}=read-write");
    let message = opened(&none).unwrap_err().message;
    for host in [dead.to_string(), silent.to_string(), standby.clone()] {
        assert!(message.contains(&host), "{message}");
    }
    assert!(opened(&format!("{user}@{host}/{name}?target_session_attrs=read-only")).is_err());
}
