//! Events: the log, its live tail, what was refused.

use askama::Template;

use crate::{Frame, List, Tab, Tabs};

/// The tabs of the screen; `refused` counts what waits for somebody to look.
pub fn tabs(here: &'static str, refused: i64) -> Tabs {
    let counted = (refused > 0).then(|| refused.to_string());
    Tabs::new(
        here,
        vec![
            Tab::new("Log", "/console/events"),
            Tab::new("Live", "/console/events/live"),
            Tab { count: counted, ..Tab::new("Refused", "/console/events/refused") },
        ],
    )
}

/// The log, or what was refused.
#[derive(Template)]
#[template(path = "events.html")]
pub struct Events {
    /// The frame.
    pub frame: Frame,
    /// Log, Live, Refused.
    pub tabs: Tabs,
    /// The events, or the envelopes.
    pub list: List,
    /// How many refused envelopes wait to be replayed, where they are what is listed.
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
    /// Log, Live, Refused.
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

/// One refused envelope.
#[derive(Template)]
#[template(path = "refusal.html")]
pub struct Refusal {
    /// The frame.
    pub frame: Frame,
    /// Its number.
    pub id: i64,
    /// Who sent it and when.
    pub facts: crate::Facts,
    /// Why it was refused.
    pub message: String,
    /// Each fault: where, and what.
    pub faults: Vec<(String, String)>,
    /// What was sent, as far as it is kept.
    pub body: String,
    /// Whether it was taken since.
    pub is_replayed: bool,
}
