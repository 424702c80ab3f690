//! Home: own classes or projects, health, next steps and incoming data.

use askama::Template;
use askama::filters::HtmlSafe;
use lyceum_console::chart::Svg;
use lyceum_console::{Column, Frame, Label, List};

/// A step of setting up the platform.
#[derive(Debug)]
pub(crate) struct SetupStep {
    /// Whether the step is done.
    pub is_done: bool,
    /// The name of the step.
    pub name: &'static str,
    /// Explains why or how to do the step.
    pub description: &'static str,
    /// The page on which to do the step.
    pub href: &'static str,
    /// The command that does the step; empty if there is no command.
    pub command: &'static str,
}

/// A number with its meaning, and a link to the records behind it.
#[derive(Debug)]
pub(crate) struct Figure {
    /// The name of the number.
    pub name: &'static str,
    /// The number as text.
    pub shown: String,
    /// A short remark next to the number.
    pub description: String,
    /// `good`, `warn`, `bad`, or empty for plain text.
    pub tone: &'static str,
    /// The page that lists the records behind the number.
    pub href: Option<String>,
}

/// The health of the server.
#[derive(Debug)]
pub(crate) struct Health {
    /// The database, the servers, the jobs and the last backup.
    pub figures: Vec<Figure>,
}

/// The incoming events of the server.
#[derive(Debug)]
pub(crate) struct EventFlow {
    /// Numbers about them.
    pub figures: Vec<Figure>,
    /// A chart of events by minute.
    pub minutes: Svg,
}

/// A teacher's own classes, and what their students do today.
#[derive(Template)]
#[template(path = "console/home/my_classes.html")]
pub(crate) struct MyClasses {
    /// Numbers about the students of all classes.
    pub figures: Vec<Figure>,
    /// The classes.
    pub classes: Vec<MyClass>,
    /// The first of the students who need attention: name, page and reasons.
    pub needs: Vec<(String, String, Vec<Label>)>,
    /// The number of students who need attention.
    pub need_count: usize,
    /// The page with all of them.
    pub needs_href: String,
}

impl HtmlSafe for MyClasses {}

impl MyClasses {
    fn has_more_needs(&self) -> bool {
        self.need_count > self.needs.len()
    }
}

/// A class of a teacher today.
#[derive(Debug)]
pub(crate) struct MyClass {
    /// Its title.
    pub title: String,
    /// Its page.
    pub href: String,
    /// The title of its course.
    pub course: String,
    /// The same numbers about its students as of all classes.
    pub figures: [Figure; 5],
}

/// A project of a developer.
#[derive(Debug)]
pub(crate) struct MyProject {
    /// Its slug.
    pub slug: String,
    /// Its page.
    pub href: String,
    /// The deployed parts: a frontend, a backend or both; with a tone, `good` or `warn`.
    pub state: (&'static str, String),
    /// The version that is served, and when and by whom it was deployed.
    pub deployed: String,
    /// The number of errors in its log since this server started the backend.
    pub errors: usize,
    /// The page with these errors.
    pub errors_href: String,
}

/// The home page.
#[derive(Template)]
#[template(path = "console/home/home.html")]
pub(crate) struct HomePage {
    /// The frame.
    pub frame: Frame,
    /// Version, database and time zone.
    pub about: Vec<String>,
    /// The classes of a guide who teaches.
    pub my_classes: Option<MyClasses>,
    /// The projects of a developer; none for other roles.
    pub my_projects: Option<Vec<MyProject>>,
    /// The steps of setting up the platform; empty when all of them are done.
    pub steps: Vec<SetupStep>,
    /// The amounts of stored data.
    pub figures: Vec<Figure>,
    /// The incoming events; none for people who are limited to a part of the roster.
    pub flow: Option<EventFlow>,
    /// The health of the server, for administrators.
    pub health: Option<Health>,
    /// The project and the student of a sandbox: a label, the name and the page of each.
    pub sandbox: Vec<(&'static str, String, String)>,
}

impl HomePage {
    fn done(&self) -> usize {
        self.steps.iter().filter(|step| step.is_done).count()
    }
}

/// The columns of the list of unknown students.
pub(crate) const UNKNOWN: &[Column] =
    &[Column::text("actor", "Actor"), Column::text("email", "E-mail")];

/// The page of the actors of events who are not in the roster.
#[derive(Template)]
#[template(path = "console/home/unknown.html")]
pub(crate) struct UnknownActorsPage {
    /// The frame.
    pub frame: Frame,
    /// The list of actors.
    pub list: List,
}
