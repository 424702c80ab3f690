//! The first administrator, created with the link that a server prints at its start.

use std::time::Instant;

use lyceum_access::{Role, audit, first_administrator, password};
use lyceum_pages::limits;
use lyceum_testserver::client::Reply;
use lyceum_testserver::server::{Setup, TestServer, both, both_as};
use serde_json::json;

use super::{PASSWORD, cookie, form_token, me, person};

fn link(server: &TestServer) -> String {
    first_administrator::link(&server.setup().master)
}

/// Sends the form of the page that the link opens, or of the sign-in page if the link does not work.
fn make(server: &TestServer, link: &str, email: &str, password: &str) -> Reply {
    let page = server.anonymous().get(&format!("/first?link={link}")).send();
    let page = match page.status {
        200 => page,
        _ => {
            person(server, "form@example.org", "Form", Role::Guide);
            server.anonymous().get("/sign-in").expect(200)
        }
    };
    let token = form_token(&page);
    let fields = [
        ("token", &*token),
        ("link", link),
        ("email", email),
        ("name", "Ada"),
        ("password", password),
    ];
    let client = server.anonymous();
    client.post("/first").form(&fields).header("cookie", &cookie(&page)).send()
}

#[test]
fn the_first_link_creates_one_administrator_and_no_other() {
    both(|server| {
        let link = link(server);
        let page = server.anonymous().get("/sign-in").expect(200).text();
        for way in
            ["link that the server printed", "lyceum admin user create", "LYCEUM_ADMIN__EMAIL"]
        {
            assert!(page.contains(way), "{way}: {page}");
        }
        assert!(!page.contains(&link), "the page gives nothing away");
        // Neither an account of another role nor an invalid form uses up the link.
        person(server, "grace@example.org", "Grace", Role::Developer);
        assert_eq!(make(server, &link, "ada@example.org", "short").status, 422);
        assert_eq!(make(server, &link, "no address", PASSWORD).status, 422);
        assert_eq!(make(server, &link, "grace@example.org", PASSWORD).status, 409);
        let forged = [("token", "forged"), ("link", &link), ("email", "e@example.org")];
        server.anonymous().post("/first").form(&forged).expect(403);
        server.restart();

        let created = make(server, &link, "ada@example.org", PASSWORD);
        assert_eq!(created.status, 303, "{}", created.text());
        let response: serde_json::Value = me(server, &cookie(&created)).json();
        assert_eq!(
            (&response["email"], &response["role"]),
            (&json!("ada@example.org"), &json!("administrator"))
        );
        let log =
            server.db().read_blocking(|tx| audit::list(tx, &audit::AuditFilter::default(), 9, 0));
        let log = log.unwrap().entries;
        assert_eq!(
            (log[0].what.as_str(), log[0].subject.as_str()),
            ("user.create", "ada@example.org")
        );

        server.anonymous().get(&format!("/first?link={link}")).expect(404);
        assert_eq!(make(server, &link, "eve@example.org", PASSWORD).status, 404);
    });
}

#[test]
fn another_link_creates_no_administrator() {
    both(|server| {
        server.anonymous().get("/first").expect(404);
        server.anonymous().get("/first?link=%22%3E%3Cimg%3E").expect(404);
        assert_eq!(
            make(server, &super::session::new_form_secret(), "e@example.org", PASSWORD).status,
            404
        );
    });
}

#[test]
fn a_wrong_link_is_counted_and_refused_before_a_password_is_hashed() {
    let mut setup = Setup::default();
    setup.config.server.trusted_proxies = serde_json::from_str(r#"["127.0.0.0/8"]"#).unwrap();
    both_as(&setup, |server| {
        let right = link(server);
        let page = server.anonymous().get(&format!("/first?link={right}")).expect(200);
        let (token, browser) = (form_token(&page), cookie(&page));
        let send = |link: &str, address: &str| {
            let fields = [
                ("token", token.as_str()),
                ("link", link),
                ("email", "ada@example.org"),
                ("name", "Ada"),
                ("password", PASSWORD),
            ];
            let client = server.anonymous();
            let call = client.post("/first").form(&fields).header("cookie", &browser);
            call.header("x-forwarded-for", address).send().status
        };
        let took = |work: &mut dyn FnMut()| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        };
        let mut quickest = None;
        for number in 1..=limits::GUESSES_LINK_COUNT {
            let wrong = took(&mut || {
                assert_eq!(send("none", &format!("2001:db8:0:1::{number}")), 404);
            });
            quickest = Some(quickest.map_or(wrong, |known| wrong.min(known)));
        }
        let hash = (0..3).map(|_| took(&mut || drop(password::hash(PASSWORD)))).min();
        assert!(quickest < hash, "{quickest:?} is not quicker than a hash, {hash:?}");
        for link in ["none", &right] {
            assert_eq!(send(link, "2001:db8:0:1:ffff::1"), 429);
        }
        assert_eq!(send("none", "2001:db8:0:2::1"), 404);
        assert_eq!(send(&right, "192.0.2.1"), 303);
    });
}
