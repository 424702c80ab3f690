//! A project in a folder, served for a test.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lyceum_core::origins::Origins;
use lyceum_core::time::SystemClock;
use lyceum_deploy::Evaluator;
use lyceum_dev::{DevMessage, Settings};
use lyceum_hosting::engine::find_workerd;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use ureq::Body;
use ureq::http::{Request, Response};

pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A project that is served until this is dropped.
pub(crate) struct Project {
    folder: TempDir,
    pub(crate) address: String,
    messages: Mutex<Receiver<DevMessage>>,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<()>>,
}

pub(crate) fn tests(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name).canonicalize().unwrap()
}

impl Project {
    /// Serves a project with these files.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let packages = tests("deploy").join("node_modules");
        assert!(packages.is_dir(), "run `npm ci` in tests/deploy");
        let installed = folder.path().join("node_modules");
        fs::create_dir(&installed).unwrap();
        for package in fs::read_dir(packages).unwrap() {
            let package = package.unwrap();
            // A test may write the list of what is installed, which is a file.
            if package.file_type().unwrap().is_file() {
                continue;
            }
            symlink(package.path(), installed.join(package.file_name())).unwrap();
        }
        for (name, text) in files {
            write(folder.path(), name, text);
        }
        let workerd = find_workerd(None, &[tests("hosting")], None);
        let evaluator = Evaluator { workerd: workerd.clone() };
        let settings = Settings {
            path: folder.path().to_owned(),
            slug: lyceum_dev::slug_at(folder.path(), &evaluator).unwrap(),
            platform: None,
            workerd,
            reloads: true,
            origins: Origins::default(),
        };
        let (sender, messages) = channel();
        let (say, heard) = channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                say.send(listener.local_addr().unwrap().to_string()).unwrap();
                let sender = Mutex::new(sender);
                let tell = Arc::new(move |message| drop(sender.lock().unwrap().send(message)));
                let stop = async { drop(stopped.await) };
                lyceum_dev::run(settings, listener, Arc::new(SystemClock), tell, stop)
                    .await
                    .unwrap();
            });
        });
        let address = heard.recv().unwrap();
        let (stop, served) = (Some(stop), Some(served));
        Self { folder, address, messages: Mutex::new(messages), stop, served }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        write(self.folder.path(), name, text);
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join(name)).unwrap();
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.folder.path().join(from), self.folder.path().join(to)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Sends a request without a body and returns the response.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Response<Body> {
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let uri = format!("http://{}{path}", self.address);
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        config.new_agent().run(request.body(()).unwrap()).unwrap()
    }

    /// The status and the JSON of the response to `GET path`.
    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let mut answer = self.send("GET", path, &[]);
        let text = answer.body_mut().read_to_string().unwrap();
        (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Repeats a request until it has the wanted response; returns how long that took.
    pub(crate) fn until(&self, path: &str, wanted: &(u16, Value)) -> Duration {
        let since = Instant::now();
        loop {
            let found = self.get(path);
            if found == *wanted {
                return since.elapsed();
            }
            assert!(since.elapsed() < PATIENCE, "{path} answers {found:?}, not {wanted:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn messages(&self) -> MutexGuard<'_, Receiver<DevMessage>> {
        self.messages.lock().unwrap()
    }

    /// Waits for a message for which `look` returns something.
    pub(crate) fn hears<T>(&self, mut look: impl FnMut(DevMessage) -> Option<T>) -> T {
        let messages = self.messages();
        loop {
            if let Some(found) = look(messages.recv_timeout(PATIENCE).expect("a message arrives")) {
                return found;
            }
        }
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(Err(panic)) = self.served.take().map(JoinHandle::join)
            && !thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
