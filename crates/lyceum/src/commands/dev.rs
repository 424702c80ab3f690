//! `lyceum dev`

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use lyceum_core::Problem;
use lyceum_core::origins::{self, Origins};
use lyceum_core::time::SystemClock;
use lyceum_dev::{DevFailure, DevMessage, MessageHandler, Settings};
use lyceum_hosting::engine::LogStream;
use lyceum_sandbox::registry;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::commands::sandbox::{bind, stdin_ends};
use crate::commands::serve::runtime;
use crate::failure::{Failure, Result};
use crate::printer::Printer;
use crate::project::evaluator;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Dev {
    /// Port to listen on
    #[arg(short, long, default_value_t = 8788)]
    port: u16,
    /// The project's config file, or its folder
    #[arg(
        short,
        long,
        alias = "config-path",
        value_name = "PATH",
        default_value = ".",
        hide_default_value = true
    )]
    config: PathBuf,
    /// Address of the sandbox that the backend uses [default: the project's sandbox, started if none runs]
    #[arg(long, value_name = "URL", conflicts_with = "no_sandbox")]
    sandbox: Option<String>,
    /// Serve only the backend, without a sandbox
    #[arg(long)]
    no_sandbox: bool,
    /// Serve the current sources and do not watch for changes
    #[arg(long)]
    no_reload: bool,
    /// Also accept requests for this origin's host, such as a tunnel, and pass it to the sandbox; can be
    /// given several times
    #[arg(long = "origin", value_name = "URL", value_parser = origins::read)]
    origins: Vec<String>,
    /// Do not print requests
    #[arg(long)]
    no_logger: bool,
    /// Stop when standard input closes, so that it ends together with its parent process
    #[arg(long)]
    until_stdin_ends: bool,
}

impl Dev {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let evaluator = evaluator(&self.config);
        let slug = lyceum_dev::slug_at(&self.config, &evaluator)?;
        let bound = bind(self.port)?;
        let port = bound.local_addr().map_err(Problem::internal)?.port();
        let own = match (&self.sandbox, self.no_sandbox) {
            (None, false) if running_sandbox(&slug).is_none() => {
                Some(Beside::start(&self.config, &self.origins)?)
            }
            _ => None,
        };
        let platform = match &own {
            Some(beside) => Some(beside.url.clone()),
            None => {
                self.sandbox.clone().or_else(|| running_sandbox(&slug).filter(|_| !self.no_sandbox))
            }
        };
        let settings = Settings {
            path: self.config,
            slug,
            platform: platform.clone(),
            workerd: evaluator.workerd,
            reloads: !self.no_reload,
            origins: Origins::of(self.origins, ""),
        };
        let url = format!("http://localhost:{port}");
        let handler: MessageHandler = message_printer(printer, !self.no_logger);
        runtime(0)?.block_on(async {
            // Before the address is known, so that a caller may stop it from then on.
            let stop = lyceum_server::stop_signal()?;
            let slug = &settings.slug;
            let summary = json!({
                "url": url, "api": format!("{url}/api"), "port": port, "pid": std::process::id(),
                "slug": slug, "sandbox": platform,
            });
            printer.answer(String::new, || summary);
            printer.done(&format!("Backend of '{slug}' on {url}/api"));
            printer.note(&format!("  Sandbox   {}", platform.as_deref().unwrap_or("none")));
            let ended = self.until_stdin_ends.then(stdin_ends);
            let stop = async {
                match ended {
                    Some(ended) => tokio::select! { () = stop => {}, _ = ended => {} },
                    None => stop.await,
                }
            };
            let listener = TcpListener::from_std(bound).map_err(Problem::internal)?;
            lyceum_dev::run(settings, listener, Arc::new(SystemClock), handler, stop).await?;
            Ok(())
        })
    }
}

/// The address of the project's sandbox, if one runs.
fn running_sandbox(slug: &str) -> Option<String> {
    registry::running().into_iter().find(|entry| entry.slug == slug).map(|entry| entry.url)
}

/// Prints what happens.
fn message_printer(printer: &Printer, logs: bool) -> MessageHandler {
    let printer = printer.clone();
    let shown = Mutex::new(Vec::new());
    Arc::new(move |message| match message {
        DevMessage::Serves { routes, took, bundled, again } => {
            let what = if again { "reloaded" } else { "ready" };
            printer.done(&format!("{what} in {} ms", took.as_millis()));
            printer.step(&format!("of which {} ms bundled it", bundled.as_millis()));
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            if *shown != routes {
                for (path, methods) in &routes {
                    printer.note(&format!("  {:<16} {path}", methods.join(",")));
                }
                *shown = routes;
            }
        }
        DevMessage::NotServed(DevFailure { message, stack, hint, .. }) => {
            printer.warn(&format!("the last change is not served: {message}"));
            if !stack.is_empty() {
                printer.note(&stack);
            }
            print_hint(&printer, hint);
        }
        DevMessage::NoticesLate(reason) => printer.warn(&reason),
        DevMessage::Answered { method, path, status, took, similar_path } if logs => {
            printer.note(&format!("{method} {path} {status} ({}ms)", took.as_millis()));
            print_hint(&printer, similar_path.map(|path| format!("did you mean {path}?")));
        }
        DevMessage::Answered { .. } => {}
        DevMessage::Output { line, hint } => {
            match line.stream {
                LogStream::Out => printer.note(&format!("│ {}", line.text.replace('\n', "\n│ "))),
                LogStream::Error => printer.note(&format!("┃ {}", line.text.replace('\n', "\n┃ "))),
                LogStream::Engine => printer.step(&line.text),
                // Printed when the request was answered.
                LogStream::Request => {}
            }
            print_hint(&printer, hint);
        }
    })
}

fn print_hint(printer: &Printer, hint: Option<String>) {
    if let Some(hint) = hint {
        printer.note(&format!("  hint: {hint}"));
    }
}

/// A sandbox that this process started. It stops with this process.
struct Beside {
    url: String,
    process: Child,
    /// Closing this pipe stops the sandbox.
    input: Option<ChildStdin>,
}

impl Beside {
    fn start(config: &std::path::Path, origins: &[String]) -> Result<Self> {
        let failed =
            |error: std::io::Error| Failure::failed(format!("cannot start a sandbox: {error}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(["sandbox", "--json", "--quiet", "--until-stdin-ends", "--next-free-port"]);
        command.arg("--config").arg(config);
        for origin in origins {
            command.arg("--origin").arg(origin);
        }
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let input = process.stdin.take();
        let output = process.stdout.take().expect("it is piped");
        let mut text = String::new();
        for line in BufReader::new(output).lines() {
            let line = line.map_err(failed)?;
            text.push_str(&line);
            if line == "}" {
                break;
            }
        }
        let started: Value = serde_json::from_str(&text).unwrap_or_default();
        match started["url"].as_str() {
            Some(url) => Ok(Self { url: url.to_owned(), process, input }),
            None => Err(Failure::failed("cannot start a sandbox for the backend")
                .hint("start one with `lyceum sandbox`, or use --no-sandbox")),
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}
