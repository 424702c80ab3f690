//! System: an overview of the server, jobs, backups, the audit log and settings.

use askama::Template;
use lyceum_console::{FactList, Frame, List, Tab, Tabs};

/// The tabs of the screen.
pub(crate) fn tabs(here: &'static str) -> Tabs {
    let tab = |name, path| Tab::new(name, path);
    Tabs::new(
        here,
        vec![
            tab("Overview", "/console/system"),
            tab("Servers", "/console/system/servers"),
            tab("Jobs", "/console/system/jobs"),
            tab("Backups", "/console/system/backups"),
            tab("Audit log", "/console/system/audit"),
            tab("School hours", "/console/system/hours"),
            tab("Settings", "/console/system/settings"),
        ],
    )
}

/// The overview of the server.
#[derive(Template)]
#[template(path = "console/system/system.html")]
pub(crate) struct OverviewPage {
    /// The frame.
    pub frame: Frame,
    /// The tabs of the screen.
    pub tabs: Tabs,
    /// Facts about the server.
    pub facts: FactList,
}

/// A page with a list of the screen.
#[derive(Template)]
#[template(path = "console/system/system_list.html")]
pub(crate) struct SystemListPage {
    /// The frame.
    pub frame: Frame,
    /// The tabs of the screen.
    pub tabs: Tabs,
    /// The text above the list.
    pub description: String,
    /// Whether the page has a button that makes a backup.
    pub makes_backups: bool,
    /// The rows.
    pub list: List,
}

/// The page of one job.
#[derive(Template)]
#[template(path = "console/system/job.html")]
pub(crate) struct JobPage {
    /// The frame.
    pub frame: Frame,
    /// The kind of the job, its state and other facts.
    pub facts: FactList,
    /// The runs of the job.
    pub list: List,
}

/// The page of one entry of the audit log.
#[derive(Template)]
#[template(path = "console/system/change.html")]
pub(crate) struct AuditChangePage {
    /// The frame.
    pub frame: Frame,
    /// The audit log.
    pub facts: FactList,
    /// The details of the change as JSON; may be empty.
    pub details: String,
}
