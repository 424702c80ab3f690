//! The servers, the project and the sandbox that the steps meet, and how a step is run.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::Duration;

use lyceum_core::text::segment;
use lyceum_testserver::client::{Reply, TestClient};
use serde_json::Value;

use super::answers::differences;
use super::list::{self, Step};
use crate::deploy::{client, project};
use crate::elsewhere::pages;
use crate::http::Http;
use crate::sandbox::Running;
use crate::served::{Served, root, wait};
use crate::transcript::Place;
use crate::typing::Typing;

/// The time that a command may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Everything that the steps meet, and what was wrong so far.
pub(super) struct World {
    values: BTreeMap<String, String>,
    client: TestClient,
    server: Served,
    production: Option<(Served, TestClient)>,
    project: Option<Place>,
    sandbox: Option<Running>,
    sandbox_place: Place,
    failures: Vec<String>,
    steps: usize,
}

impl World {
    /// A world with a server of staging.
    pub(super) fn new(server: Served) -> Self {
        let key = server.client("platform", &[]);
        let token = Http::sign_in(&server.base, &key, None);
        let client = TestClient::new(&server.base).with_token(token.token());
        let values = [
            ("base", server.base.clone()),
            ("client_id", key.id),
            ("client_secret", key.secret),
            // A server that answers everything with a page.
            ("page", pages()),
            ("long", "k".repeat(1025)),
            // For templates of JavaScript: `${}{name}` is `${name}` there.
            ("", "$".to_owned()),
        ];
        let values = values.map(|(name, value)| (name.to_owned(), value)).into();
        Self {
            values,
            client,
            server,
            production: None,
            project: None,
            sandbox: None,
            sandbox_place: sandbox_place(),
            failures: Vec::new(),
            steps: 0,
        }
    }

    /// Adds a server of production, and a project whose commands go to both servers.
    pub(super) fn add_project(&mut self, production: Served) {
        let mut place = Place::new();
        project(&place);
        for (env, served) in [("staging", &self.server), ("production", &production)] {
            let created = served.run(&[
                "admin",
                "key",
                "create",
                "ci",
                "--role",
                "administrator",
                "--env",
                env,
                "--json",
            ]);
            let created: Value = serde_json::from_str(&created).unwrap();
            let variable = format!("LYCEUM_{}", env.to_uppercase());
            place = place.with(&format!("{variable}_URL"), &served.base);
            place = place.with(&format!("{variable}_API_KEY"), created["key"].as_str().unwrap());
        }
        let there = client(&production);
        self.production = Some((production, there));
        self.project = Some(place);
    }

    /// Runs the steps of files. What is wrong is kept until [`World::end`].
    pub(super) fn run(&mut self, document: &str, files: &[&str]) {
        for file in files {
            self.run_file(document, file);
        }
    }

    fn run_file(&mut self, document: &str, file: &str) {
        for (number, step) in list::read(document, file).into_iter().enumerate() {
            self.steps += 1;
            let run = catch_unwind(AssertUnwindSafe(|| self.step(&step)));
            let wrong = run.unwrap_or_else(|_| vec!["it panicked as told above".to_owned()]);
            let action = step.call.as_ref().or(step.run.as_ref()).or(step.start.as_ref());
            let action = action.map_or("", String::as_str);
            let place = format!("{document}/{file}.toml, step {}: {action}", number + 1);
            self.failures.extend(wrong.iter().map(|wrong| format!("{place}\n    {wrong}")));
        }
    }

    /// Fails where a step failed.
    pub(super) fn end(self) {
        println!("{} steps", self.steps);
        assert!(self.failures.is_empty(), "{}", self.failures.join("\n"));
    }

    fn step(&mut self, step: &Step) -> Vec<String> {
        if let Some(flags) = &step.start {
            return self.start(step, &self.filled(flags));
        }
        self.write_files(step);
        match (&step.call, &step.run, &step.node) {
            (Some(call), None, None) => self.call(step, &self.filled(call)),
            (None, Some(line), None) => self.command(step, &self.filled(line)),
            (None, None, Some(line)) => self.node(step, line),
            _ => vec!["a step has one of 'call', 'run', 'node' and 'start'".to_owned()],
        }
    }

    fn write_files(&self, step: &Step) {
        let place = self.place(step);
        for (name, text) in &step.files {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, self.filled(text)).unwrap();
        }
        for name in &step.remove {
            let path = place.path().join(name);
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
    }

    fn place(&self, step: &Step) -> &Place {
        match &self.project {
            Some(place) if step.at != "sandbox" => place,
            _ => &self.sandbox_place,
        }
    }

    fn start(&mut self, step: &Step, flags: &str) -> Vec<String> {
        self.sandbox = None;
        if !step.again {
            self.sandbox_place = sandbox_place();
        }
        self.write_files(&Step {
            at: "sandbox".into(),
            files: step.files.clone(),
            ..Step::default()
        });
        let filled: Vec<_> =
            step.variables.iter().map(|(name, value)| (name, self.filled(value))).collect();
        for (name, value) in filled {
            self.sandbox_place.set(name, &value);
        }
        let running = Running::start(&self.sandbox_place, flags);
        let wrong = self.check(step, &running.printed.clone());
        self.values.insert("sandbox_port".into(), running.printed["port"].to_string());
        self.sandbox = Some(running);
        wrong
    }

    fn call(&mut self, step: &Step, call: &str) -> Vec<String> {
        let (method, path) = call.split_once(' ').expect("a call is a method and a path");
        let client = match step.at.as_str() {
            "sandbox" => self.sandbox.as_ref().expect("a sandbox was started").client(),
            "production" => self.production.as_ref().expect("there is one").1.clone(),
            _ => self.client.clone(),
        };
        let client = match step.token.as_str() {
            "" => client,
            "none" => client.without_token(),
            token => client.with_token(self.filled(token)),
        };
        let request = client.call(method.parse().unwrap(), path);
        let request = match (&step.send, &step.form) {
            (Some(body), _) => request.body("application/json", self.filled(body)),
            (None, Some(form)) => {
                let pairs: Vec<_> =
                    form.iter().map(|(name, value)| (name.as_str(), self.filled(value))).collect();
                let pairs: Vec<_> =
                    pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
                request.form(&pairs)
            }
            (None, None) => request,
        };
        let Reply { status, body, .. } = request.send();
        let text = String::from_utf8_lossy(&body).into_owned();
        let expected = step.status.unwrap_or(200);
        if status != expected {
            return vec![format!("status {expected} is expected, {status} came: {text}")];
        }
        let answer = serde_json::from_str(&text).unwrap_or(Value::String(text));
        self.check(step, &answer)
    }

    fn command(&mut self, step: &Step, line: &str) -> Vec<String> {
        if step.types.is_empty() {
            let mut command = self.place(step).command(line);
            command.envs(step.variables.iter().map(|(name, value)| (name, self.filled(value))));
            return self.check_output(step, ended(command));
        }
        let mut typing = Typing::start(self.place(step), line);
        for (question, keys) in &step.types {
            typing.answer(question, keys);
        }
        let (code, screen) = typing.end();
        self.check_output(step, (code, screen.clone(), screen))
    }

    fn node(&mut self, step: &Step, line: &str) -> Vec<String> {
        let mut command = Command::new("node");
        command.args(line.split_whitespace()).current_dir(root());
        command.env("LYCEUM_TEST_BIN", self.sandbox_place.command("").get_program());
        self.check_output(step, ended(command))
    }

    fn check_output(&mut self, step: &Step, ended: (i32, String, String)) -> Vec<String> {
        let (code, stdout, stderr) = ended;
        let mut wrong = Vec::new();
        if code != step.code {
            wrong.push(format!(
                "exit code {} is expected, {code} came: {stdout}{stderr}",
                step.code
            ));
        }
        for (texts, output) in [(&step.prints, &stdout), (&step.says, &stderr)] {
            let missing = texts.iter().map(|text| self.filled(text));
            let missing = missing.filter(|text| !output.contains(text.as_str()));
            wrong.extend(missing.map(|text| format!("'{text}' is not in: {output}")));
        }
        if wrong.is_empty() {
            let answer = serde_json::from_str(&stdout).unwrap_or(Value::String(stdout));
            wrong.extend(self.check(step, &answer));
        }
        wrong
    }

    /// Compares the answer and keeps values of it.
    fn check(&mut self, step: &Step, answer: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        if let Some(expected) = &step.answer {
            let expected = self.filled(expected);
            match serde_json::from_str(&expected) {
                Ok(expected) => wrong.extend(differences(&expected, answer)),
                Err(fault) => wrong.push(format!("the expected answer is not JSON: {fault}")),
            }
        }
        for (name, pointer) in &step.keep {
            match answer.pointer(pointer) {
                Some(Value::String(text)) => {
                    self.values.insert(name.clone(), text.clone());
                }
                Some(value) => {
                    self.values.insert(name.clone(), value.to_string());
                }
                None => wrong.push(format!("{pointer} is missing: {answer}")),
            }
        }
        wrong
    }

    /// The text with its values in place: `${name}` as it is, `${name:encoded}` for a path.
    fn filled(&self, text: &str) -> String {
        let mut parts = text.split("${");
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}').expect("a value's name ends with a brace");
            let (name, is_encoded) = match name.strip_suffix(":encoded") {
                Some(name) => (name, true),
                None => (name, false),
            };
            let value = self.values.get(name).map_or("unknown", String::as_str);
            filled += &if is_encoded { segment(value).to_string() } else { value.to_owned() };
            filled += rest;
        }
        filled
    }
}

/// The exit code of a command and its output. One that does not end is killed.
fn ended(mut command: Command) -> (i32, String, String) {
    let outputs =
        [tempfile::NamedTempFile::new().unwrap(), tempfile::NamedTempFile::new().unwrap()];
    let [stdout, stderr] = outputs.each_ref().map(|file| file.reopen().unwrap());
    let mut process = command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn().unwrap();
    let status = wait(&mut process, PATIENCE);
    if status.is_none() {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let [stdout, stderr] = outputs.map(|file| fs::read_to_string(file.path()).unwrap());
    (status.and_then(|status| status.code()).unwrap_or(-1), stdout, stderr)
}

/// A folder for sandboxes whose list is its own.
fn sandbox_place() -> Place {
    let place = Place::new();
    let list = place.path().join("run").display().to_string();
    place.with("XDG_RUNTIME_DIR", &list)
}
