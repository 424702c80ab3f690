//! Live streams end soon after the reader loses access.

use std::time::Instant;

use lyceum_access::{NewClient, Role, Scope, api_key, client, join, leave, person};
use lyceum_core::Result;
use lyceum_core::config::Environment;
use lyceum_http::limits;
use lyceum_store::Tx;
use lyceum_testserver::server::{TestServer, both};

use crate::events::Stream;
use crate::people::{key, let_in, person as new_person, signed_in};
use crate::projects::{build, plan, send, state, upload, wanted};

/// A stream whose connection ends with it.
fn stream(server: &TestServer, token: &str) -> Stream {
    Stream::open(&server.address(), token, "Connection: close\r\n")
}

/// Waits until each stream has ended. The readers lost access at the given instant.
fn ends_in_time(streams: impl IntoIterator<Item = Stream>, begun: Instant) {
    for mut stream in streams {
        while !stream.line().is_empty() {}
        assert!(begun.elapsed().as_secs() < limits::REVOCATION_MAX_S, "{:?}", begun.elapsed());
    }
}

/// Changes a person's role in the database.
fn give_role(server: &TestServer, email: &str, role: Role) {
    let sql = "UPDATE people SET role = $1 WHERE email = $2";
    let give = |tx: &mut Tx<'_>| tx.execute(sql, &[role.name().into(), email.into()]);
    assert_eq!(server.db().write_blocking(give).unwrap(), 1);
}

#[test]
fn a_stream_of_events_ends_in_time_when_its_reader_gets_a_role_that_reads_none() {
    both(|server| {
        let guide = let_in(server, "gus@example.org", Role::Guide);
        let kept = let_in(server, "gil@example.org", Role::Guide);
        let ended = stream(server, guide.token().unwrap());
        let kept = stream(server, kept.token().unwrap());
        let begun = Instant::now();
        give_role(server, "gus@example.org", Role::Developer);
        ends_in_time([ended], begun);
        assert!(kept.goes_on(), "the stream of another guide goes on");
    });
}

#[test]
fn a_stream_of_a_log_ends_in_time_when_its_reader_loses_role_or_membership() {
    both(|server| {
        let client = server.client();
        let zip = build("an app");
        upload(&client, &zip);
        let state = state(&client, "rivers");
        let deployed = send(&client, &plan(&state, &wanted(&state, &zip, &[])), &[]);
        assert_eq!(deployed.status, 201, "{}", deployed.text());
        let people = ["ada@example.org", "dev@example.org", "max@example.org", "mia@example.org"];
        for (email, role) in people.into_iter().zip([
            Role::Administrator,
            Role::Developer,
            Role::Developer,
            Role::Developer,
        ]) {
            new_person(server, email, email, role);
        }
        let write = |work: fn(&mut Tx<'_>, &str) -> Result<()>, email: &str| {
            let write = |tx: &mut Tx<'_>| {
                let id = person::require(tx, email)?.id;
                work(tx, &id)
            };
            server.db().write_blocking(write).unwrap();
        };
        for email in &people[1..] {
            write(|tx, id| join(tx, "rivers", id), email);
        }
        let mut streams = people.map(|email| {
            let headers = format!("Cookie: {}\r\nConnection: close\r\n", signed_in(server, email));
            Some(Stream::at(&server.address(), "/console/projects/rivers/logs/stream", &headers))
        });
        let kept = streams[3].take().unwrap();
        let begun = Instant::now();
        give_role(server, "ada@example.org", Role::Developer);
        write(|tx, id| leave(tx, "rivers", id), "dev@example.org");
        give_role(server, "max@example.org", Role::Guide);
        ends_in_time(streams.into_iter().flatten(), begun);
        assert!(kept.goes_on(), "the stream of another member goes on");
    });
}

#[test]
fn a_stream_ends_in_time_when_its_client_person_or_key_loses_access() {
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
        ends_in_time(streams, begun);
        assert!(kept.goes_on(), "the stream of another client goes on");
    });
}
