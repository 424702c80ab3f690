//! Projects: what is deployed, what differs between versions, logs, files, secrets by name.

use askama::Template;

use crate::{Facts, Frame, List, Tab, Tabs};

/// The tabs of a project.
pub fn tabs(here: &'static str, slug: &str) -> Tabs {
    let at = |page: &str| format!("/console/projects/{slug}{page}");
    Tabs::new(
        here,
        vec![
            Tab::new("Versions", at("")),
            Tab::new("Logs", at("/logs")),
            Tab::new("Bucket", at("/bucket")),
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
    /// The versions that are kept.
    pub versions: List,
    /// How many of them there are.
    pub kept: usize,
    /// Where the version that is served here can be promoted to, by a button.
    pub promotes_to: Option<String>,
    /// Whether the app is told names and e-mail addresses.
    pub shares_identity: bool,
    /// Whether the viewer may change that.
    pub is_administrator: bool,
}

/// What a backend printed and answered.
#[derive(Template)]
#[template(path = "project_logs.html")]
pub struct Logs {
    /// The frame.
    pub frame: Frame,
    /// The project's pages.
    pub tabs: Tabs,
    /// The lines, newest first.
    pub list: List,
    /// The address of those that come, and the number of the last one that is here; none where the list
    /// shows something else than the newest.
    pub tail: Option<(String, i64)>,
}

/// What a bucket has below a prefix.
#[derive(Template)]
#[template(path = "project_bucket.html")]
pub struct Bucket {
    /// The frame.
    pub frame: Frame,
    /// The project's pages.
    pub tabs: Tabs,
    /// The bucket's page.
    pub path: String,
    /// What all keys here begin with.
    pub prefix: String,
    /// The parts of the prefix, each with its page.
    pub folders: Vec<(String, String)>,
    /// How many are shown, where there are more.
    pub most: Option<usize>,
    /// Folders and objects.
    pub list: List,
}

/// An object of a bucket.
#[derive(Template)]
#[template(path = "project_object.html")]
pub struct Object {
    /// The frame.
    pub frame: Frame,
    /// The bucket's page, of the object's folder.
    pub back: String,
    /// The object's key.
    pub key: String,
    /// What is known of it.
    pub facts: Facts,
    /// Where its bytes are.
    pub download: String,
    /// Where the form goes that deletes it.
    pub delete: String,
}

/// What promoting a version would change on the other server.
#[derive(Template)]
#[template(path = "project_promote.html")]
pub struct Promote {
    /// The frame.
    pub frame: Frame,
    /// The project's name in addresses.
    pub slug: String,
    /// The version.
    pub version: i64,
    /// The other server.
    pub to: String,
    /// What would change; empty: nothing.
    pub changes: String,
    /// What its database would lose.
    pub losses: Vec<String>,
    /// The revision there that the plan starts from.
    pub base: i64,
    /// Where it is served, once it is done.
    pub done: Option<String>,
}

/// The question before another version is served.
#[derive(Template)]
#[template(path = "project_rollback.html")]
pub struct RollBack {
    /// The frame.
    pub frame: Frame,
    /// The project's name in addresses.
    pub slug: String,
    /// The version that is served.
    pub served: i64,
    /// The version that would be.
    pub version: i64,
    /// The revision of the project that the question is about.
    pub revision: i64,
}

/// A difference: `added`, `removed` or `changed`, its tone, the name of the part, and sizes.
pub type Change = (&'static str, &'static str, String, String);

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
    /// The differences.
    pub changes: Vec<Change>,
    /// How many files are the same.
    pub same: usize,
}

/// One of a project's lists.
#[derive(Template)]
#[template(path = "project_list.html")]
pub struct ListedProject {
    /// The frame.
    pub frame: Frame,
    /// The project's pages.
    pub tabs: Tabs,
    /// What is said above the list.
    pub says: String,
    /// The rows.
    pub list: List,
}
