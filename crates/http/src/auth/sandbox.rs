//! Default grants for callers of a sandbox without a real token. Only `as_sandbox` of the crate `server`
//! creates them, so that no other server accepts a mock token.

use std::sync::Arc;

use http::request::Parts;
use http::uri::Authority;
use http::{HeaderName, header};
use lyceum_access as access;
use lyceum_access::{Client, Player, Scope, Scopes};
use lyceum_core::config::Config;
use lyceum_core::origins::Origins;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, PayloadDialect, Problem, ProblemKind, Reach, Result, message};

use super::{CallerKind, CallingBackend, ClientShare, Grant};

/// The default grants of a sandbox.
pub struct SandboxGrants {
    /// The grant for the standards' paths, which may do everything.
    everybody: Grant,
    /// The grant of the demo user, who also develops the games unless the sandbox says that the user only plays.
    demo: Grant,
    /// The pages that may call and the host names that they may use. This check replaces the token, which a foreign
    /// page could not know.
    pub origins: Origins,
}

/// The client of the default grants.
pub fn client() -> Client {
    Client {
        id: access::SANDBOX_CLIENT.to_owned(),
        name: "The sandbox".to_owned(),
        dialect: PayloadDialect::Platform,
        scopes: Scopes::EVERYTHING,
        origins: Vec::new(),
        requests_per_second: Some(0),
        created: Timestamp::from_milliseconds(0),
        revoked: None,
        changed: 0,
        reach: Reach::Everything,
    }
}

impl SandboxGrants {
    /// The default grants of a sandbox with this demo user.
    pub fn new(demo: Player, makes_games: bool, config: &Config) -> Self {
        let caller = Arc::new(ClientShare::new(client(), &config.limits));
        let grant = |player: Option<Player>| {
            let scopes = match player {
                None => Scopes::EVERYTHING.with(Scope::PasswordsRead),
                Some(_) if !makes_games => Scopes::default(),
                Some(_) => [Scope::GamesRead, Scope::GamesWrite].into_iter().collect(),
            };
            let token = access::Grant {
                client_id: access::SANDBOX_CLIENT.to_owned(),
                scopes,
                rights: scopes.rights(),
                player,
                jti: "sandbox".to_owned(),
                issued: Timestamp::from_milliseconds(0),
                expires: Timestamp::from_milliseconds(i64::MAX),
            };
            Grant { token: Arc::new(token), caller: Arc::clone(&caller), kind: CallerKind::Sandbox }
        };
        let origins = Origins::of(vec![config.public_url()], &config.hosting.domain);
        Self { everybody: grant(None), demo: grant(Some(demo)), origins }
    }

    /// Refuses pages of other sites, and host names that another site pointed to this server. Errors: `Forbidden`, with
    /// the flag that allows the call.
    pub fn check(&self, parts: &Parts) -> Result<()> {
        // Requests of a backend do not have a connection.
        if parts.extensions.get::<CallingBackend>().is_some() {
            return Ok(());
        }
        let text = |name: HeaderName| {
            parts.headers.get(name).map(|value| value.to_str().unwrap_or_default())
        };
        let host = parts.uri.authority().map(Authority::as_str).or(text(header::HOST));
        if let Some(host) = host.filter(|host| !self.origins.takes_host(host)) {
            return Err(forbidden(message!(
                "this sandbox does not answer for the host '{host}', whose name others could make lead \
                 here; if it is yours, start the sandbox with --origin http://{host}"
            )));
        }
        match text(header::ORIGIN).filter(|origin| !self.origins.takes_page(origin, host)) {
            None => Ok(()),
            Some(origin) => Err(forbidden(message!(
                "pages of '{origin}' may not call this sandbox; if they are yours, start it with \
                 --origin {origin}"
            ))),
        }
    }

    /// The grant of the demo user.
    pub fn player(&self) -> &Player {
        self.demo.player().expect("the stand-in of the demo user names the demo user")
    }

    /// The demo user's sourcedId.
    pub fn demo_user(&self) -> Option<&str> {
        self.demo.player().map(|player| player.user.as_str())
    }

    /// The default grant for a caller without a real token. On the platform's routes, any token that is not empty means
    /// the demo user. Other routes need no token. For deploys, the caller is the developer in both cases.
    pub fn stands_in(&self, token: Option<&str>, scopes: Scopes) -> Option<Grant> {
        let is_platform =
            scopes.iter().all(|scope| matches!(scope, Scope::GamesRead | Scope::GamesWrite));
        let deploys =
            scopes.iter().all(|scope| matches!(scope, Scope::ProjectsRead | Scope::ProjectsWrite));
        match token {
            _ if deploys => Some(self.everybody.clone()),
            Some(token) if is_platform && !token.is_empty() => Some(self.demo.clone()),
            None if !is_platform => Some(self.everybody.clone()),
            _ => None,
        }
    }
}

fn forbidden(message: Message) -> Problem {
    // The page cannot read the answer, so the log shows the reason.
    tracing::warn!("{message}");
    Problem::new(ProblemKind::Forbidden, message)
}
