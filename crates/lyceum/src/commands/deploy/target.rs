//! Which server a project is deployed to, and who asks.

use lyceum_core::config::variable;
use lyceum_deploy::{Credentials, Server};
use lyceum_project::State;
use lyceum_sandbox::registry;

use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;
use crate::profile::Profiles;

pub(crate) use crate::profile::Env as Environment;

impl Environment {
    /// Signs in to the server of the environment.
    pub(crate) fn server(self, slug: &str, debug: bool, printer: &Printer) -> Result<Server> {
        let (base, credentials) = match self {
            Self::Local => (sandbox(slug), Credentials::None),
            _ => self.remote()?,
        };
        let told = printer.debugging(debug);
        Ok(Server::sign_in(&base, credentials, told)?)
    }

    /// Address and credentials by `LYCEUM_STAGING_URL` and its like, for any by `LYCEUM_URL`, or else
    /// as `lyceum login` wrote them down.
    fn remote(self) -> Result<(String, Credentials)> {
        let own = self.name().to_uppercase();
        let find = |name: &str| {
            let found = variable(&format!("LYCEUM_{own}_{name}"));
            let found = found.or_else(|| variable(&format!("LYCEUM_{name}")));
            found.filter(|value| !value.is_empty())
        };
        let Some(base) = find("URL") else {
            let profile = variable("LYCEUM_PROFILE").unwrap_or_else(|| "default".to_owned());
            let profiles = Profiles::read()?;
            if let Some(entry) = profiles.find(&profile, self) {
                return Ok((entry.url.clone(), Credentials::Key(entry.token.clone())));
            }
            let message = format!("no server of {} is known", self.name());
            return Err(Failure::new(Code::NotAllowed, message).hint(format!(
                "run `lyceum login --env {}`, set LYCEUM_URL and LYCEUM_API_KEY, or deploy to a \
                 sandbox with --env local",
                self.name()
            )));
        };
        let credentials = match (find("API_KEY"), find("CLIENT_ID"), find("CLIENT_SECRET")) {
            (Some(key), ..) => Credentials::Key(key),
            (None, Some(id), Some(secret)) => Credentials::Client(id, secret),
            _ => {
                let message = format!("nothing says who asks {base}");
                return Err(Failure::new(Code::NotAllowed, message)
                    .hint("set LYCEUM_API_KEY, or LYCEUM_CLIENT_ID and LYCEUM_CLIENT_SECRET"));
            }
        };
        Ok((base, credentials))
    }

    /// Refuses a server of another environment.
    pub(crate) fn check(self, server: &Server, state: &State) -> Result {
        if state.environment == self.name() {
            return Ok(());
        }
        let message = format!(
            "{} is a server of {}, not of {}; nothing was changed",
            server.base(),
            state.environment,
            self.name()
        );
        let hint = format!("name it with --env {}, or name another server", state.environment);
        Err(Failure::new(Code::Conflict, message).hint(hint))
    }
}

/// The sandbox of the project, else the only one, else the usual address.
fn sandbox(slug: &str) -> String {
    let running = registry::running();
    let own = running.iter().find(|entry| entry.slug == slug);
    let only = || running.first().filter(|_| running.len() == 1);
    match own.or_else(only) {
        Some(entry) => format!("http://127.0.0.1:{}", entry.port),
        None => "http://127.0.0.1:4321".to_owned(),
    }
}
