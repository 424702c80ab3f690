//! `lyceum listen`

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use lyceum_core::text::segment;
use serde_json::Value;

use crate::failure::Result;
use crate::printer::Printer;
use crate::remote::RemoteArgs;

/// Pause before a broken stream is opened again.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Args)]
pub(crate) struct Listen {
    /// Start after the event with this id; 0 starts with the first event [default: only new events]
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Exit after printing the existing events
    #[arg(long)]
    no_follow: bool,
    /// Only events of this sensor
    #[arg(long, value_name = "IRI")]
    sensor: Option<String>,
    /// Only events of the actor with this e-mail address
    #[arg(long, value_name = "EMAIL")]
    actor_email: Option<String>,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl Listen {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let mut after = self.after.clone();
        let path = self.path();
        let mut opened = false;
        loop {
            let stream = self.remote.sign_in().and_then(|it| it.stream(&path, after.as_deref()));
            match stream {
                Ok(stream) => {
                    opened = true;
                    printer.step("listening");
                    for line in BufReader::new(stream).lines().map_while(Result::ok) {
                        print(printer, &line, &mut after);
                    }
                }
                // If the first connection fails, the user must fix something, so the command does not retry.
                Err(failure) if !opened => return Err(failure),
                Err(failure) => printer.warn(&failure.message),
            }
            if self.no_follow {
                return Ok(());
            }
            sleep(PAUSE);
        }
    }

    fn path(&self) -> String {
        let mut path = format!("/events/stream?follow={}", !self.no_follow);
        for (name, value) in [("sensor", &self.sensor), ("actorEmail", &self.actor_email)] {
            if let Some(value) = value {
                let _ = write!(path, "&{name}={}", segment(value));
            }
        }
        path
    }
}

/// Prints an event line of the stream and remembers the id of the last event.
fn print(printer: &Printer, line: &str, after: &mut Option<String>) {
    if let Some(id) = line.strip_prefix("id: ") {
        *after = Some(id.to_owned());
    } else if let Some(data) = line.strip_prefix("data: ")
        && let Ok(event) = serde_json::from_str::<Value>(data)
    {
        printer.item(|| event_line(&event), || event.clone());
    }
}

/// An event in one line: number, time, type, action, actor and metrics.
fn event_line(event: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let actor = &event["actor"];
    let who = [&actor["email"], &actor["id"], actor].into_iter().find_map(Value::as_str);
    let metrics = event["generated"]["items"].as_array().into_iter().flatten();
    let metrics = metrics.map(|item| format!(" {}={}", text(&item["type"]), item["value"]));
    format!(
        "{} {} {} {} {}{}",
        event["id"],
        text(&event["eventTime"]),
        text(&event["type"]),
        text(&event["action"]),
        who.unwrap_or("-"),
        metrics.collect::<String>(),
    )
}
