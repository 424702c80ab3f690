//! Home: health, what to do next, data that flows.

use askama::Template;

use crate::chart::Svg;
use crate::{Column, Frame, List};

/// Something to do before the platform is of use.
#[derive(Debug)]
pub struct Step {
    /// Whether it is done.
    pub is_done: bool,
    /// What to do.
    pub name: &'static str,
    /// Why, or how.
    pub says: &'static str,
    /// The page on which it is done.
    pub href: &'static str,
    /// The command that does it; empty where there is none.
    pub command: &'static str,
}

/// A number with what it means and what is behind it.
#[derive(Debug)]
pub struct Figure {
    /// What is counted.
    pub name: &'static str,
    /// The number.
    pub shown: String,
    /// A few words below.
    pub says: String,
    /// `good`, `warn`, `bad` or none.
    pub tone: &'static str,
    /// The page behind it.
    pub href: Option<String>,
}

/// How the server does.
#[derive(Debug)]
pub struct Health {
    /// The database, jobs, the last backup.
    pub figures: Vec<Figure>,
    /// Whether a button makes a backup; where it does not, a command does.
    pub has_button: bool,
}

/// The page.
#[derive(Template)]
#[template(path = "home.html")]
pub struct Home {
    /// The frame.
    pub frame: Frame,
    /// What this server is: version, database.
    pub about: Vec<String>,
    /// What is to be done first; nothing once all of it is.
    pub steps: Vec<Step>,
    /// What is here.
    pub figures: Vec<Figure>,
    /// How data flows.
    pub flow: Vec<Figure>,
    /// Events by minute.
    pub minutes: Svg,
    /// How the server does, for those who look after it.
    pub health: Option<Health>,
    /// The project and the student of a sandbox, each with its name and its page.
    pub sandbox: Vec<(&'static str, String, String)>,
}

impl Home {
    fn done(&self) -> usize {
        self.steps.iter().filter(|step| step.is_done).count()
    }
}

/// The columns of unknown students.
pub const UNKNOWN: &[Column] = &[Column::text("actor", "Actor"), Column::text("email", "E-mail")];

/// Actors of events whom the roster does not know.
#[derive(Template)]
#[template(path = "unknown.html")]
pub struct Unknown {
    /// The frame.
    pub frame: Frame,
    /// They.
    pub list: List,
}
