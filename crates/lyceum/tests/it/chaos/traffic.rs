//! Clients that write, read, deploy, follow a stream and sign in, all through `HAProxy`, and note how each request went.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{Scope, sleep};
use std::time::{Duration, Instant};

use lyceum_testkit::full_size;
use lyceum_testserver::client::{Call, Reply, TestClient};
use serde_json::{Value, json};

use super::cluster::{EMAIL, PASSWORD};
use super::history::{History, Read, Request, RequestKind, Write};
use super::project::{KEYS, NEWEST, PAGES, SCORES, object_path};
use super::{STREAMS, answers, records};
use crate::served::Key;
use crate::transcript::Place;

/// The time that a client waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A stream without events for this time is opened again.
const SILENCE_MAX: Duration = Duration::from_secs(6);
/// The time between two answers of a student.
const ANSWER_PAUSE: Duration = Duration::from_millis(200);

pub(super) struct Traffic {
    base: String,
    key: Key,
    client: TestClient,
    token: Mutex<String>,
    since: Instant,
    pub(super) history: Mutex<History>,
    /// How often each stream has sent each event.
    streamed: Mutex<BTreeMap<String, usize>>,
    /// The connections of the streams.
    sockets: Mutex<HashMap<usize, TcpStream>>,
    /// The keys that were written.
    registers: Mutex<Vec<String>>,
    /// Whether clients send nothing new.
    is_over: AtomicBool,
    /// Whether streams end, too.
    is_read: AtomicBool,
}

impl Traffic {
    pub(super) fn new(base: String, key: Key) -> Self {
        let client = TestClient::waiting(base.clone(), TIMEOUT);
        let traffic = Self {
            base,
            key,
            client,
            token: Mutex::default(),
            since: Instant::now(),
            history: Mutex::default(),
            streamed: Mutex::default(),
            sockets: Mutex::default(),
            registers: Mutex::default(),
            is_over: AtomicBool::new(false),
            is_read: AtomicBool::new(false),
        };
        assert!(traffic.fetch_token(), "the first token");
        traffic
    }

    /// The time since the start of the run.
    pub(super) fn now(&self) -> Duration {
        self.since.elapsed()
    }

    /// Ends all clients, the streams once they have sent all acknowledged events.
    pub(super) fn end(&self) {
        self.is_over.store(true, SeqCst);
        // Requests that are on their way end.
        sleep(Duration::from_secs(1));
        self.wait_for_streams();
        self.is_read.store(true, SeqCst);
        for socket in self.sockets.lock().unwrap().values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(SeqCst)
    }

    /// A client of the address with the latest token.
    pub(super) fn client_of(&self, address: &str) -> TestClient {
        let token = self.token.lock().unwrap().clone();
        TestClient::waiting(address, TIMEOUT).with_token(token)
    }

    fn client(&self) -> TestClient {
        self.client.clone().with_token(self.token.lock().unwrap().clone())
    }

    /// Starts all clients.
    pub(super) fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        pages: Option<&'scope Place>,
    ) {
        for stream in 0..STREAMS {
            scope.spawn(move || self.follow(stream));
        }
        self.repeat(scope, 100, |n| self.write_record(n));
        self.repeat(scope, 100, |n| self.send_event(n));
        for client in ["a", "b"] {
            self.repeat(scope, 100, move |n| self.insert(&format!("{client}-{n}")));
        }
        self.repeat(scope, 60, |_| self.read_newest());
        scope.spawn(move || self.write_keys());
        self.repeat(scope, 300, |n| self.upload(n));
        self.repeat(scope, 1000, |_| self.sign_in());
        scope.spawn(move || self.answer_questions());
        if let Some(pages) = pages {
            self.repeat(scope, 3000, move |n| self.deploy(pages, n));
        }
    }

    /// Calls the step again and again, with a pause of so many milliseconds.
    fn repeat<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        pause_ms: u64,
        step: impl Fn(usize) + Send + 'scope,
    ) {
        scope.spawn(move || {
            for number in (1..).take_while(|_| !self.is_over()) {
                step(number);
                sleep(Duration::from_millis(if full_size() { pause_ms } else { 3 * pause_ms }));
            }
        });
    }

    fn note(&self, kind: RequestKind, began: Duration, failure: Option<String>) {
        let request = Request { kind, began, ended: self.now(), failure };
        self.history.lock().unwrap().requests.push(request);
    }

    /// Sends a request and notes how it went. Returns the reply if it has the status.
    fn send(&self, kind: RequestKind, call: Call<'_>, status: u16) -> Option<Reply> {
        let began = self.now();
        let sent = call.try_send();
        let failure = match &sent {
            Ok(reply) if reply.status == status => None,
            Ok(reply) => Some(format!(
                "{} {}",
                reply.status,
                reply.text().chars().take(300).collect::<String>()
            )),
            Err(error) => Some(error.to_string()),
        };
        let is_success = failure.is_none();
        self.note(kind, began, failure);
        sent.ok().filter(|_| is_success)
    }

    fn acknowledge(&self, kind: RequestKind, name: String, register: Option<(String, i64)>) {
        let write = Write { kind, name, register, ended: self.now() };
        self.history.lock().unwrap().writes.push(write);
    }

    fn observe(&self, register: &str, began: Duration, number: i64) {
        let read = Read { register: register.to_owned(), number, began };
        self.history.lock().unwrap().reads.push(read);
    }

    fn write_record(&self, number: usize) {
        let (client, id) = (self.client(), format!("org-{number}"));
        if self
            .send(RequestKind::Roster, client.post(records::ORGS).json(&records::org(&id)), 201)
            .is_some()
        {
            self.acknowledge(RequestKind::Roster, id, None);
        }
    }

    /// Sends an event until it is acknowledged, as sensors do.
    fn send_event(&self, number: usize) {
        let id = records::event_id(number);
        while !self.is_over() {
            let client = self.client();
            let call = client.post(records::INTAKE).json(&records::envelope(number));
            if self.send(RequestKind::Events, call, 200).is_some() {
                // Streams end soon after the clients, so they owe only what was acknowledged before.
                if !self.is_over() {
                    for stream in 0..STREAMS {
                        self.acknowledge(RequestKind::Streams, format!("{stream}: {id}"), None);
                    }
                }
                return self.acknowledge(RequestKind::Events, id, None);
            }
            sleep(Duration::from_millis(200));
        }
    }

    fn insert(&self, player: &str) {
        let client = self.client();
        let call = client.post(SCORES).json(&json!({ "player": player }));
        if let Some(reply) = self.send(RequestKind::Database, call, 201) {
            let row = reply.json::<Value>()["id"].as_i64().unwrap();
            self.acknowledge(
                RequestKind::Database,
                player.to_owned(),
                Some(("scores".to_owned(), row)),
            );
        }
    }

    fn read_newest(&self) {
        let (client, began) = (self.client(), self.now());
        if let Some(reply) = self.send(RequestKind::Database, client.get(NEWEST), 200) {
            self.observe("scores", began, reply.json::<Value>()["id"].as_i64().unwrap_or(0));
        }
    }

    /// Counts keys up and reads them. A key whose write may or may not have been done is left.
    fn write_keys(&self) {
        let mut left = 0;
        while !self.is_over() {
            let key = format!("key-{left}");
            self.registers.lock().unwrap().push(key.clone());
            for value in (1..).take_while(|_| !self.is_over()) {
                let client = self.client();
                let put = client.post(KEYS).json(&json!({ "key": key, "value": value }));
                if self.send(RequestKind::Keys, put, 201).is_none() {
                    break;
                }
                let name = format!("{key}={value}");
                self.acknowledge(RequestKind::Keys, name, Some((key.clone(), value)));
                self.read_key(&client, &key);
                sleep(Duration::from_millis(100));
            }
            left += 1;
            sleep(Duration::from_millis(100));
        }
    }

    fn read_key(&self, client: &TestClient, key: &str) {
        let began = self.now();
        if let Some(reply) =
            self.send(RequestKind::Keys, client.get(&format!("{KEYS}?key={key}")), 200)
        {
            self.observe(key, began, reply.json::<Value>()["value"].as_i64().unwrap());
        }
    }

    fn upload(&self, number: usize) {
        let (client, name) = (self.client(), format!("object-{number}"));
        let put = client.put(&object_path(&name)).body("application/octet-stream", text_of(&name));
        if self.send(RequestKind::Objects, put, 200).is_some() {
            self.acknowledge(RequestKind::Objects, name, None);
        }
    }

    fn deploy(&self, pages: &Place, number: usize) {
        pages.write("dist/index.html", &number.to_string());
        let began = self.now();
        let (code, _, stderr) = pages.run("deploy --yes");
        self.note(RequestKind::Deploys, began, (code != 0).then_some(stderr));
        if code == 0 {
            let register = Some((PAGES.to_owned(), i64::try_from(number).unwrap()));
            self.acknowledge(RequestKind::Deploys, format!("deploy {number}"), register);
        }
        self.read_page(&self.client());
    }

    fn read_page(&self, client: &TestClient) {
        let began = self.now();
        if let Some(reply) = self.send(RequestKind::Deploys, client.get(PAGES), 200) {
            self.observe(PAGES, began, reply.text().trim().parse().unwrap());
        }
    }

    /// Answers question after question, and sends an answer until it is acknowledged, as apps do.
    fn answer_questions(&self) {
        let mut count = 0;
        while !self.is_over() {
            let client = self.client();
            if let Some(next) = self.send(RequestKind::Answers, answers::next(&client), 200) {
                if let Some(question) = answers::question(&next) {
                    count += 1;
                    self.answer(&question, count);
                } else {
                    self.send(RequestKind::Answers, answers::new_attempt(&client), 201);
                }
            }
            sleep(ANSWER_PAUSE);
        }
    }

    /// Answers the question that is the one with this number, counted over all attempts.
    fn answer(&self, question: &str, number: usize) {
        while !self.is_over() {
            let client = self.client();
            let call = answers::answer(&client, question, number);
            if self.send(RequestKind::Answers, call, 200).is_some() {
                let name = answers::name(number, question);
                return self.acknowledge(RequestKind::Answers, name, None);
            }
            sleep(ANSWER_PAUSE);
        }
    }

    fn fetch_token(&self) -> bool {
        let Key { id, secret } = &self.key;
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", id.as_str()),
            ("client_secret", secret.as_str()),
        ];
        let Some(reply) =
            self.send(RequestKind::SignIn, self.client.post("/oauth2/token").form(&form), 200)
        else {
            return false;
        };
        let token = reply.json::<Value>()["access_token"].as_str().unwrap().to_owned();
        *self.token.lock().unwrap() = token;
        true
    }

    /// A person and a client sign in. Another server may check the session.
    fn sign_in(&self) {
        self.fetch_token();
        let body = json!({ "email": EMAIL, "password": PASSWORD });
        let call = self.client.post("/api/auth/sign-in").json(&body);
        if let Some(reply) = self.send(RequestKind::SignIn, call, 200) {
            let cookie = reply.header("set-cookie").split(';').next().unwrap().to_owned();
            let me = self.client.get("/api/auth/me").header("cookie", &cookie);
            self.send(RequestKind::SignIn, me, 200);
        }
    }

    fn follow(&self, stream: usize) {
        let mut last = None;
        while !self.is_read.load(SeqCst) {
            let began = self.now();
            let followed = self.follow_once(stream, &mut last);
            if let Err(reason) = followed
                && !self.is_read.load(SeqCst)
            {
                self.note(RequestKind::Streams, began, Some(reason));
                sleep(Duration::from_millis(200));
            }
        }
    }

    /// Reads the stream, from the event after the last one, until it breaks off.
    fn follow_once(&self, stream: usize, last: &mut Option<String>) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        let host = self.base.trim_start_matches("http://");
        let mut socket = TcpStream::connect(host).map_err(failed)?;
        socket.set_read_timeout(Some(SILENCE_MAX)).unwrap();
        let token = self.token.lock().unwrap().clone();
        let last_seen = last.as_ref().map(|last| format!("Last-Event-ID: {last}\r\n"));
        // Version 1.0 has no chunks.
        let request = format!(
            "GET {} HTTP/1.0\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{}\r\n",
            records::STREAM,
            last_seen.unwrap_or_default()
        );
        self.sockets.lock().unwrap().insert(stream, socket.try_clone().unwrap());
        socket.write_all(request.as_bytes()).map_err(failed)?;
        let mut began = self.now();
        let mut lines = BufReader::new(socket).lines();
        let status = lines.next().ok_or("no answer")?.map_err(failed)?;
        if !status.contains(" 200") {
            return Err(status);
        }
        let mut number = None;
        for line in lines {
            let line = line.map_err(failed)?;
            if let Some(id) = line.strip_prefix("id: ") {
                number = Some(id.to_owned());
            } else if let Some(data) = line.strip_prefix("data: ") {
                let event: Value = serde_json::from_str(data).map_err(|error| error.to_string())?;
                let id = event["externalId"].as_str().unwrap();
                *self.streamed.lock().unwrap().entry(format!("{stream}: {id}")).or_default() += 1;
                self.note(RequestKind::Streams, began, None);
                began = self.now();
            } else if line.is_empty() && number.is_some() {
                *last = number.take();
            }
            if self.is_read.load(SeqCst) {
                return Ok(());
            }
        }
        Err("the stream ended".to_owned())
    }

    fn wait_for_streams(&self) {
        let missing = || {
            let history = self.history.lock().unwrap();
            let streamed = self.streamed.lock().unwrap();
            let mut of_streams =
                history.writes.iter().filter(|write| write.kind == RequestKind::Streams);
            of_streams.any(|write| !streamed.contains_key(&write.name))
        };
        let since = Instant::now();
        while missing() && since.elapsed() < super::PATIENCE {
            sleep(Duration::from_millis(100));
        }
    }

    /// The state of the server at the address in the end: how often it has stored each name, by kind. It also reads all
    /// registers.
    pub(super) fn stored_at(&self, address: &str) -> HashMap<RequestKind, BTreeMap<String, usize>> {
        let client = self.client_of(address);
        for key in self.registers.lock().unwrap().clone() {
            self.read_key(&client, &key);
        }
        if self.has_deploys() {
            self.read_page(&client);
        }
        let players = stored_players(&client);
        let objects = self.names_of(RequestKind::Objects).into_iter().filter(|name| {
            let reply = client.get(&object_path(name)).send();
            reply.status == 200 && reply.text() == text_of(name)
        });
        HashMap::from([
            (RequestKind::Roster, count(records::stored_orgs(&client))),
            (RequestKind::Events, count(records::stored_events(&client))),
            (RequestKind::Database, count(players)),
            (RequestKind::Objects, count(objects)),
            (RequestKind::Answers, count(answers::stored(&client))),
            (RequestKind::Streams, self.streamed.lock().unwrap().clone()),
        ])
    }

    /// The last lines of the log of the project with a backend.
    pub(super) fn project_log(&self) -> String {
        let log = self.client().get("/api/projects/word-rivers/logs?limit=40").try_send();
        log.map_or_else(|error| error.to_string(), |log| log.text())
    }

    fn names_of(&self, kind: RequestKind) -> Vec<String> {
        let history = self.history.lock().unwrap();
        let own = history.writes.iter().filter(|write| write.kind == kind);
        own.map(|write| write.name.clone()).collect()
    }

    fn has_deploys(&self) -> bool {
        !self.names_of(RequestKind::Deploys).is_empty()
    }
}

/// The names in the rows of the database.
fn stored_players(client: &TestClient) -> Vec<String> {
    let (mut players, mut after) = (Vec::new(), 0);
    loop {
        let page = client.get(&format!("{SCORES}?after={after}")).expect(200);
        let page: Vec<Value> = page.json();
        let Some(last) = page.last() else { return players };
        after = last["id"].as_i64().unwrap();
        players.extend(page.iter().map(|row| row["player"].as_str().unwrap().to_owned()));
    }
}

/// The content of an object.
fn text_of(name: &str) -> String {
    format!("the content of {name}\n").repeat(40)
}

fn count(names: impl IntoIterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}
