//! Events: the log, its live tail, rejected envelopes.

use askama::Template;

use crate::{Frame, List, Tab, Tabs};

/// The tabs of the screen; `waiting` counts the rejected envelopes that wait to be replayed.
pub fn tabs(here: &'static str, waiting: i64) -> Tabs {
    let counted = (waiting > 0).then(|| waiting.to_string());
    Tabs::new(
        here,
        vec![
            Tab::new("Log", "/console/events"),
            Tab::new("Live", "/console/events/live"),
            Tab { count: counted, ..Tab::new("Rejected", "/console/events/refused") },
        ],
    )
}

/// The log, or the rejected envelopes.
#[derive(Template)]
#[template(path = "events.html")]
pub struct Events {
    /// The frame.
    pub frame: Frame,
    /// Log, Live, Rejected.
    pub tabs: Tabs,
    /// The events, or the envelopes.
    pub list: List,
    /// How many rejected envelopes wait to be replayed; 0 on the log.
    pub waiting: i64,
    /// Which of them are listed, where a number was opened.
    pub which: Option<String>,
    /// Where all of them are listed.
    pub all: &'static str,
}

/// Events as they arrive.
#[derive(Template)]
#[template(path = "events_live.html")]
pub struct Live {
    /// The frame.
    pub frame: Frame,
    /// Log, Live, Rejected.
    pub tabs: Tabs,
    /// The address of the stream.
    pub stream: &'static str,
}

/// One event.
#[derive(Template)]
#[template(path = "event.html")]
pub struct Event {
    /// The frame.
    pub frame: Frame,
    /// What it says, in words.
    pub facts: crate::Facts,
    /// The event as it was sent, indented.
    pub body: String,
}

/// One rejected envelope.
#[derive(Template)]
#[template(path = "rejected.html")]
pub struct Rejected {
    /// The frame.
    pub frame: Frame,
    /// Its number.
    pub id: i64,
    /// Who sent it and when.
    pub facts: crate::Facts,
    /// Why it was rejected.
    pub message: String,
    /// Each error: its path, and the message.
    pub errors: Vec<(String, String)>,
    /// What was sent, as far as it is kept.
    pub body: String,
    /// Whether it was replayed.
    pub is_replayed: bool,
}
