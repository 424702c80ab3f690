//! API keys that people create for projects, and their fate when a person leaves.

use lyceum_access::{self as access, NewApiKey, Role, api_key, person as people};
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, both};
use serde_json::Value;

use super::{person, signed_in};
use crate::game_tokens::{player, playground};

/// An API key for the project, created by the person with this e-mail address.
fn key_of(server: &TestServer, email: &str, name: &str, project: Option<&str>) -> TestClient {
    let (now, environment) = (server.setup().clock.now(), server.setup().config.server.env);
    let created = server.db().write_blocking(|tx| {
        let new = NewApiKey {
            name: name.to_owned(),
            role: Role::Developer,
            project: project.map(str::to_owned),
            maker: Some(people::require(tx, email)?.id),
        };
        api_key::create(tx, now, environment, &new)
    });
    server.anonymous().with_token(created.unwrap().1)
}

fn stopped(server: &TestServer) -> Vec<String> {
    let keys = server.db().read_blocking(api_key::list).unwrap();
    keys.into_iter().filter(|key| key.is_stopped).map(|key| key.name).collect()
}

#[test]
fn a_key_ends_when_its_creator_may_no_longer_change_the_project() {
    both(|server| {
        let client = playground(server);
        for (email, role) in
            [("ada@example.org", Role::Administrator), ("grace@example.org", Role::Developer)]
        {
            person(server, email, email, role);
        }
        let member = |is_member: bool| {
            let change = |tx: &mut lyceum_store::Tx<'_>| {
                let id = people::require(tx, "grace@example.org")?.id;
                match is_member {
                    true => access::join(tx, "rivers", &id),
                    false => access::leave(tx, "rivers", &id),
                }
            };
            server.db().write_blocking(change).unwrap();
        };
        member(true);
        let own = key_of(server, "grace@example.org", "own", Some("rivers"));
        let others = [
            key_of(server, "ada@example.org", "project", Some("rivers")),
            key_of(server, "ada@example.org", "all", None),
        ];
        let ann = player(server, &own, "ann", "rivers");
        own.get("/api/auth/me").expect(200);
        ann.get("/api/users/me").expect(200);
        assert_eq!(stopped(server), [""; 0]);

        member(false);
        let twin = server.twin();
        for server in [server.address(), twin.address()] {
            let caller = |client: &TestClient| {
                TestClient::new(server.clone()).with_token(client.token().unwrap())
            };
            let refused = caller(&own).get("/api/auth/me").expect(401).text();
            assert!(refused.contains("no longer has access to its project"), "{refused}");
            caller(&ann).get("/api/users/me").expect(401);
            for other in &others {
                caller(other).get("/api/auth/me").expect(200);
            }
        }
        assert_eq!(stopped(server), ["own"]);
        let browser = signed_in(server, "ada@example.org");
        let page = server.anonymous().get("/console/keys").header("cookie", &browser).expect(200);
        assert_eq!(page.text().matches("stopped: its creator").count(), 1, "{}", page.text());

        // The key works again if the person comes back, but disabling the account revokes it permanently.
        member(true);
        own.get("/api/auth/me").expect(200);
        let now = server.setup().clock.now();
        server.db().write_blocking(|tx| people::disable(tx, now, "grace@example.org")).unwrap();
        own.get("/api/auth/me").expect(401);
        let listed = server.db().read_blocking(api_key::list).unwrap();
        assert!(listed.iter().any(|key| key.name == "own" && key.revoked.is_some()));
        let me: Value = client.get("/api/auth/me").expect(200).json();
        assert!(me.is_object(), "a client goes on: {me}");
    });
}
