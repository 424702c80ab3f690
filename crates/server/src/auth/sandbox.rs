//! Who calls a sandbox without a token of ours. Nothing but [`crate::Server::as_sandbox`] makes one,
//! so that no other server ever takes a mock token.

use std::sync::Arc;

use lyceum_access as access;
use lyceum_access::{Client, Player, Scope, Scopes};
use lyceum_core::Dialect;
use lyceum_core::config::Limits;
use lyceum_core::time::Timestamp;

use super::{Caller, Grant, Kind};
use crate::learning::Learning;

/// The stand-ins of a sandbox.
pub(crate) struct Sandbox {
    /// Calls the standards' paths, and may do everything.
    everybody: Grant,
    /// The demo user, who makes the games, too, unless the user is a player and nothing else.
    demo: Grant,
    /// Whom players learn with.
    pub(crate) learning: Learning,
}

/// The client on whose behalf the stand-ins call.
pub(crate) fn client() -> Client {
    Client {
        id: "sandbox".to_owned(),
        name: "The sandbox".to_owned(),
        dialect: Dialect::Platform,
        scopes: Scopes::EVERYTHING,
        origins: Vec::new(),
        requests_per_second: Some(0),
        created: Timestamp::from_milliseconds(0),
        revoked: None,
        changed: 0,
    }
}

impl Sandbox {
    pub(crate) fn new(
        demo: Player,
        makes_games: bool,
        learning: Learning,
        limits: &Limits,
    ) -> Self {
        let caller = Arc::new(Caller::new(client(), limits));
        let grant = |player: Option<Player>| {
            let scopes = match player {
                None => Scopes::EVERYTHING.with(Scope::PasswordsRead),
                Some(_) if !makes_games => Scopes::default(),
                Some(_) => [Scope::GamesRead, Scope::GamesWrite].into_iter().collect(),
            };
            let token = access::Grant {
                client_id: "sandbox".to_owned(),
                scopes,
                rights: scopes.rights(),
                player,
                jti: "sandbox".to_owned(),
                issued: Timestamp::from_milliseconds(0),
                expires: Timestamp::from_milliseconds(i64::MAX),
            };
            Grant { token: Arc::new(token), caller: Arc::clone(&caller), kind: Kind::Sandbox }
        };
        Self { everybody: grant(None), demo: grant(Some(demo)), learning }
    }

    /// The demo user and the project.
    pub(crate) fn player(&self) -> &Player {
        self.demo.player().expect("the stand-in of the demo user names the demo user")
    }

    /// The demo user's sourcedId.
    pub(crate) fn demo_user(&self) -> Option<&str> {
        self.demo.player().map(|player| player.user.as_str())
    }

    /// Who stands in for a caller whose token is not one of ours: on the platform's routes the demo
    /// user for any token that is not empty, elsewhere everybody for none at all; who deploys, for both.
    pub(crate) fn stands_in(&self, token: Option<&str>, scopes: Scopes) -> Option<Grant> {
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
