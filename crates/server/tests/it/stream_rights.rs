//! How long a live stream outlives the right to read it.

use std::time::Instant;

use lyceum_access::{NewClient, Role, Scope, api_key, client, person};
use lyceum_core::config::Environment;
use lyceum_core::limits;
use lyceum_testkit::server::{TestServer, both};

use crate::events::Stream;
use crate::people::{key, let_in};

/// A stream whose connection ends with it.
fn stream(server: &TestServer, token: &str) -> Stream {
    Stream::open(&server.address(), token, "Connection: close\r\n")
}

#[test]
fn a_stream_ends_in_time_when_its_client_person_or_key_may_not_read_it_any_more() {
    both(|server| {
        let new = NewClient {
            scopes: [Scope::EventsRead].into_iter().collect(),
            ..NewClient::named("reader")
        };
        let (id, secret) = server.register(&new);
        let guide = let_in(server, "gus@example.org", Role::Guide);
        let key = key(server, "board", Role::Guide, Environment::Production);
        let client = server.token_of(&id, &secret);
        let streams =
            [client.as_str(), guide.token().unwrap(), &key].map(|token| stream(server, token));
        let (other, other_secret) = server.register(&new);
        let kept = stream(server, &server.token_of(&other, &other_secret));
        let (begun, now) = (Instant::now(), server.setup().clock.now());
        server
            .db()
            .write_blocking(|tx| {
                client::revoke(tx, now, &id)?;
                person::disable(tx, now, "gus@example.org")?;
                api_key::revoke(tx, now, "board").map(drop)
            })
            .unwrap();
        for mut stream in streams {
            while !stream.line().is_empty() {}
            assert!(begun.elapsed().as_secs() < limits::REVOCATION_MAX_S, "{:?}", begun.elapsed());
        }
        assert!(kept.is_open(), "the stream of another client goes on");
    });
}
