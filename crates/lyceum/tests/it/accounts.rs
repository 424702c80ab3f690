//! Accounts of people and API keys: made on the server, used by `lyceum login`, `me` and `logout`.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use lyceum_testserver::client::{Reply, TestClient};
use serde_json::{Value, json};

use crate::served::{Served, Store, binary, on_both_stores, wait};
use crate::transcript::Place;

const PASSWORD: &str = "correct horse";
const LOGIN_MAX: Duration = Duration::from_secs(30);

/// A place for commands of somebody at home.
fn home() -> Place {
    let place = Place::new().running(binary());
    let config = place.path().join("config").display().to_string();
    let state = place.path().join("state").display().to_string();
    place.with("XDG_CONFIG_HOME", &config).with("XDG_STATE_HOME", &state)
}

/// Gives the command a password on its standard input.
fn with_password(place: &Place, typed: &str) -> (i32, String, String) {
    let mut command = place.command(typed);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{PASSWORD}\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn accounts_are_created_listed_linked_and_disabled() {
    let place = Place::new();
    let (code, link, stderr) = place.run("admin user create Ada@example.org --role administrator");
    let days = "with this link ada@example.org can set a password, once, within 3 days\n";
    assert_eq!((code, stderr.as_str()), (0, days));
    assert!(link.starts_with("http://127.0.0.1:4321/welcome?link="), "{link}");
    let typed =
        "admin user create grace@example.org --name Grace --role developer --password-stdin";
    let (code, stdout, stderr) = with_password(&place, typed);
    let created = "created the account of grace@example.org (developer)\n";
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "", created));
    assert_ne!(place.ok("admin user link ada@example.org"), link);
    place.ok("admin user disable grace@example.org");
    let table = place.ok("admin user list");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    assert_eq!(rows[0], ["account", "name", "role", "access", "state"]);
    assert_eq!(
        rows[1],
        ["ada@example.org", "Ada@example.org", "administrator", "everything", "no password yet"]
    );
    assert_eq!(rows[2][..3], ["grace@example.org", "Grace", "developer"]);
    assert!(rows[2][4].starts_with("disabled 20"), "{table}");
    let list = place.json("admin user list --json");
    assert_eq!((&list[0]["hasPassword"], &list[1]["role"]), (&json!(false), &json!("developer")));

    let (code, stderr) = place.fails("admin user create ada@example.org --role guide");
    assert_eq!(
        (code, stderr.as_str()),
        (
            5,
            "error: there is already an account for 'ada@example.org'; \
                 `lyceum admin user link` creates a link that sets its password\n"
        )
    );
    assert_eq!(place.fails("admin user create ada --role guide").0, 1);
    assert_eq!(place.fails("admin user create x@example.org --role king").0, 2);
    assert_eq!(place.fails("admin user disable nobody@example.org").0, 4);
    let short = place.fails("admin user create x@example.org --role guide --password-stdin"); // of nothing
    assert_eq!(short, (1, "error: password: must have 10 to 200 characters\n".to_owned()));
}

#[test]
fn keys_are_shown_once_listed_and_revoked() {
    let place = Place::new();
    let created = place.json("admin key create ci --env staging --project fractions --json");
    let key = created["key"].as_str().unwrap();
    assert!(key.starts_with("lk_"), "{created}");
    assert_eq!(
        (&created["name"], &created["role"], &created["environment"], &created["project"]),
        (&json!("ci"), &json!("developer"), &json!("staging"), &json!("fractions"))
    );
    let (code, stdout, stderr) = place.run("admin key create nightly --role administrator");
    assert_eq!(
        (code, stderr.as_str()),
        (
            0,
            "store the key of 'nightly' now: the server keeps only its hash. production servers accept it\n"
        )
    );
    assert!(stdout.starts_with("lk_") && stdout.ends_with('\n'));
    let table = place.ok("admin key list");
    assert!(
        !table.contains(key) && table.contains("fractions") && table.contains("never"),
        "{table}"
    );
    assert_eq!(
        place.fails("admin key create ci"),
        (5, "error: there is already a key with the name 'ci'; revoke it first\n".to_owned())
    );
    let (_, _, stderr) = place.run("admin key revoke ci");
    assert_eq!(stderr, "revoked the key 'ci'; every server refuses it at once\n");
    assert_eq!(place.fails("admin key revoke ci").0, 4);
    assert!(place.json("admin key list --json")[0]["revoked"].is_string());
}

/// A server with an account, and what its owner's browser holds.
struct School {
    served: Served,
    browser: TestClient,
    cookie: String,
}

impl School {
    fn start(store: Store) -> Self {
        let served = Served::start(store);
        let command = ["admin", "user", "create", "ada@example.org", "--name", "Ada"];
        let link = served.run(&[&command[..], &["--role", "developer"]].concat());
        let browser = TestClient::new(&served.base);
        let path = link.trim().strip_prefix(&served.base).unwrap();
        let page = browser.get(path).expect(200);
        let (_, link) = path.split_once('=').unwrap();
        let fields = [("token", &*token(&page)), ("link", link), ("password", PASSWORD)];
        let set = browser.post("/welcome").form(&fields).header("cookie", &cookie(&page));
        let cookie = cookie(&set.expect(303));
        Self { served, browser, cookie }
    }

    /// Decides about the link that `lyceum login` printed.
    fn decide(&self, link: &str, decision: &str) {
        let path = link.strip_prefix(&self.served.base).unwrap();
        let page = self.browser.get(path).header("cookie", &self.cookie).expect(200);
        let (_, code) = path.split_once('=').unwrap();
        let fields = [("token", &*token(&page)), ("user_code", code), ("decision", decision)];
        self.browser.post("/device").form(&fields).header("cookie", &self.cookie).expect(200);
    }
}

fn cookie(reply: &Reply) -> String {
    reply.header("set-cookie").split(';').next().unwrap_or_default().to_owned()
}

fn token(page: &Reply) -> String {
    let text = page.text();
    let (_, rest) = text.split_once(r#"name="token" value=""#).expect("a form with a token");
    rest.split_once('"').unwrap().0.to_owned()
}

/// Starts `lyceum login`; answers it and the line that it printed.
fn begin_login(place: &Place, flags: &str) -> (Child, String) {
    let mut command = place.command(&format!("login {flags}"));
    let mut login = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(login.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (login, line)
}

fn end_login(mut login: Child) -> (i32, String) {
    let status = wait(&mut login, LOGIN_MAX);
    let output = {
        if status.is_none() {
            login.kill().unwrap();
        }
        login.wait_with_output().unwrap()
    };
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

on_both_stores!(
    a_person_signs_in_with_a_browser_and_out,
    the_administrator_of_a_demo_signs_in_once_with_the_printed_link,
    links_have_the_address_of_the_running_server
);

fn links_have_the_address_of_the_running_server(store: Store) {
    let served = Served::start(store);
    let created = ["admin", "user", "create", "ada@example.org", "--role", "guide"];
    let address = format!("{}/welcome?link=", served.base);
    let link = served.run(&created);
    assert!(link.starts_with(&address), "{link} is not of {}", served.base);
    assert!(served.run(&["admin", "user", "link", "ada@example.org"]).starts_with(&address));
    // After a restart elsewhere, and where the command's own settings name an address.
    let served = served.restart();
    let address = format!("{}/welcome?link=", served.base);
    assert!(served.run(&["admin", "user", "link", "ada@example.org"]).starts_with(&address));
}

fn the_administrator_of_a_demo_signs_in_once_with_the_printed_link(store: Store) {
    let debug = &[("LYCEUM_SERVER__LOG_LEVEL", "debug")];
    let served = Served::prepared_with(store, &[], debug, |_| ());
    assert!(served.fails(&["demo", "link"]).contains("'demo@example.org' has no account"));
    served.run(&["admin", "user", "create", "demo@example.org", "--role", "administrator"]);
    let browser = TestClient::new(&served.base);
    let path = || {
        let link = served.run(&["demo", "link", "--quiet"]);
        link.trim().strip_prefix(&served.base).unwrap().to_owned()
    };
    let (replaced, path) = (path(), path());
    browser.get(&replaced).expect(404);
    browser.get(&path.replace("/console/enter", "/welcome")).expect(404);
    let entered = browser.get(&path).expect(303);
    assert_eq!(entered.header("location"), "/console");
    let page = browser.get("/console").header("cookie", &cookie(&entered)).expect(200);
    assert!(page.text().contains("demo@example.org"), "{}", page.text());
    browser.get(&path).expect(404);
    let log = std::fs::read_to_string(served.file("server.log")).unwrap();
    let (_, secret) = path.split_once('=').unwrap();
    assert!(log.contains("/console/enter") && !log.contains(secret), "{log}");
}

fn a_person_signs_in_with_a_browser_and_out(store: Store) {
    let school = School::start(store);
    let place = home();
    let nobody = "error: you are not signed in to production\n\
                  hint: run `lyceum login --env production`, or set LYCEUM_URL and LYCEUM_API_KEY\n";
    assert_eq!(place.fails("me --env production"), (3, nobody.to_owned()));
    assert_eq!(place.fails("login --env production").0, 2);

    // A server says by itself which environment it is.
    let url = format!("--server {}/", school.served.base);
    let (login, printed) = begin_login(&place, &url);
    let words: Vec<&str> = printed.split_whitespace().collect();
    let (link, code) = (words[1], words[words.len() - 1]);
    assert_eq!(printed, format!("Open {link} in a browser and compare the code: {code}\n"));
    assert!(link.ends_with(code) && code.len() == 9, "{printed}");
    school.decide(link, "approve");
    let done = "signed in to production as ada@example.org (developer)\n";
    assert_eq!(end_login(login), (0, done.to_owned()));

    let file = place.path().join("config/lyceum/profiles.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(file.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let me = place.ok("me --env production");
    assert!(me.starts_with("name         Ada\nemail        ada@example.org\n"), "{me}");
    assert!(me.contains("environment  production\n"), "{me}");
    assert_eq!(place.json("me --env production --json")["role"], "developer");
    let row = place.json("profiles --json")[0].clone();
    assert_eq!(
        row,
        json!({ "profile": "default", "env": "production", "email": "ada@example.org",
        "url": school.served.base })
    );
    assert!(!place.ok("profiles").contains("lu_"));
    let elsewhere = "error: you are not signed in to staging\n\
                     hint: use --env production, run `lyceum login --env staging`, or set LYCEUM_URL \
                     and LYCEUM_API_KEY\n";
    assert_eq!(place.fails("me"), (3, elsewhere.to_owned()));

    let (code, _, stderr) = place.run("logout --env production");
    assert_eq!((code, stderr.as_str()), (0, "signed out of production\n"));
    assert_eq!(place.fails("me --env production").0, 3);
    assert_eq!(place.fails("logout --env production").0, 3);
    assert!(!std::fs::read_to_string(&file).unwrap().contains("lu_"));
}

#[test]
fn a_refusal_and_a_wrong_server_are_reported() {
    let school = School::start(Store::Sqlite);
    let place = home();
    let url = format!("--env production --json --url {}", school.served.base);
    let (login, line) = begin_login(&place, &url);
    let waiting: Value = serde_json::from_str(&line).unwrap();
    school.decide(waiting["link"].as_str().unwrap(), "deny");
    let refused = "error: the sign-in was refused in the browser\n";
    assert_eq!(end_login(login), (3, refused.to_owned()));

    let staging = format!("login --env staging --url {}", school.served.base);
    let (code, stderr) = place.fails(&staging);
    let wrong = "error: the server's environment is 'production', but --env is 'staging'\n\
                 hint: use --env production, or another address with --server\n";
    assert_eq!((code, stderr.as_str()), (5, wrong));
    let (code, stderr) = place.fails("login --server http://127.0.0.1:1");
    assert_eq!(code, 1);
    assert!(stderr.contains("cannot reach"), "{stderr}");
    assert!(stderr.contains("set another address with --server"), "{stderr}");
    let (_, _, stderr) = place.run("login --env local");
    assert_eq!(stderr, "a sandbox needs no sign-in\n");
}

#[test]
fn a_key_and_an_address_replace_a_profile() {
    let served = Served::start(Store::Sqlite);
    let key = served.run(&["admin", "key", "create", "ci"]);
    let staging = served.run(&["admin", "key", "create", "other", "--env", "staging"]);
    let ci = home().with("LYCEUM_URL", &served.base).with("LYCEUM_API_KEY", key.trim());
    let me = ci.json("me --env production --json");
    assert_eq!(
        (&me["kind"], &me["name"], &me["email"]),
        (&json!("key"), &json!("ci"), &Value::Null)
    );
    assert_eq!(ci.fails("me").0, 5, "the server is not the one that --env names");
    let wrong = home().with("LYCEUM_URL", &served.base).with("LYCEUM_API_KEY", staging.trim());
    let (code, stderr) = wrong.fails("me --env production");
    assert_eq!(code, 3);
    assert!(stderr.contains("the key belongs to another environment"), "{stderr}");
    served.run(&["admin", "key", "revoke", "ci"]);
    assert_eq!(ci.fails("me --env production").0, 3);
    let keyless = home().with("LYCEUM_URL", &served.base);
    let (code, stderr) = keyless.fails("me --env production");
    assert!(
        code == 3 && stderr.contains(&format!("no credentials are set for {}", served.base)),
        "{stderr}"
    );
    assert!(stderr.contains("`lyceum admin key create NAME`"), "{stderr}");
}
