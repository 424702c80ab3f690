//! Projects: what is deployed, what differs between versions, logs, files, secrets by name.

use askama::Template;

use crate::{Cell, Facts, Frame, List, Tab, Tabs};

/// The tabs of a project.
pub fn tabs(here: &'static str, slug: &str) -> Tabs {
    let at = |page: &str| format!("/console/projects/{slug}{page}");
    Tabs::new(
        here,
        vec![
            Tab::new("Versions", at("")),
            Tab::new("Secrets", at("/secrets")),
            Tab::new("Changes", at("/changes")),
        ],
    )
}

/// Every project that somebody may see.
#[derive(Template)]
#[template(path = "projects.html")]
pub struct Projects {
    /// The frame.
    pub frame: Frame,
    /// The projects.
    pub list: List,
}

/// A version that could be served.
pub struct Version {
    /// Its number.
    pub number: i64,
    /// Whether it is the one that is served.
    pub is_served: bool,
    /// When it was made.
    pub made: Cell,
    /// Who made it.
    pub by: String,
    /// What it is made of.
    pub parts: String,
}

/// A project with its versions.
#[derive(Template)]
#[template(path = "project.html")]
pub struct Project {
    /// The frame.
    pub frame: Frame,
    /// The project's pages.
    pub tabs: Tabs,
    /// What is known of it.
    pub facts: Facts,
    /// Its name in addresses.
    pub slug: String,
    /// What a rollback starts from.
    pub revision: i64,
    /// Those that are kept, newest first.
    pub versions: Vec<Version>,
    /// The command that brings what is served here to the other environment.
    pub promote: String,
}

/// What differs between two versions.
#[derive(Template)]
#[template(path = "project_diff.html")]
pub struct Diff {
    /// The frame.
    pub frame: Frame,
    /// The project's name in addresses.
    pub slug: String,
    /// The numbers of the versions that can be compared.
    pub versions: Vec<i64>,
    /// The older one.
    pub from: i64,
    /// The newer one.
    pub to: i64,
    /// Each difference: `added`, `removed` or `changed`, its tone, of what, and sizes.
    pub changes: Vec<(&'static str, &'static str, String, String)>,
    /// How many files are the same.
    pub same: usize,
}

/// One of a project's lists.
#[derive(Template)]
#[template(path = "project_list.html")]
pub struct Listed {
    /// The frame.
    pub frame: Frame,
    /// The project's pages.
    pub tabs: Tabs,
    /// What is said above the list.
    pub says: String,
    /// The rows.
    pub list: List,
}
