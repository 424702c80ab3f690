//! System: what the server is, jobs, backups, the log of changes, settings.

use askama::Template;

use crate::{Facts, Frame, List, Tab, Tabs};

/// The tabs of the screen.
pub fn tabs(here: &'static str) -> Tabs {
    let tab = |name, path| Tab::new(name, path);
    Tabs::new(
        here,
        vec![
            tab("Overview", "/console/system"),
            tab("Jobs", "/console/system/jobs"),
            tab("Backups", "/console/system/backups"),
            tab("Audit log", "/console/system/audit"),
            tab("Settings", "/console/system/settings"),
        ],
    )
}

/// What the server is.
#[derive(Template)]
#[template(path = "system.html")]
pub struct Overview {
    /// The frame.
    pub frame: Frame,
    /// The screen's pages.
    pub tabs: Tabs,
    /// What is known of the server.
    pub facts: Facts,
}

/// One of the screen's lists.
#[derive(Template)]
#[template(path = "system_list.html")]
pub struct SystemListPage {
    /// The frame.
    pub frame: Frame,
    /// The screen's pages.
    pub tabs: Tabs,
    /// What is said above the list.
    pub says: &'static str,
    /// Whether a backup can be made here by a button.
    pub makes_backups: bool,
    /// The rows.
    pub list: List,
}

/// One job.
#[derive(Template)]
#[template(path = "job.html")]
pub struct Job {
    /// The frame.
    pub frame: Frame,
    /// What work, how far.
    pub facts: Facts,
    /// Its tries.
    pub list: List,
}

/// One change of the log.
#[derive(Template)]
#[template(path = "change.html")]
pub struct Change {
    /// The frame.
    pub frame: Frame,
    /// Who, what, when.
    pub facts: Facts,
    /// What changed, as JSON; empty where nothing is told.
    pub details: String,
}
