//! `lyceum serve` as a process: start, answer, stop; commands beside it.

use lyceum_http::limits;
use lyceum_store::StoreLocation;
use lyceum_testkit::fresh_database;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::transcript::Place;

/// The time that each step may take.
const PATIENCE: Duration = Duration::from_secs(20);

struct Server {
    process: Child,
    address: String,
    greeting: String,
    log: Arc<Mutex<String>>,
}

impl Server {
    /// Starts a server on a free port and waits for its greeting.
    fn start(place: &Place, flags: &str) -> Self {
        let mut command = place.command(&format!("serve --listen 127.0.0.1:0 {flags}"));
        let mut process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let greeting = lines
            .by_ref()
            .map(Result::unwrap)
            .find(|line| line.starts_with("Lyceum "))
            .expect("the server greets before it ends");
        // The rest is read on, so that the server never waits for its log to be read.
        let log = Arc::<Mutex<String>>::default();
        let read = Arc::clone(&log);
        std::thread::spawn(move || {
            lines.for_each(|line| *read.lock().unwrap() += &(line.unwrap() + "\n"));
        });
        let address = greeting.split("http://").nth(1).unwrap().split(' ').next().unwrap();
        Self { process, address: address.to_owned(), greeting, log }
    }

    /// Sends one request, with lines of headers where the first line ends; answers status and body.
    fn request(&self, head: &str, body: &str) -> (u16, String) {
        let (first, headers) = head.split_once('\n').unwrap_or((head, ""));
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{first} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n{}\r\n{body}",
            self.address,
            if headers.is_empty() { String::new() } else { format!("{headers}\r\n") }
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    fn token(&self, id: &str, secret: &str) -> (u16, Value) {
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
        let (status, body) = self.request("POST /oauth2/token", &form);
        (status, serde_json::from_str(&body).unwrap())
    }

    /// The status of a read with a token.
    fn read_status(&self, token: &str) -> u16 {
        let head = format!("GET /ims/oneroster/rostering/v1p2/orgs\nAuthorization: Bearer {token}");
        self.request(&head, "").0
    }

    /// Asks the process to stop; answers its exit code.
    fn stop(mut self) -> Option<i32> {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn places() -> [Place; 2] {
    let StoreLocation::Postgres(url) = fresh_database(&[]) else {
        unreachable!("a PostgreSQL database")
    };
    [Place::new(), Place::new().with("LYCEUM_STORE__DATABASE", &url)]
}

#[test]
fn a_server_starts_answers_and_stops() {
    for place in places() {
        let server = Server::start(&place, "--env staging");
        assert!(server.greeting.contains("(staging, "), "{}", server.greeting);
        let (status, body) = server.request("GET /health", "");
        assert_eq!(status, 200, "{body}");
        assert_eq!(server.request("GET /ready", "").0, 200);
        assert_eq!(server.stop(), Some(0));
    }
}

#[test]
fn a_server_without_workerd_starts_with_a_warning() {
    let place = Place::new();
    let starts = |path: Option<&str>| {
        let mut command = place.command("serve --listen 127.0.0.1:0");
        if let Some(path) = path {
            // The program itself lies beside the packages of the tests.
            let program = place.path().join("lyceum");
            std::fs::copy(command.get_program(), &program).unwrap();
            command = Command::new(program);
            command.args(["serve", "--listen", "127.0.0.1:0"]).env_clear().env("PATH", path);
            command.current_dir(place.path());
        }
        let mut process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let warned: Vec<String> = lines
            .take_while(|line| !line.starts_with("Lyceum "))
            .filter(|line| line.contains("workerd was not found"))
            .collect();
        process.kill().unwrap();
        process.wait().unwrap();
        warned
    };
    let warned = starts(Some(""));
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("npm install --save-dev workerd"), "{warned:?}");
    assert_eq!(starts(None), [""; 0]);
}

/// The output of a server at its start up to the line that begins so; none if it is ready before.
fn says(place: &Place, begin: &str) -> Option<String> {
    let mut command = place.command("serve --listen 127.0.0.1:0");
    let mut process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
    let is_last = |line: &String| line.starts_with(begin) || line.contains("listening");
    let found = lines.find(is_last).filter(|line| line.starts_with(begin));
    process.kill().unwrap();
    process.wait().unwrap();
    found
}

#[test]
fn a_link_or_settings_create_the_first_administrator() {
    for place in places() {
        let begin = "this server has no administrator yet";
        let stderr = says(&place, begin).expect("a link is shown");
        assert!(stderr.contains("/first?link="), "{stderr}");
        assert_eq!(
            says(&place, begin).unwrap().split("link=").nth(1),
            stderr.split("link=").nth(1)
        );

        let place = place.with("LYCEUM_ADMIN__EMAIL", "ada@example.org");
        let (_, stderr) = place.fails("serve --listen 127.0.0.1:0");
        assert!(stderr.contains("'admin.email' is set, but 'admin.password' is not"), "{stderr}");
        let place = place.with("LYCEUM_ADMIN__PASSWORD", "short");
        let (_, stderr) = place.fails("serve --listen 127.0.0.1:0");
        assert!(stderr.contains("cannot create the account of 'admin.email'"), "{stderr}");
        assert!(!stderr.contains("short\n"), "{stderr}");

        let place = place.with("LYCEUM_ADMIN__PASSWORD", "correct horse");
        assert_eq!(says(&place, begin), None);
        let people = place.json("admin user list --json");
        assert_eq!(people[0]["email"], "ada@example.org");
        assert_eq!(
            (&people[0]["role"], &people[0]["hasPassword"]),
            (&json!("administrator"), &json!(true))
        );
        // Settings make the first account and change none.
        let place = place.with("LYCEUM_ADMIN__EMAIL", "eve@example.org");
        let place = place.with("LYCEUM_ADMIN__PASSWORD", "another horse");
        assert_eq!(says(&place, begin), None);
        assert_eq!(place.json("admin user list --json").as_array().unwrap().len(), 1);
        assert!(!place.ok("config").contains("another horse"));
    }
}

#[test]
fn a_running_server_notices_created_and_revoked_clients() {
    for place in places() {
        let server = Server::start(&place, "");
        place.ok("client create x --id x --secret 0123456789abcdef");
        let (status, answer) = server.token("x", "0123456789abcdef");
        let token = answer["access_token"].as_str().unwrap();
        assert_eq!((status, server.read_status(token)), (200, 200));
        place.ok("client revoke x");
        assert_eq!(server.token("x", "0123456789abcdef").0, 401, "no further token");
        let since = Instant::now();
        while server.read_status(token) != 401 {
            let allowed = Duration::from_secs(limits::REVOCATION_MAX_S);
            assert!(since.elapsed() < allowed, "a token outlives its client");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_slow_request_is_logged_with_its_route_and_without_values() {
    let place = Place::new().with("LYCEUM_SERVER__SLOW_REQUEST_MS", "1");
    let server = Server::start(&place, "");
    place.ok("client create ann-example --id ann-example --secret 0123456789abcdef");
    let begun = Instant::now();
    let slow = loop {
        server.token("ann-example", "0123456789abcdef");
        let log = server.log.lock().unwrap();
        if let Some(line) = log.lines().find(|line| line.contains("a request was slow")) {
            break line.to_owned();
        }
        assert!(begun.elapsed() < PATIENCE, "{log}");
    };
    assert!(slow.contains(r#"method="POST" route="/oauth2/token" status=200 ms="#), "{slow}");
    assert!(!slow.contains("ann-example"), "{slow}");
}

#[test]
fn two_environments_refuse_each_others_tokens() {
    let places = ["staging", "production"]
        .map(|env| (env, Place::new().with("LYCEUM_KEYS__MASTER", &"5e".repeat(32))));
    let [(staging, ours), (production, theirs)] = places.each_ref().map(|(env, place)| {
        place.ok("client create x --id x --secret 0123456789abcdef");
        let server = Server::start(place, &format!("--env {env}"));
        let (_, answer) = server.token("x", "0123456789abcdef");
        (server, answer["access_token"].as_str().unwrap().to_owned())
    });
    assert_eq!((staging.read_status(&ours), production.read_status(&theirs)), (200, 200));
    assert_eq!((staging.read_status(&theirs), production.read_status(&ours)), (401, 401));
}

#[test]
fn a_server_on_a_random_port_knows_its_address() {
    let server = Server::start(&Place::new(), "");
    let (status, body) = server.request("GET /.well-known/oauth-authorization-server", "");
    let metadata: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &metadata["issuer"]), (200, &json!(format!("http://{}", server.address))));
}

#[test]
fn a_database_in_use_is_backed_up_and_not_replaced() {
    let place = Place::new();
    let server = Server::start(&place, "");
    place.ok("client create x --id x");
    place.ok("admin backup copy.backup");
    let (code, stderr) = place.fails("admin restore copy.backup --force");
    assert_eq!(
        (code, stderr.as_str()),
        (
            5,
            "error: the data folder 'lyceum-data' is in use\n\
             hint: stop the server that uses it first\n",
        ),
    );
    assert_eq!(server.stop(), Some(0));
    place.ok("admin restore copy.backup --force");
}

#[test]
fn an_address_in_use_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let (code, stderr) = Place::new().fails(&format!("serve --listen {address}"));
    assert!(stderr.starts_with(&format!("error: cannot listen on '{address}': ")), "{stderr}");
    assert!(stderr.ends_with("hint: choose another address with --listen HOST:PORT\n"), "{stderr}");
    assert_eq!(code, 1);
}

#[test]
fn an_address_in_use_for_metrics_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let place = Place::new().with("LYCEUM_METRICS__ADDRESS", &address);
    let (code, stderr) = place.fails("serve --listen 127.0.0.1:0");
    let begin = format!("cannot listen on '{address}' for metrics: ");
    assert!(stderr.contains(&begin), "{stderr}");
    assert!(stderr.contains("; choose another address in 'metrics.address'\n"), "{stderr}");
    assert_eq!(code, 1);
}
