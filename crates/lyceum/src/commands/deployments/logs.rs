//! `lyceum deployments logs`

use std::fmt::Write;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use lyceum_core::{Problem, ProblemKind};
use serde_json::{Value, json};

use super::{Of, elements};
use crate::failure::Result;
use crate::printer::Printer;

/// The pause between two polls of a followed log.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Args)]
pub(crate) struct Logs {
    #[command(flatten)]
    of: Of,
    /// Continue with new lines as they arrive
    #[arg(short, long)]
    follow: bool,
    /// Maximum number of lines [default: 100]
    #[arg(long, value_name = "LINES")]
    limit: Option<u32>,
}

impl Logs {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (server, state) = self.of.open(printer)?;
        let mut path = format!("/api/projects/{}/logs?", state.slug);
        if let Some(limit) = self.limit {
            let _ = write!(path, "limit={limit}&");
        }
        let lines = server.get(&path)?;
        if !self.follow {
            let text = || elements(&lines).map(|line| log_line(line) + "\n").collect();
            printer.answer(text, || json!(lines));
            return Ok(());
        }
        let mut after = 0;
        let mut next: Result<Value, Problem> = Ok(lines);
        loop {
            match next {
                Ok(lines) => {
                    for line in elements(&lines) {
                        printer.item(|| log_line(line), || line.clone());
                        after = line["id"].as_i64().unwrap_or(after);
                    }
                }
                // While following, a restarting server is waited for.
                Err(problem) if problem.kind == ProblemKind::Unavailable => {
                    printer.warn(&problem.message.to_string());
                }
                Err(problem) => return Err(problem.into()),
            }
            sleep(PAUSE);
            next = server.get(&format!("/api/projects/{}/logs?after={after}", state.slug));
        }
    }
}

/// `2026-01-31T10:39:51.123Z GET /api/hello 200 OK (12 ms)`
fn log_line(line: &Value) -> String {
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    let mark = match text("stream") {
        "error" => "error: ",
        "engine" => "engine: ",
        _ => "",
    };
    format!("{} {mark}{}", text("at"), text("text"))
}
