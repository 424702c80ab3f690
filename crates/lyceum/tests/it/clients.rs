//! `lyceum client`

use serde_json::{Value, json};

use crate::transcript::Place;

#[test]
fn a_client_is_created_and_its_secret_shown_once() {
    let place = Place::new();
    let (code, stdout, stderr) = place.run("client create Reports");
    assert_eq!(
        (code, stderr.as_str()),
        (0, "store the secret now: the server keeps only its hash\n")
    );
    let words: Vec<_> = stdout.split_whitespace().collect();
    let [id, secret] = [words[1], words[3]];
    assert_eq!(stdout, format!("id      {id}\nsecret  {secret}\n"));
    assert!(id.starts_with("lc_") && secret.starts_with("ls_"), "{stdout}");
    assert!(!place.ok("client list --json").contains(secret));
    assert!(place.path().join("lyceum-data/lyceum.db").is_file());
}

#[test]
fn json_output_has_every_field_of_a_client() {
    let place = Place::new();
    let mut created = place.json(
        "client create Reports --id reports --secret 0123456789abcdef --dialect standard --json \
         --scope lyceum/roster.read --scope lyceum/gradebook.write --origin https://app.test \
         --requests-per-second 5",
    );
    assert!(created["created"].take().as_str().unwrap().ends_with('Z'));
    let expected = json!({
        "id": "reports",
        "name": "Reports",
        "dialect": "standard",
        "scopes": ["lyceum/roster.read", "lyceum/gradebook.write"],
        "origins": ["https://app.test"],
        "requestsPerSecond": 5,
        "oauth1": false,
        "created": null,
        "revoked": null,
        "organizations": null,
        "teacher": null,
        "secret": "0123456789abcdef",
    });
    assert_eq!(created, expected);
}

#[test]
fn clients_are_listed() {
    let place = Place::new();
    place.ok("client create Reports --id reports --scope lyceum/roster.read");
    place.ok("client create Sync --id sync --dialect standard");
    place.ok("client revoke reports");
    let table = place.ok("client list");
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows[0],
        ["id", "name", "dialect", "scopes", "access", "oauth1", "created", "state"]
    );
    assert_eq!(rows[1][..4], ["reports", "Reports", "platform", "lyceum/roster.read"]);
    assert_eq!(rows[1][7], "revoked");
    assert_eq!(rows[2][..6], ["sync", "Sync", "standard", "all", "everything", "no"]);
    assert_eq!(rows[2][7], "active");
    let list = place.json("client list --json");
    assert_eq!(list[0]["revoked"].as_str().map(str::len), Some(24));
    assert_eq!(list[1]["revoked"], Value::Null);
}

#[test]
fn clients_keys_and_accounts_are_limited_to_organizations() {
    let place = Place::new();
    place.ok("demo generate --complete --students 20 --seed 3 --out network.zip");
    place.ok("import network.zip");
    place.ok("client create Reports --id reports --organization org-d001");
    assert_eq!(place.json("client list --json")[0]["organizations"], json!(["org-d001"]));
    let (_, _, stderr) =
        place.run("client limit reports --organization org-d001 --organization org-d001-s001");
    let limited = "the client 'reports' has access to the organizations 'org-d001', 'org-d001-s001' and all below \
                   them; every server applies it within 5 s\n";
    assert_eq!(stderr, limited);
    let dry = place.ok("client limit reports --everything --dry-run");
    assert_eq!(dry, "limit the client 'Reports'\n");
    assert_eq!(place.json("client list --json")[0]["organizations"].as_array().unwrap().len(), 2);
    place.run("client limit reports --everything");
    assert_eq!(place.json("client list --json")[0]["organizations"], Value::Null);
    let unknown = place.fails("client limit reports --organization nowhere");
    let message = "error: organization: there is no org with the sourcedId 'nowhere'";
    assert!(unknown.0 == 1 && unknown.1.starts_with(message), "{}", unknown.1);
    assert_eq!(place.fails("client limit nobody --everything").0, 4);
    assert_eq!(place.fails("client limit reports").0, 2);

    place.ok("admin user create gil@example.org --role guide --organization org-d001-s001");
    let account = |field: &str| place.json("admin user list --json")[0][field].clone();
    assert_eq!(account("organizations"), json!(["org-d001-s001"]));
    place.run("admin user limit gil@example.org --teacher teacher-d001-s001-001");
    assert_eq!(
        (account("organizations"), account("teacher")),
        (Value::Null, json!("teacher-d001-s001-001"))
    );
    assert_eq!(place.fails("admin user limit gil@example.org --teacher nobody").0, 1);
    place.ok("admin user create ada@example.org --role administrator");
    let administrator = "admin user limit ada@example.org --organization org-d001-s001";
    assert_eq!(place.fails(administrator).0, 1);

    place.ok("admin key create ci --role guide --organization org-d001-s001");
    place.run("admin key limit ci --organization org-d001");
    assert_eq!(place.json("admin key list --json")[0]["organizations"], json!(["org-d001"]));
}

#[test]
fn a_secret_is_rotated() {
    let place = Place::new();
    let first = place.json("client create Reports --id reports --json");
    let second = place.json("client rotate reports --json");
    assert_ne!(first["secret"], second["secret"]);
    let (code, stdout, stderr) =
        place.run("client rotate reports --secret 0123456789abcdef --keep-old 0");
    assert_eq!((code, stdout.as_str()), (0, "id      reports\nsecret  0123456789abcdef\n"));
    assert!(stderr.ends_with("the former secret is no longer valid\n"), "{stderr}");
    let (_, _, stderr) = place.run("client rotate reports");
    assert!(stderr.ends_with("the former secret stays valid for 24 h\n"), "{stderr}");
}

#[test]
fn a_client_that_signs_requests_has_a_second_secret() {
    let place = Place::new();
    let (code, stdout, stderr) = place.run("client create Old --id old --oauth1");
    assert_eq!(code, 0, "{stderr}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[0], "id              old");
    let secrets: Vec<&str> =
        lines[1..].iter().map(|line| line.split_whitespace().last().unwrap()).collect();
    assert!(lines[1].starts_with("secret          ls_"), "{stdout}");
    assert!(lines[2].starts_with("signing secret  ls_"), "{stdout}");
    assert_ne!(secrets[0], secrets[1]);
    assert_eq!(stderr, "store the secrets now: the server does not show them again\n");

    let rotated = place.json("client rotate old --json");
    assert_eq!(rotated["oauth1"], true);
    for (name, former) in [("secret", secrets[0]), ("signingSecret", secrets[1])] {
        let new = rotated[name].as_str().unwrap();
        assert!(new.starts_with("ls_") && new != former, "{rotated}");
    }
    place.ok("client create Plain --id plain");
    assert_eq!(place.json("client rotate plain --json")["signingSecret"], Value::Null);
    let list = place.json("client list --json");
    assert_eq!([&list[0]["oauth1"], &list[1]["oauth1"]], [&Value::Bool(true), &false.into()]);
}

#[test]
fn failures_have_an_exit_code_and_a_remedy() {
    let place = Place::new();
    assert_eq!(
        place.fails("client list"),
        (
            4,
            "error: there is no database in 'lyceum-data'\n\
             hint: choose its folder with --data; `serve`, `import` and `client create` create a new one\n"
                .to_owned(),
        ),
    );
    assert!(place.path().read_dir().unwrap().next().is_none(), "nothing was made");
    place.ok("client create x --id x");
    let taken = (5, "error: the client id 'x' is taken\n".to_owned());
    assert_eq!(place.fails("client create y --id x"), taken);
    for line in ["client rotate nobody", "client revoke nobody"] {
        assert_eq!(place.fails(line), (4, "error: there is no client 'nobody'\n".to_owned()));
    }
    place.ok("client revoke x");
    let revoked = (5, "error: the client 'x' is revoked; create a new one\n".to_owned());
    assert_eq!(place.fails("client rotate x"), revoked);
    let short = "error: secret: must have 16 to 1024 printable ASCII characters\n";
    assert_eq!(place.fails("client create z --secret short"), (1, short.to_owned()));
}

#[test]
fn with_quiet_only_the_answer_is_printed() {
    let (code, stdout, stderr) = Place::new().run("client create x --quiet");
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with("id      lc_"));
}
