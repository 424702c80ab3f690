//! The server that a project is deployed to.

use lyceum_deploy::Server;
use lyceum_project::State;

use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;
use crate::profile::{Connection, Env, usual_profile};

impl Env {
    /// Signs in to the server of the environment and reads the project's state.
    ///
    /// Errors: the user is not signed in; the server belongs to another environment.
    pub(crate) fn open(
        self,
        slug: &str,
        debug: bool,
        printer: &Printer,
    ) -> Result<(Server, State)> {
        let Connection { url, credentials, .. } = self.connection(&usual_profile(), Some(slug))?;
        let server = Server::sign_in(&url, credentials, printer.debugging(debug))?;
        let state = server.state(slug)?;
        if state.environment == self.name() {
            return Ok((server, state));
        }
        let message = format!(
            "{} is a {} server, not a {} server; nothing was changed",
            server.base(),
            state.environment,
            self.name()
        );
        let hint = format!("use --env {}, or the address of another server", state.environment);
        Err(Failure::new(Code::Conflict, message).hint(hint))
    }
}
