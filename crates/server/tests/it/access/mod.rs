//! Access: which callers may call which routes.

mod callers;
mod early;
mod matrix;
mod organizations;
mod pages;
mod reach;
mod work;
mod work_routes;

use lyceum_access::{NewApiKey, NewClient, Role, api_key, client};
use lyceum_core::Reach;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::TestServer;

/// A client with all scopes that is limited to organizations.
pub(crate) fn limited_client(server: &TestServer, organizations: &[&str]) -> TestClient {
    let (id, secret) = server.register(&NewClient::named("limited"));
    let reach = Reach::organizations(organizations.iter().copied()).unwrap();
    server.db().write_blocking(|tx| client::limit(tx, &id, &reach)).unwrap();
    server.anonymous().with_token(server.token_of(&id, &secret))
}

/// A program with a developer's key for one project.
pub(crate) fn bound_key(server: &TestServer, project: &str) -> TestClient {
    let new = NewApiKey {
        name: format!("key of {project}"),
        role: Role::Developer,
        project: Some(project.to_owned()),
        maker: None,
    };
    let (now, environment) = (server.setup().clock.now(), server.setup().config.server.env);
    let created = server.db().write_blocking(|tx| api_key::create(tx, now, environment, &new));
    server.anonymous().with_token(created.unwrap().1)
}
