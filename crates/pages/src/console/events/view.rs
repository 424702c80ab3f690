//! Events: the event log, new events as they arrive, and rejected envelopes.

use askama::Template;
use lyceum_console::{Frame, List, Tab, Tabs};

/// The tabs of the screen. `waiting` is the number of rejected envelopes that wait to be replayed; `None` for people who
/// do not see them.
pub(crate) fn tabs(here: &'static str, waiting: Option<i64>) -> Tabs {
    let mut tabs =
        vec![Tab::new("Log", "/console/events"), Tab::new("Live", "/console/events/live")];
    if let Some(waiting) = waiting {
        let count = (waiting > 0).then(|| waiting.to_string());
        tabs.push(Tab { count, ..Tab::new("Rejected", "/console/events/refused") });
    }
    Tabs::new(here, tabs)
}

/// The page with the event log, or with the rejected envelopes.
#[derive(Template)]
#[template(path = "console/events/events.html")]
pub(crate) struct EventsPage {
    /// The frame.
    pub frame: Frame,
    /// The tabs of the screen.
    pub tabs: Tabs,
    /// The events or the envelopes.
    pub list: List,
    /// The number of rejected envelopes that wait to be replayed; 0 on the page with the log.
    pub waiting: i64,
    /// Describes which rows are listed, if the viewer came from a number on another page.
    pub which: Option<String>,
    /// The page that lists all rows.
    pub all: &'static str,
}

/// The page that shows events as they arrive.
#[derive(Template)]
#[template(path = "console/events/events_live.html")]
pub(crate) struct LiveEventsPage {
    /// The frame.
    pub frame: Frame,
    /// The tabs of the screen.
    pub tabs: Tabs,
    /// The address of the stream.
    pub stream: &'static str,
}

/// The page of one event.
#[derive(Template)]
#[template(path = "console/events/event.html")]
pub(crate) struct EventPage {
    /// The frame.
    pub frame: Frame,
    /// The event's main values.
    pub facts: lyceum_console::FactList,
    /// The event as it was sent, as indented JSON.
    pub body: String,
}

/// The page of one rejected envelope.
#[derive(Template)]
#[template(path = "console/events/rejected.html")]
pub(crate) struct RejectedPage {
    /// The frame.
    pub frame: Frame,
    /// The number of the envelope.
    pub id: i64,
    /// The sender, the time and other facts.
    pub facts: lyceum_console::FactList,
    /// Why the envelope was rejected.
    pub message: String,
    /// The path and the message of each error.
    pub errors: Vec<(String, String)>,
    /// The stored part of the envelope as it was sent.
    pub body: String,
    /// Whether the envelope was already replayed.
    pub is_replayed: bool,
}
