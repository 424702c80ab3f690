//! Starts a process.

use std::fs::{self, Permissions};
use std::io::{self, pipe};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use lyceum_core::random::secret_id;
use lyceum_core::{Problem, ProblemKind, Result, message};
use tokio::net::UnixListener;
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connections::Connections;
use super::logs::{LogStream, Logs};
use super::process::{Process, ProcessEnd, StartedProcess};
use super::{EngineShared, Worker, config, slices, watch};
use crate::bindings::Bindings;
use crate::limits::BACKEND_START_MAX_MS;

/// The first of the user ids given to processes, if the server may change the user of a process.
const FIRST_USER: u32 = 610_000;
const USERS: u32 = 10_000;

/// The server's ends of a child: the socket of its bindings, its control messages, its output and its errors.
struct ChildStreams {
    listener: UnixListener,
    control: pipe::Receiver,
    out: pipe::Receiver,
    errors: pipe::Receiver,
}

/// Starts the worker and returns when it listens.
///
/// Errors: `Invalid` with the runtime's message; `Unavailable` without a runtime.
pub(super) async fn start(
    shared: &Arc<EngineShared>,
    worker: &Arc<Worker>,
    logs: &Arc<Logs>,
) -> Result<Arc<Process>> {
    let Some(program) = shared.settings.workerd.clone() else { return Err(missing_runtime()) };
    let folder = shared.folder();
    let token = secret_id();
    // Opened in this task, so that nothing opens a file after the caller has given up.
    let lease = Arc::clone(&shared.settings.lease);
    let bindings = Bindings::open(&shared.stores, worker, token.clone(), lease)
        .map_err(|fault| start_failed(&folder, &io::Error::other(fault)))?;
    let spawn_child = {
        let (worker, folder, runtime) = (Arc::clone(worker), folder.clone(), Handle::current());
        let heap_bytes = shared.settings.heap_bytes;
        move || {
            let _entered = runtime.enter();
            let listener = prepare_folder(&worker, &folder, heap_bytes, &token)?;
            spawn(&program, &folder, listener)
        }
    };
    let front = Connections::to(folder.join(config::FRONT));
    let launched =
        Process::launch(folder.clone(), front, shared.settings.drain_timeout, spawn_child).await;
    let launched = launched.map_err(|fault| start_failed(&folder, &fault))?;
    let StartedProcess { process: unclaimed, streams, exit_status } = launched;
    let process = Arc::clone(unclaimed.process());

    let mut output_readers = JoinSet::new();
    output_readers.spawn(Arc::clone(logs).read_from(LogStream::Out, streams.out));
    output_readers.spawn(Arc::clone(logs).read_from(LogStream::Error, streams.errors));
    let serving = tokio::spawn(bindings.serve(streams.listener));
    let end_reason = {
        let (logs, process) = (Arc::clone(logs), Arc::clone(&process));
        move |status: Option<std::process::ExitStatus>| {
            let text = match (process.end(), status) {
                // The engine ends it with a signal, which would read like a crash.
                (Some(ProcessEnd::Unneeded), _) => "it is no longer needed".to_owned(),
                (_, Some(status)) => status.to_string(),
                (_, None) => "its status is unknown".to_owned(),
            };
            logs.add(LogStream::Engine, format!("the process ended: {text}"));
            if logs.ran_out_of_heap() { ProcessEnd::Heap } else { ProcessEnd::Crashed }
        }
    };
    let recording_exit = Arc::clone(&process).record_exit(exit_status, output_readers, end_reason);
    let pulse = Connections::to(folder.join(config::PULSE));
    let watching = watch::watch(Arc::clone(&process), shared.settings.clone(), pulse);
    tokio::spawn(async move {
        tokio::select! {
            () = recording_exit => {}
            () = watching => unreachable!("watching never ends"),
        }
        serving.abort();
    });

    let start_timeout = Duration::from_millis(BACKEND_START_MAX_MS);
    let is_listening = timeout(start_timeout, wait_for_sockets(&streams.control)).await;
    let _ = fs::remove_file(folder.join(config::CONFIG));
    for index in 0..worker.modules.len() {
        let _ = fs::remove_file(folder.join(config::module_file(index)));
    }
    match is_listening {
        Ok(true) => {
            slices::use_backend_slice(process.id());
            Ok(unclaimed.claim())
        }
        Ok(false) => {
            process.wait_for_end().await;
            Err(start_refused(&logs.last_errors()))
        }
        Err(_) => {
            let seconds = start_timeout.as_secs();
            Err(start_refused(&format!(
                "it did not start to listen within {seconds} s\n{}",
                logs.last_errors()
            )))
        }
    }
}

fn start_refused(errors: &str) -> Problem {
    Problem::invalid(
        "backend",
        message!("the backend does not start: {reason}", reason = errors.trim()),
    )
}

fn start_failed(folder: &Path, fault: &io::Error) -> Problem {
    let _ = fs::remove_dir_all(folder);
    Problem::internal(format!("a backend cannot be started: {fault}"))
}

/// Creates the folder of the process with all that it reads, and the socket of its bindings.
fn prepare_folder(
    worker: &Worker,
    folder: &Path,
    heap_bytes: u64,
    token: &str,
) -> io::Result<UnixListener> {
    fs::create_dir(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    let text = config::text(worker, folder, heap_bytes, token);
    let file = folder.join(config::CONFIG);
    fs::write(&file, "")?;
    fs::set_permissions(&file, Permissions::from_mode(0o600))?;
    fs::write(&file, text)?;
    for (index, (_, bytes)) in worker.modules.iter().enumerate() {
        fs::write(folder.join(config::module_file(index)), bytes)?;
    }
    UnixListener::bind(folder.join(config::BINDINGS))
}

/// Starts the program. Runs on a thread that is not used for anything else.
fn spawn(
    program: &Path,
    folder: &Path,
    listener: UnixListener,
) -> io::Result<(Child, ChildStreams)> {
    let (control, control_writer) = pipe()?;
    let (out, out_writer) = pipe()?;
    let (errors, errors_writer) = pipe()?;
    let mut command = command_as(program, assign_user(program, folder)?);
    // The server's environment may contain secrets.
    command.env_clear().current_dir(folder);
    command.args(["serve", "--control-fd=0"]).arg(folder.join(config::CONFIG));
    command.stdin(control_writer).stdout(out_writer).stderr(errors_writer);
    slices::use_default_slice();
    let child = command.spawn()?;
    let [control, out, errors] =
        [control, out, errors].map(|pipe| pipe::Receiver::from_owned_fd(pipe.into()));
    let (control, out, errors) = (control?, out?, errors?);
    Ok((child, ChildStreams { listener, control, out, errors }))
}

/// Creates a user id for this process and gives it the folder; `None` if the server may not change users.
fn assign_user(program: &Path, folder: &Path) -> io::Result<Option<u32>> {
    if !rustix::process::geteuid().is_root() || !is_executable_by_all(program) {
        return Ok(None);
    }
    let number = folder.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let number = std::process::id().wrapping_add(number.unwrap_or_default());
    let user = FIRST_USER + number % USERS;
    change_owner(folder, user)?;
    Ok(Some(user))
}

fn missing_runtime() -> Problem {
    let message = "workerd, which runs backends, was not found; install the npm package 'workerd' or name \
                   the program in LYCEUM_WORKERD";
    Problem::new(ProblemKind::Unavailable, message)
}

/// A command that runs the program as this user. The system ends it when the server is killed, and it cannot regain privileges.
/// Without `setpriv`, the next start of a server ends processes that are left.
fn command_as(program: &Path, user: Option<u32>) -> Command {
    let Some(setpriv) =
        ["/usr/bin/setpriv", "/bin/setpriv"].iter().find(|at| Path::new(at).exists())
    else {
        let mut command = Command::new(program);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        return command;
    };
    let mut command = Command::new(setpriv);
    if let Some(user) = user {
        // `Command::uid` would fork the whole server, which takes longer the more memory it has.
        command.arg(format!("--reuid={user}")).arg(format!("--regid={user}")).arg("--clear-groups");
    }
    command.args(["--pdeathsig=KILL", "--no-new-privs", "--"]).arg(program);
    command
}

/// Whether users other than its owner can start the program.
fn is_executable_by_all(program: &Path) -> bool {
    program.ancestors().all(|path| {
        let mode = fs::metadata(path).map(|data| data.permissions().mode());
        path.as_os_str().is_empty() || mode.is_ok_and(|mode| mode & 0o001 != 0)
    })
}

/// Changes the owner of the folder and of everything in it.
fn change_owner(folder: &Path, user: u32) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        chown(entry?.path(), Some(user), Some(user))?;
    }
    // Other users may enter the folder of all runs, but not list it.
    if let Some(run) = folder.parent() {
        fs::set_permissions(run, Permissions::from_mode(0o711))?;
    }
    chown(folder, Some(user), Some(user))
}

/// Waits until the child reports that both sockets listen; `false` if it closes the pipe before.
async fn wait_for_sockets(control: &pipe::Receiver) -> bool {
    let mut received = Vec::new();
    let mut bytes = [0; 1024];
    while control.readable().await.is_ok() {
        match control.try_read(&mut bytes) {
            Ok(0) => return false,
            Ok(count) => received.extend_from_slice(&bytes[..count]),
            Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => continue,
            Err(_) => return false,
        }
        let lines = received.split(|byte| *byte == b'\n');
        let sockets = lines.filter(|line| line.windows(8).any(|part| part == b"\"listen\""));
        if sockets.count() >= 2 {
            return true;
        }
    }
    false
}

/// The problem that callers get if a backend does not start.
pub(super) fn unavailable(slug: &str) -> Problem {
    let message = message!("the backend of '{slug}' does not start; see its log for the reason");
    Problem::new(ProblemKind::Unavailable, message)
}
