//! Where the learning of a sandbox's players is recorded.

use std::sync::Arc;

use lyceum_client::{Client, Object};
use lyceum_games::lms::IntegrationSetupOrganization;
use tokio::sync::Mutex;

/// The place where the learning of a sandbox's players is recorded.
#[derive(Clone)]
pub enum Learning {
    /// The server itself.
    Here,
    /// Nowhere.
    Nowhere,
    /// Another Lyceum server. It has the records of what a game teaches and the events of what players learn.
    Elsewhere(Arc<RemoteLearning>),
}

/// Another Lyceum server, and the student there whom the demo user represents.
pub struct RemoteLearning {
    /// The connection to the server.
    pub client: Client,
    /// The sourcedId of that student.
    pub student: String,
    /// The student's record, if a setup may create it.
    pub made: Option<Object>,
    /// The role of the demo user, if it was set: the platform's name of the role, and the role in a class, or `None` if
    /// the user has no role in classes.
    pub role: Option<(&'static str, Option<&'static str>)>,
    /// The organization of courses if a setup does not name one.
    pub organization: IntegrationSetupOrganization,
    /// Activities are sent one after the other, so that attempts are counted in the right order.
    pub turn: Mutex<()>,
}

impl RemoteLearning {
    /// Connects to the server for a student.
    pub fn new(
        client: Client,
        student: String,
        organization: IntegrationSetupOrganization,
    ) -> Self {
        let (made, role, turn) = (None, None, Mutex::default());
        Self { client, student, made, role, organization, turn }
    }
}
