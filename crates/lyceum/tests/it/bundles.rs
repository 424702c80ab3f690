//! `lyceum debug bundle`: what is in it, and that no secret is.

use std::fmt::Write;
use std::fs::File;
use std::io::Read;

use zip::ZipArchive;

use crate::transcript::Place;

/// Each in another place, none to be seen by strangers.
const SECRETS: [(&str, &str); 9] = [
    ("a setting", "master-0123456789abcdef"),
    ("a password in an address", "pg-pass"),
    ("a secret of the project", "hunter2"),
    ("a secret of development", "dev-only"),
    ("a variable", "from-the-variable"),
    ("a client secret of another platform", "tracking-secret"),
    ("a literal in the config", "sk_live_51HvQ2eKx8"),
    ("a header in the log", "eyJhbGciOiJFZERTQSJ9"),
    ("a query in the log", "in-the-query"),
];

#[test]
#[ignore = "rest"]
fn a_support_bundle_is_useful_and_contains_no_secrets() {
    let value = |what: &str| SECRETS.iter().find(|(name, _)| *name == what).unwrap().1;
    let place = Place::new()
        .with("LYCEUM_API_KEY", value("a variable"))
        .with("TRACKING_API_CLIENT_SECRET", value("a client secret of another platform"))
        .with("LYCEUM_ADMIN__EMAIL", "ada@example.org")
        .with("LYCEUM_ADMIN__PASSWORD", value("a setting"));
    let address = format!("postgres://ada:{}@127.0.0.1:1/none", value("a password in an address"));
    place.write(".env", &format!("GREETING={}\n", value("a secret of the project")));
    place.write(".env.local", &format!("OTHER={}\n", value("a secret of development")));
    let literal = value("a literal in the config");
    place.write(
        "lyceum.config.js",
        &format!("export default {{ name: 'Word Rivers', description: '{literal}' }};\n"),
    );
    let mut log = String::new();
    for number in 0..600 {
        let _ = writeln!(log, "line {number} GET /health 200");
    }
    let header = value("a header in the log");
    let _ = write!(
        log,
        "Authorization: Bearer {header}\nGET /a?token={}\n",
        value("a query in the log")
    );
    let _ = writeln!(log, "it greets with {}", value("a secret of the project"));
    place.write("server.log", &log);
    let line = format!("debug bundle --log server.log --database {address}");
    let stdout = place.ok(&line);
    let mut zip =
        ZipArchive::new(File::open(place.path().join("lyceum-debug.zip")).unwrap()).unwrap();
    let mut all = String::new();
    let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    for name in &names {
        assert!(stdout.contains(name), "{name}: {stdout}");
        let mut text = String::new();
        zip.by_name(name).unwrap().read_to_string(&mut text).unwrap();
        let _ = write!(all, "== {name}\n{text}");
    }
    assert_eq!(
        names,
        ["versions.txt", "doctor.txt", "settings.txt", "log.txt", "lyceum.config.js"]
    );
    for (what, secret) in SECRETS {
        assert!(!all.contains(secret) && !stdout.contains(secret), "{what}: {all}");
    }
    for kept in [
        concat!("lyceum   ", env!("CARGO_PKG_VERSION")),
        "database    failed",
        "server.listen",
        "ada@example.org",
        "line 599 GET /health 200",
        "name: 'Word Rivers'",
    ] {
        assert!(all.contains(kept), "{kept}: {all}");
    }
    assert!(!all.contains("line 50 GET"), "only the end of the log");

    let listed = place.json(&format!("{line} -o other.zip --json"));
    assert_eq!(
        (&listed["file"], listed["entries"].as_array().unwrap().len()),
        (&"other.zip".into(), 5)
    );
    assert_eq!(place.fails("debug bundle --log none").0, 4);
    // Broken settings are a reason for a report.
    let broken = Place::new().with("LYCEUM_SERVER__NONSENSE", "1");
    assert!(broken.ok("debug bundle").contains("settings.txt"));
}
