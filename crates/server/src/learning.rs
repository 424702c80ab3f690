//! Whom the players of a sandbox learn with.

use std::sync::Arc;

use lyceum_client::{Client, Object};
use lyceum_games::lms::NewOrganization;
use tokio::sync::Mutex;

/// Whom the players of a sandbox learn with.
#[derive(Clone)]
pub enum Learning {
    /// The server itself.
    Here,
    /// Nobody.
    Nowhere,
    /// Another Lyceum server: what a game teaches are records there, what players learn are events there.
    Elsewhere(Arc<Elsewhere>),
}

/// Another Lyceum server, and who the demo user is there.
pub struct Elsewhere {
    /// The server.
    pub client: Client,
    /// The sourcedId of the student there whom the demo user is.
    pub student: String,
    /// The student's record, where a setup may make it.
    pub made: Option<Object>,
    /// What the demo user is to the school, where somebody said it: in words of the platform, and in a
    /// class; none there: in no class.
    pub role: Option<(&'static str, Option<&'static str>)>,
    /// Whose the courses of a setup are that does not say it.
    pub organization: NewOrganization,
    /// One activity is told after the other, so that attempts are counted as they were.
    pub(crate) turn: Mutex<()>,
}

impl Elsewhere {
    /// That server, for that student.
    pub fn new(client: Client, student: String, organization: NewOrganization) -> Self {
        let (made, role, turn) = (None, None, Mutex::default());
        Self { client, student, made, role, organization, turn }
    }
}
