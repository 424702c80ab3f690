//! Projects: deployed versions, differences between versions, logs, files and the names of secrets.

use askama::Template;
use lyceum_console::{FactList, Frame, List, Tab, Tabs};

/// The tabs of a project.
pub(crate) fn tabs(here: &'static str, slug: &str) -> Tabs {
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

/// The page of a project with its versions.
#[derive(Template)]
#[template(path = "console/projects/project.html")]
pub(crate) struct ProjectPage {
    /// The frame.
    pub frame: Frame,
    /// The tabs of the project.
    pub tabs: Tabs,
    /// Names and values.
    pub facts: FactList,
    /// The slug of the project.
    pub slug: String,
    /// The stored versions.
    pub versions: List,
    /// The number of stored versions.
    pub kept: usize,
    /// The server to which the button promotes the served version; `None` without a button.
    pub promotes_to: Option<String>,
    /// Whether the app receives names and e-mail addresses of players.
    pub shares_identity: bool,
    /// Whether the viewer may change that.
    pub is_administrator: bool,
}

/// The page with the output and requests of a backend.
#[derive(Template)]
#[template(path = "console/projects/project_logs.html")]
pub(crate) struct LogsPage {
    /// The frame.
    pub frame: Frame,
    /// The tabs of the project.
    pub tabs: Tabs,
    /// The lines, newest first.
    pub list: List,
    /// The address of the stream of new lines, and the number of the last line in the list. `None` if the list does not
    /// show the newest lines.
    pub tail: Option<(String, i64)>,
}

/// The page with the folders and objects of a bucket below a prefix.
#[derive(Template)]
#[template(path = "console/projects/project_bucket.html")]
pub(crate) struct BucketPage {
    /// The frame.
    pub frame: Frame,
    /// The tabs of the project.
    pub tabs: Tabs,
    /// The path of the bucket's page.
    pub path: String,
    /// The prefix of the listed keys.
    pub prefix: String,
    /// The name and page of each part of the prefix.
    pub folders: Vec<(String, String)>,
    /// The number of files shown, if there are more.
    pub most: Option<usize>,
    /// Folders and objects.
    pub list: List,
}

/// The page of an object in a bucket.
#[derive(Template)]
#[template(path = "console/projects/project_object.html")]
pub(crate) struct ObjectPage {
    /// The frame.
    pub frame: Frame,
    /// The page of the object's folder.
    pub back: String,
    /// The object's key.
    pub key: String,
    /// Names and values.
    pub facts: FactList,
    /// The address that downloads the object.
    pub download: String,
    /// The address of the form that deletes the object.
    pub delete: String,
}

/// The page that shows what promoting a version would change on the other server.
#[derive(Template)]
#[template(path = "console/projects/project_promote.html")]
pub(crate) struct PromotePage {
    /// The frame.
    pub frame: Frame,
    /// The slug of the project.
    pub slug: String,
    /// The version to promote.
    pub version: i64,
    /// The address of the other server.
    pub to: String,
    /// The changes as text; empty if nothing would change.
    pub changes: String,
    /// The data that the database of the other server would lose.
    pub losses: Vec<String>,
    /// The revision on the other server from which the plan starts.
    pub base: i64,
    /// The address at which the promoted version is served, after it was promoted.
    pub done: Option<String>,
}

/// The page that asks for confirmation before another version is served.
#[derive(Template)]
#[template(path = "console/projects/project_rollback.html")]
pub(crate) struct RollBackPage {
    /// The frame.
    pub frame: Frame,
    /// The slug of the project.
    pub slug: String,
    /// The version that is served now.
    pub served: i64,
    /// The version to serve.
    pub version: i64,
    /// The revision of the project when the page was shown.
    pub revision: i64,
}

/// A difference: `added`, `removed` or `changed`; the tone; the name of the part; its sizes.
pub(crate) type VersionDifference = (String, &'static str, String, String);

/// The page with the differences between two versions.
#[derive(Template)]
#[template(path = "console/projects/project_diff.html")]
pub(crate) struct DifferencesPage {
    /// The frame.
    pub frame: Frame,
    /// The slug of the project.
    pub slug: String,
    /// The numbers of the versions that can be compared.
    pub versions: Vec<i64>,
    /// The older one.
    pub from: i64,
    /// The newer one.
    pub to: i64,
    /// The differences.
    pub changes: Vec<VersionDifference>,
    /// The number of files that are the same.
    pub same: usize,
}

/// A page with a list about a project.
#[derive(Template)]
#[template(path = "console/projects/project_list.html")]
pub(crate) struct ProjectListPage {
    /// The frame.
    pub frame: Frame,
    /// The tabs of the project.
    pub tabs: Tabs,
    /// The text above the list.
    pub description: String,
    /// The rows.
    pub list: List,
}
