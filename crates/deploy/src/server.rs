//! A client for the API of the server that is deployed to.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::limits::KV_VALUE_MAX_BYTES;
use lyceum_core::messages::io_reason;
use lyceum_core::text::segment;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_project::{Action, Artifact, Plan, SchemaWish, State, plan};
use serde_json::{Value, json};
use ureq::http::{Request, Response};
use ureq::{Agent, Body, SendBody};

/// Bytes sent per request.
const PIECE_BYTES: usize = 4 * 1024 * 1024;
/// Milliseconds before each retry after a broken connection or a busy server.
const PAUSES_MS: [u64; 4] = [200, 500, 1000, 2000];
/// Bytes that are read into memory at most.
const READ_MAX_BYTES: u64 = KV_VALUE_MAX_BYTES as u64;
const TIMEOUT: Duration = Duration::from_mins(5);

/// The credentials of a request.
#[derive(Clone, Debug)]
pub enum Credentials {
    /// No credentials, such as for a sandbox.
    None,
    /// An API key.
    Key(String),
    /// A client's id and secret, which are exchanged for a token.
    Client(String, String),
}

/// A server, with a token for it.
pub struct Server {
    agent: Agent,
    base: String,
    token: Option<String>,
    log: Box<dyn Fn(&str) + Send + Sync>,
}

/// The result of an upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UploadTotals {
    /// Bytes sent.
    pub bytes: u64,
}

impl Server {
    /// Signs in. `log` is called for each request with method, path and status.
    ///
    /// Errors: `Unavailable` if nothing answers; `Unauthorized`.
    pub fn sign_in(
        base: &str,
        credentials: Credentials,
        log: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self> {
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0);
        let agent = config.timeout_global(Some(TIMEOUT)).build().new_agent();
        let base = base.trim_end_matches('/').to_owned();
        let mut server = Self { agent, base, token: None, log: Box::new(log) };
        server.token = match credentials {
            Credentials::None => None,
            Credentials::Key(key) => Some(key),
            Credentials::Client(id, secret) => {
                let basic = BASE64_STANDARD.encode(format!("{id}:{secret}"));
                let request = Request::post(format!("{}/oauth2/token", server.base))
                    .header("authorization", format!("Basic {basic}"))
                    .header("content-type", "application/x-www-form-urlencoded");
                let request = request.body("grant_type=client_credentials".as_bytes().to_vec());
                let answer = server.send(request.map_err(Problem::internal)?)?;
                let token = answer["access_token"].as_str().map(str::to_owned);
                Some(token.ok_or_else(|| server.no_lyceum())?)
            }
        };
        Ok(server)
    }

    /// Its address.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The server's state of a project.
    pub fn state(&self, slug: &str) -> Result<State> {
        let state = self.get(&format!("/api/projects/{}/state", segment(slug)))?;
        serde_json::from_value(state).map_err(|_| self.no_lyceum())
    }

    /// Reads the JSON document at a path.
    pub fn get(&self, path: &str) -> Result<Value> {
        self.retry(|| self.send(self.request("GET", path, Vec::new())?))
    }

    /// A page of the keys below a path that start with the prefix, from the cursor on.
    pub(crate) fn page(
        &self,
        base: &str,
        prefix: &str,
        cursor: Option<&str>,
        limit: Option<impl Display>,
    ) -> Result<Value> {
        let cursor = cursor.map(|cursor| format!("&cursor={}", segment(cursor)));
        let limit = limit.map(|limit| format!("&limit={limit}"));
        let (cursor, limit) = (cursor.unwrap_or_default(), limit.unwrap_or_default());
        self.get(&format!("{base}?prefix={}{cursor}{limit}", segment(prefix)))
    }

    /// Reads the bytes at a path.
    pub fn get_bytes(&self, path: &str) -> Result<Vec<u8>> {
        self.retry(|| {
            let mut answer = self.answer(self.request("GET", path, Vec::new())?)?;
            let body = answer.body_mut().with_config().limit(READ_MAX_BYTES);
            body.read_to_vec().map_err(|error| self.unreachable(&error))
        })
    }

    /// Sends JSON, without retries.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.send(self.request("POST", path, body.to_string().into_bytes())?)
    }

    /// Makes the server check everything that applying a plan needs, without serving the result: it unpacks files,
    /// changes the schema of a copy, and starts and probes the backend. Then it deletes all of that.
    ///
    /// Errors: those of [`Server::apply`].
    pub fn rehearse(&self, plan: &Plan, secrets: &BTreeMap<String, String>) -> Result<()> {
        let path = format!("/api/projects/{}/rehearsal", segment(&plan.slug));
        self.post(&path, &json!({ "plan": plan, "secrets": secrets })).map(drop)
    }

    /// Applies a plan. If the response is lost, the project's state is read to learn the result.
    ///
    /// Errors: `Conflict` if the project was changed since the plan was made.
    pub fn apply(&self, plan: &Plan, secrets: &BTreeMap<String, String>) -> Result<State> {
        let path = format!("/api/projects/{}/deployments", segment(&plan.slug));
        let applied = self.post(&path, &json!({ "plan": plan, "secrets": secrets }));
        let applied = match applied {
            Err(problem) if problem.kind == ProblemKind::Unavailable => {
                let state = self.state(&plan.slug)?;
                if state.revision == plan.base {
                    return Err(problem);
                }
                // The renames have been applied, so they cannot be planned again.
                let mut desired = plan.desired.clone();
                if let Some(SchemaWish::Push { renames, .. }) =
                    desired.database.as_mut().map(|database| &mut database.schema)
                {
                    renames.clear();
                }
                match self::plan(&state, &desired)?.action {
                    Action::Nothing => return Ok(state),
                    _ => return Err(problem),
                }
            }
            applied => applied?,
        };
        serde_json::from_value(applied).map_err(|_| self.no_lyceum())
    }

    /// Uploads a file, continuing an interrupted upload. Sends nothing if the server has the file.
    /// `progress` is called with the number of bytes on the server.
    pub fn upload(
        &self,
        artifact: &Artifact,
        mut source: impl Read + Seek,
        mut progress: impl FnMut(u64),
    ) -> Result<UploadTotals> {
        let announced = json!({ "sha256": artifact.sha256, "size": artifact.size }).to_string();
        let begin =
            || self.send(self.request("POST", "/api/uploads", announced.clone().into_bytes())?);
        let mut upload = self.retry(begin)?;
        let mut sent = UploadTotals::default();
        let mut piece = Vec::new();
        let mut failures = PAUSES_MS.iter();
        loop {
            let (Some(id), Some(offset)) = (upload["id"].as_str(), upload["offset"].as_u64())
            else {
                return Err(self.no_lyceum());
            };
            progress(offset);
            if upload["complete"] == true {
                return Ok(sent);
            }
            let path = format!("/api/uploads/{id}");
            let read = source.seek(SeekFrom::Start(offset)).and_then(|_| {
                piece.clear();
                source.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece)
            });
            let count = read.map_err(Problem::internal)? as u64;
            if count == 0 {
                let message = "the file became shorter while it was sent; deploy again";
                return Err(Problem::new(ProblemKind::Conflict, message));
            }
            let mut request = self.request("PUT", &path, piece.clone())?;
            let range = format!("bytes {offset}-{}/{}", offset + count - 1, artifact.size);
            request.headers_mut().insert("content-range", range.parse().expect("it is plain"));
            let media = "application/octet-stream".parse().expect("it is plain");
            request.headers_mut().insert("content-type", media);
            match self.send(request) {
                Ok(next) => {
                    sent.bytes += count;
                    failures = PAUSES_MS.iter();
                    upload = next;
                }
                // Another upload of the same file is running, or a response was lost. The server knows the current
                // offset.
                Err(problem)
                    if matches!(problem.kind, ProblemKind::Unavailable | ProblemKind::Conflict) =>
                {
                    let Some(pause) = failures.next() else { return Err(problem) };
                    sleep(Duration::from_millis(*pause));
                    upload = self.retry(begin)?;
                }
                Err(problem) => return Err(problem),
            }
        }
    }

    /// Whether the server has a file.
    pub fn has(&self, artifact: &Artifact) -> Result<bool> {
        let announced = json!({ "sha256": artifact.sha256, "size": artifact.size });
        Ok(self.post("/api/uploads", &announced)?["complete"] == true)
    }

    /// Downloads a file of a project's version.
    pub fn download(&self, slug: &str, artifact: &Artifact, to: &Path) -> Result<()> {
        let path = format!("/api/projects/{}/artifacts/{}", segment(slug), artifact.sha256);
        self.fetch(&path, to)?;
        let (sha256, _) = crate::digest_of(to)?;
        if sha256 == artifact.sha256 {
            return Ok(());
        }
        let message = message!("{self.base} did not send the file {artifact.sha256}");
        Err(Problem::new(ProblemKind::Unavailable, message))
    }

    /// Downloads the content at a path to a file; returns its size.
    pub fn fetch(&self, path: &str, to: &Path) -> Result<u64> {
        let mut answer = self.answer(self.request("GET", path, Vec::new())?)?;
        let mut body = answer.body_mut().as_reader();
        let mut file = File::create(to).map_err(|error| {
            let message = message!("cannot write '{to}': {error}", to = to.display());
            Problem::new(ProblemKind::Unavailable, message)
        })?;
        let copied = std::io::copy(&mut body, &mut file).and_then(|size| {
            file.sync_all()?;
            Ok(size)
        });
        copied.map_err(|error| {
            let message = message!("the download from {self.base} was interrupted: {error}");
            Problem::new(ProblemKind::Unavailable, message)
        })
    }

    /// Downloads the content at a path, and appends it to the part that the file already has.
    ///
    /// Errors: `Unavailable` if the download is interrupted; the bytes received so far stay.
    pub fn fetch_on(&self, path: &str, to: &Path, size: u64) -> Result<()> {
        let opened = File::options().create(true).append(true).open(to);
        let mut file = opened.map_err(|error| crate::unreadable(to, &error))?;
        let failed = |error: std::io::Error| {
            let message = message!("the download from {self.base} was interrupted: {error}");
            Problem::new(ProblemKind::Unavailable, message)
        };
        self.retry(|| {
            let from = file.metadata().map_err(failed)?.len();
            if from >= size {
                return Ok(());
            }
            let mut request = self.request("GET", path, Vec::new())?;
            if from > 0 {
                let range = format!("bytes={from}-").parse().expect("it is plain");
                request.headers_mut().insert("range", range);
            }
            let mut answer = self.answer(request)?;
            std::io::copy(&mut answer.body_mut().as_reader(), &mut &file).map_err(failed)?;
            file.sync_all().map_err(failed)
        })?;
        file.flush().map_err(failed)
    }

    /// Sends bytes, with retries if the connection or the server failed.
    pub fn put_bytes(&self, path: &str, bytes: &[u8]) -> Result<Value> {
        self.retry(|| {
            let mut request = self.request("PUT", path, bytes.to_vec())?;
            let media = "application/octet-stream".parse().expect("it is plain");
            request.headers_mut().insert("content-type", media);
            self.send(request)
        })
    }

    fn request(&self, method: &str, path: &str, body: Vec<u8>) -> Result<Request<Vec<u8>>> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        request.body(body).map_err(|error| {
            Problem::new(ProblemKind::Invalid, message!("'{self.base}' is not an address: {error}"))
        })
    }

    /// Sends a request and returns the response's JSON.
    fn send(&self, request: Request<Vec<u8>>) -> Result<Value> {
        let mut answer = self.answer(request)?;
        let text = answer.body_mut().read_to_string().map_err(|error| self.unreachable(&error))?;
        if answer.status() == 204 {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).map_err(|_| self.no_lyceum())
    }

    fn answer(&self, request: Request<Vec<u8>>) -> Result<Response<Body>> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let (parts, bytes) = request.into_parts();
        let answer = if bytes.is_empty() {
            self.agent.run(Request::from_parts(parts, SendBody::none()))
        } else {
            self.agent.run(Request::from_parts(parts, bytes))
        };
        let mut answer = answer.map_err(|error| self.unreachable(&error))?;
        let status = answer.status().as_u16();
        (self.log)(&format!("{method} {path} {status}"));
        if status < 300 {
            return Ok(answer);
        }
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        let Ok(body) = serde_json::from_str::<Value>(&text) else { return Err(self.no_lyceum()) };
        Err(self.refusal(status, &body))
    }

    fn refusal(&self, status: u16, body: &Value) -> Problem {
        let reason = ["detail", "error_description", "message", "error"];
        let reason = reason.iter().find_map(|name| body[*name].as_str());
        let reason =
            reason.or_else(|| body["error"]["message"].as_str()).unwrap_or("no reason given");
        let kind = match status {
            401 => ProblemKind::Unauthorized,
            403 => ProblemKind::Forbidden,
            404 => ProblemKind::NotFound,
            409 | 412 => ProblemKind::Conflict,
            413 => ProblemKind::TooLarge,
            421 => ProblemKind::Misdirected,
            429 | 500.. => ProblemKind::Unavailable,
            _ => ProblemKind::Invalid,
        };
        Problem::new(kind, message!("{self.base} answered {status}: {reason}"))
    }

    fn unreachable(&self, error: &ureq::Error) -> Problem {
        let reason = match error {
            ureq::Error::Io(error) => io_reason(error),
            error => Message::untranslated(error.to_string()),
        };
        let message = message!(
            "cannot reach {self.base}: {reason}; check that the server runs (`lyceum sandbox` starts one on this \
             machine) and that the address is right"
        );
        Problem::new(ProblemKind::Unavailable, message)
    }

    fn no_lyceum(&self) -> Problem {
        let message = message!(
            "the response of {self.base} is not from a Lyceum server; the server is not running there, or the \
             address or port is wrong"
        );
        Problem::new(ProblemKind::Invalid, message)
    }

    /// Retries a repeatable request if the connection or the server failed.
    fn retry<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        for pause in PAUSES_MS {
            match work() {
                Err(problem) if problem.kind == ProblemKind::Unavailable => {
                    (self.log)(&format!("retrying in {pause} ms: {problem}"));
                    sleep(Duration::from_millis(pause));
                }
                done => return done,
            }
        }
        work()
    }
}
