//! Access: which callers may call which routes.

mod callers;
mod early;
mod matrix;
mod reach;

use lyceum_access::{NewApiKey, Role, api_key};
use lyceum_testkit::client::TestClient;
use lyceum_testkit::server::TestServer;

/// A program with a developer's key for one project.
pub(crate) fn bound_key(server: &TestServer, project: &str) -> TestClient {
    let new = NewApiKey {
        name: format!("key of {project}"),
        role: Role::Developer,
        project: Some(project.to_owned()),
        maker: None,
    };
    let (now, environment) = (server.setup().clock.now(), server.setup().config.server.env);
    let made = server.db().write_blocking(|tx| api_key::create(tx, now, environment, &new));
    server.anonymous().with_token(made.unwrap().1)
}
