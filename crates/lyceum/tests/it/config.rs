//! `lyceum config`, and what every command says about wrong settings.

use crate::transcript::Place;

/// The value of a setting and where it came from.
fn setting(place: &Place, flags: &str, name: &str) -> (String, String) {
    let settings = place.json(&format!("config --json {flags}"));
    let found = settings.as_array().unwrap().iter().find(|entry| entry["setting"] == name).unwrap();
    let text = |member: &str| found[member].as_str().unwrap().to_owned();
    (text("value"), text("from"))
}

#[test]
fn each_layer_of_settings_overrides_the_one_before() {
    let default = Place::new();
    let key = "store.data";
    assert_eq!(setting(&default, "", key), ("\"lyceum-data\"".into(), "default".into()));
    let place = Place::new().with("LYCEUM_SERVER__WORKERS", "3");
    place.write(
        "lyceum.toml",
        "[store]\ndata = 'from-file'\n[server]\nworkers = 2\nenv = 'staging'\n",
    );
    let file = "--config lyceum.toml";
    assert_eq!(setting(&place, file, key), ("\"from-file\"".into(), "lyceum.toml:2".into()));
    assert_eq!(
        setting(&place, file, "server.workers"),
        ("3".into(), "LYCEUM_SERVER__WORKERS".into())
    );
    assert_eq!(setting(&place, file, "server.env").1, "lyceum.toml:5");
    let flags = "--config lyceum.toml --data from-flag";
    assert_eq!(setting(&place, flags, key), ("\"from-flag\"".into(), "--data".into()));
}

#[test]
fn settings_are_listed_as_a_table() {
    let place = Place::new().with("LYCEUM_ROSTER__ALLOCATE_MISSING_IDS", "true");
    let table = place.ok("config");
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap();
    let words: Vec<_> = line("roster.allocate_missing_ids").split_whitespace().collect();
    let expected = ["roster.allocate_missing_ids", "true", "LYCEUM_ROSTER__ALLOCATE_MISSING_IDS"];
    assert_eq!(words, expected);
    assert!(table.starts_with("setting "));
}

#[test]
fn the_default_settings_can_be_printed_and_used_as_a_file() {
    let place = Place::new();
    let defaults = place.ok("config --default");
    assert!(defaults.starts_with("# All settings of Lyceum"));
    place.write("lyceum.toml", &defaults);
    let [was, is] =
        ["config --json", "config --json --config lyceum.toml"].map(|line| place.json(line));
    for (was, is) in was.as_array().unwrap().iter().zip(is.as_array().unwrap()) {
        assert_eq!((&was["setting"], &was["value"]), (&is["setting"], &is["value"]));
    }
}

#[test]
fn secrets_are_not_shown() {
    let place = Place::new()
        .with("LYCEUM_KEYS__MASTER", &"5e".repeat(32))
        .with("LYCEUM_STORE__DATABASE", "postgres://u:hunter2@h/d");
    let shown = place.ok("config") + &place.ok("config --json");
    assert!(!shown.contains("5e5e") && !shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("[redacted]"));
}

#[test]
fn a_wrong_setting_stops_every_command_before_it_does_anything() {
    let place = Place::new().with("LYCEUM_SERVER__LISTNE", "x");
    let stderr = "error: LYCEUM_SERVER__LISTNE: 'server.listne' is not a setting\n\
                hint: did you mean LYCEUM_SERVER__LISTEN?\n";
    for line in ["serve", "client list", "client create x", "admin check", "config"] {
        assert_eq!(place.fails(line), (2, stderr.to_owned()), "{line}");
    }
    assert!(place.path().read_dir().unwrap().next().is_none(), "nothing was made");
}

#[test]
fn an_error_in_a_settings_file_is_reported_with_its_line() {
    let place = Place::new();
    place.write("lyceum.toml", "[server]\n# how many\nworkers = \"two\"\n");
    let stderr = "error: lyceum.toml:3: 'server.workers' must be a whole number, not \"two\"\n";
    assert_eq!(place.fails("config --config lyceum.toml"), (2, stderr.to_owned()));
    let (code, stderr) = place.fails("config --config missing.toml");
    assert!(
        stderr.starts_with(
            "error: missing.toml:1: the settings file cannot be read: it does not exist"
        ),
        "{stderr}"
    );
    assert_eq!(code, 2);
    let stderr =
        "error: --listen: 'server.listen': must be HOST:PORT such as 127.0.0.1:8080: got '4321'\n";
    assert_eq!(place.fails("serve --listen 4321"), (2, stderr.to_owned()));
}

#[test]
fn a_wrong_master_key_or_level_is_reported_with_its_source() {
    let place = Place::new().with("LYCEUM_KEYS__MASTER", "short");
    let stderr = "error: LYCEUM_KEYS__MASTER: 'keys.master' must be 64 hex digits or base64 of 32 \
                bytes\nhint: create one with `openssl rand -hex 32`\n";
    place.ok("client create x");
    assert_eq!(place.fails("admin rotate-keys"), (2, stderr.to_owned()));
    let place = Place::new().with("LYCEUM_SERVER__LOG_LEVEL", "a=b=c");
    let (code, stderr) = place.fails("serve --listen 127.0.0.1:0");
    assert!(
        stderr.starts_with("error: LYCEUM_SERVER__LOG_LEVEL: 'server.log_level': "),
        "{stderr}"
    );
    assert_eq!(code, 2);
}
