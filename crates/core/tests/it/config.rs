//! Layers, origins and what a wrong setting is told.

use std::io::Write;
use std::path::Path;

use lyceum_core::config::{Environment, FlagValue, LogFormat, SettingOrigin, load};
use lyceum_core::limits;

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// The error's text with the file's name taken out, and its hint.
fn refusal(text: &str, pairs: &[(&str, &str)], flags: &[FlagValue]) -> (String, Option<String>) {
    let file = file(text);
    let error = load(Some(file.path()), variables(pairs), flags).unwrap_err();
    (error.to_string().replace(&file.path().display().to_string(), "FILE"), error.hint)
}

fn flag(flag: &'static str, key: &'static str, value: &str) -> FlagValue {
    FlagValue { flag, key, value: value.to_owned() }
}

#[test]
fn later_layers_win() {
    let file =
        file("[server]\nlisten = 'a:1'\nworkers = 3\nlog_format = 'json'\nenv = 'staging'\n");
    let pairs = [("LYCEUM_SERVER__LISTEN", "b:2"), ("LYCEUM_SERVER__WORKERS", "4"), ("HOME", "/")];
    let flags = [flag("--listen", "server.listen", "c:3")];
    let loaded = load(Some(file.path()), variables(&pairs), &flags).unwrap();
    let server = &loaded.config.server;
    assert_eq!((server.listen.as_str(), server.workers), ("c:3", 4));
    assert_eq!((server.log_format, server.env), (LogFormat::Json, Environment::Staging));
    assert_eq!(*loaded.origin("server.listen"), SettingOrigin::Flag("--listen"));
    assert_eq!(loaded.origin("server.workers").to_string(), "LYCEUM_SERVER__WORKERS");
    assert_eq!(*loaded.origin("server.log_format"), SettingOrigin::File(file.path().to_owned(), 4));
    assert_eq!(*loaded.origin("server.keep_alive_s"), SettingOrigin::Default);
}

#[test]
fn defaults_agree_with_the_limits() {
    let config = load(None, [], &[]).unwrap().config;
    assert_eq!(config.server.body_max_bytes, limits::BODY_MAX_BYTES);
    assert_eq!(config.server.connections, limits::CONNECTIONS_MAX_COUNT);
    let per_address = limits::CONNECTIONS_PER_ADDRESS_MAX_COUNT;
    assert_eq!(config.server.connections_per_address, per_address);
    assert_eq!(config.store.sqlite_mmap_bytes, limits::SQLITE_MMAP_BYTES);
    assert_eq!(config.store.postgres_connections, limits::POSTGRES_CONNECTIONS);
    assert_eq!(config.public_url(), "http://127.0.0.1:4321");
    assert!(!config.roster.allocate_missing_ids);
    assert_eq!(config.server.env, Environment::Production);
}

#[test]
fn the_public_address_follows_the_listener() {
    let url =
        |pairs: &[(&str, &str)]| load(None, variables(pairs), &[]).unwrap().config.public_url();
    assert_eq!(url(&[("LYCEUM_SERVER__LISTEN", "0.0.0.0:80")]), "http://localhost:80");
    assert_eq!(url(&[("LYCEUM_SERVER__LISTEN", "[::]:80")]), "http://localhost:80");
    assert_eq!(
        url(&[("LYCEUM_SERVER__PUBLIC_URL", "https://a.test/base/")]),
        "https://a.test/base"
    );
    let tls = [("LYCEUM_TLS__CERTIFICATE", "c.pem"), ("LYCEUM_TLS__KEY", "k.pem")];
    assert_eq!(url(&tls), "https://127.0.0.1:4321");
}

#[test]
fn variables_may_contain_lists_and_test_variables_are_ignored() {
    let pairs = [
        ("LYCEUM_SERVER__TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
        ("LYCEUM_TEST_ANYTHING", "x"),
        ("LYCEUM_BIN", "x"),
        ("LYCEUM_STANDARDS", "x"),
        ("LYCEUM_REQUIRE_STANDARDS", "1"),
    ];
    let proxies = load(None, variables(&pairs), &[]).unwrap().config.server.trusted_proxies;
    let trusted = |address: &str| proxies.iter().any(|net| net.contains(address.parse().unwrap()));
    assert!(trusted("10.255.1.2") && trusted("::1") && trusted("::ffff:10.0.0.1"));
    assert!(!trusted("11.0.0.1") && !trusted("::2"));
}

#[test]
fn unknown_names_are_refused_with_the_nearest_known_name() {
    let did = |name: &str| Some(format!("did you mean {name}?"));
    assert_eq!(
        refusal("[server]\n\nlistne = 'a:1'", &[], &[]),
        ("FILE:3: 'server.listne' is not a setting".into(), did("'server.listen'")),
    );
    assert_eq!(
        refusal("[server]\ndata = 'x'", &[], &[]),
        ("FILE:2: 'server.data' is not a setting".into(), did("'store.data'")),
    );
    assert_eq!(
        refusal("listen = 'a:1'", &[], &[]),
        ("FILE:1: 'listen' is outside of a section".into(), did("'server.listen'")),
    );
    assert_eq!(
        refusal("", &[("LYCEUM_ROSTER__ALOCATE_MISSING_IDS", "true")], &[]),
        (
            "LYCEUM_ROSTER__ALOCATE_MISSING_IDS: 'roster.alocate_missing_ids' is not a setting"
                .into(),
            did("LYCEUM_ROSTER__ALLOCATE_MISSING_IDS"),
        ),
    );
    assert_eq!(
        refusal("", &[("LYCEUM_LISTEN", "a:1")], &[]),
        (
            "LYCEUM_LISTEN: no setting has this name; names have the form LYCEUM_<SECTION>__<KEY>"
                .into(),
            did("LYCEUM_SERVER__LISTEN"),
        ),
    );
    let (message, hint) = refusal("[zoo]\nelephant = 1", &[], &[]);
    assert_eq!((message.as_str(), hint), ("FILE:2: 'zoo.elephant' is not a setting", None));
}

#[test]
fn invalid_values_are_refused_with_their_location() {
    let message_of = |text: &str, pairs: &[(&str, &str)]| refusal(text, pairs, &[]).0;
    assert_eq!(
        message_of("[server]\nworkers = 'many'", &[]),
        "FILE:2: 'server.workers' must be a whole number, not \"many\"",
    );
    assert_eq!(
        message_of("", &[("LYCEUM_SERVER__COMPRESSION", "yes")]),
        "LYCEUM_SERVER__COMPRESSION: 'server.compression' must be true or false, not \"yes\"",
    );
    assert_eq!(
        message_of("", &[("LYCEUM_SERVER__LOG_FORMAT", "xml")]),
        "LYCEUM_SERVER__LOG_FORMAT: 'server.log_format': \
         unknown variant `xml`, expected `text` or `json`",
    );
    assert_eq!(
        refusal("", &[], &[flag("--listen", "server.listen", "4321")]).0,
        "--listen: 'server.listen': must be HOST:PORT such as 127.0.0.1:8080: got '4321'",
    );
    assert_eq!(
        message_of("", &[("LYCEUM_SERVER__TRUSTED_PROXIES", "10.0.0.0/33")]),
        "LYCEUM_SERVER__TRUSTED_PROXIES: 'server.trusted_proxies': must be an IP address or a \
         network such as 10.0.0.0/8: got '10.0.0.0/33'",
    );
    assert_eq!(
        message_of("[store]\npostgres_connections = 0", &[]),
        "FILE:2: 'store.postgres_connections': must be above 0",
    );
    assert_eq!(
        message_of("[metrics]\naddress = '9464'", &[]),
        "FILE:2: 'metrics.address': must be HOST:PORT such as 127.0.0.1:8080: got '9464'",
    );
    assert!(
        message_of("[server]\nworkers = -1", &[])
            .starts_with("FILE:2: 'server.workers': invalid value")
    );
    assert!(message_of("[server\n", &[]).starts_with("FILE:1: "));
    let missing = load(Some(Path::new("no/such.toml")), [], &[]).unwrap_err().to_string();
    assert!(missing.starts_with("no/such.toml:1: the settings file cannot be read: "), "{missing}");
}

#[test]
fn a_certificate_needs_its_key() {
    assert_eq!(
        refusal("[tls]\nkey = 'k.pem'", &[], &[]),
        (
            "FILE:2: 'tls.key' is set, but 'tls.certificate' is not".into(),
            Some("set both, or neither for plain HTTP".into()),
        ),
    );
}

#[test]
fn a_read_replica_needs_a_database() {
    assert_eq!(
        refusal("[store]\nread_replica = 'postgres://u@h/d'", &[], &[]),
        (
            "FILE:2: 'store.read_replica' is set, but 'store.database' is not".into(),
            Some("only PostgreSQL has read replicas; remove the setting for SQLite".into()),
        ),
    );
}

#[test]
fn secrets_are_never_shown() {
    let pairs = [
        ("LYCEUM_STORE__DATABASE", "postgres://u:hunter2@h/d"),
        ("LYCEUM_STORE__READ_REPLICA", "postgres://u:hunter2@h/d"),
        ("LYCEUM_KEYS__MASTER", "hunter2"),
        ("LYCEUM_TELEMETRY__HEADERS", "authorization=hunter2"),
    ];
    let loaded = load(None, variables(&pairs), &[]).unwrap();
    assert!(!format!("{loaded:?}").contains("hunter2"));
    let shown = loaded.effective();
    assert!(shown.iter().all(|(_, value, _)| !value.contains("hunter2")));
    let (_, value, origin) = shown.iter().find(|(key, ..)| key == "keys.master").unwrap();
    assert_eq!(
        (value.as_str(), origin.to_string().as_str()),
        ("[redacted]", "LYCEUM_KEYS__MASTER")
    );
    let (message, _) = refusal("", &[("LYCEUM_STORE__DATABASE", "mysql://u:hunter2@h")], &[]);
    assert_eq!(
        message,
        "LYCEUM_STORE__DATABASE: 'store.database': must be an address such as \
         postgres://user:password@host/database",
    );
    assert!(!refusal("[keys]\nmaster = 42", &[], &[]).0.contains("42"));
    let endpoint = ("LYCEUM_TELEMETRY__ENDPOINT", "http://ann:hunter2@collector:4318");
    let (message, _) = refusal("", &[endpoint], &[]);
    assert_eq!(
        message,
        "LYCEUM_TELEMETRY__ENDPOINT: 'telemetry.endpoint': must not contain a user name or password; set \
         telemetry.headers instead",
    );
}

#[test]
fn secrets_come_from_files() {
    let name = "LYCEUM_STORE__DATABASE_FILE";
    let secret = file("postgres://lyceum:hidden@db/lyceum\n");
    let path = secret.path().to_str().unwrap();
    let loaded = load(None, variables(&[(name, path)]), &[]).unwrap();
    let database = loaded.config.store.database.as_ref().unwrap();
    assert_eq!(database.reveal(), "postgres://lyceum:hidden@db/lyceum");
    let shown = loaded.effective().into_iter().find(|(key, ..)| key == "store.database").unwrap();
    assert_eq!((shown.1.as_str(), shown.2.to_string().as_str()), ("[redacted]", name));

    let both = [(name, path), ("LYCEUM_STORE__DATABASE", "postgres://other/lyceum")];
    assert_eq!(
        refusal("", &both, &[]),
        (
            format!("{name}: 'store.database' is set by LYCEUM_STORE__DATABASE, too"),
            Some("set only one of the two variables".to_owned())
        )
    );
    let (message, _) = refusal("", &[(name, "/nowhere/secret")], &[]);
    assert!(message.contains("'/nowhere/secret' cannot be read"), "{message}");
    let two = file("one\ntwo\n");
    let (message, _) = refusal("", &[(name, two.path().to_str().unwrap())], &[]);
    assert!(message.ends_with("must contain one line: the secret"), "{message}");
    let (message, _) = refusal("", &[("LYCEUM_SERVER__LISTEN_FILE", path)], &[]);
    assert!(message.contains("'server.listen_file' is not a setting"), "{message}");
}
