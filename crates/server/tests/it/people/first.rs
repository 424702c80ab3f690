//! The first administrator: by the link that a server shows at its start.

use lyceum_access::{Role, audit, first};
use lyceum_testkit::client::Reply;
use lyceum_testkit::server::{TestServer, both};
use serde_json::json;

use super::{PASSWORD, cookie, form_token, me, person};

fn link(server: &TestServer) -> String {
    first::link(&server.setup().master)
}

/// Sends the form of the page that the link opens, or of the sign-in page where it opens none.
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
fn the_link_makes_one_administrator_and_then_nobody() {
    both(|server| {
        let link = link(server);
        let page = server.anonymous().get("/sign-in").expect(200).text();
        for way in
            ["link that the server showed", "lyceum admin user create", "LYCEUM_ADMIN__EMAIL"]
        {
            assert!(page.contains(way), "{way}: {page}");
        }
        assert!(!page.contains(&link), "the page gives nothing away");
        // Somebody who is no administrator does not use it up, and a wrong form neither.
        person(server, "grace@example.org", "Grace", Role::Developer);
        assert_eq!(make(server, &link, "ada@example.org", "short").status, 422);
        assert_eq!(make(server, &link, "no address", PASSWORD).status, 422);
        assert_eq!(make(server, &link, "grace@example.org", PASSWORD).status, 409);
        let forged = [("token", "forged"), ("link", &link), ("email", "e@example.org")];
        server.anonymous().post("/first").form(&forged).expect(403);
        server.restart();

        let made = make(server, &link, "ada@example.org", PASSWORD);
        assert_eq!(made.status, 303, "{}", made.text());
        let told: serde_json::Value = me(server, &cookie(&made)).json();
        assert_eq!(
            (&told["email"], &told["role"]),
            (&json!("ada@example.org"), &json!("administrator"))
        );
        let log = server.db().read_blocking(|tx| audit::list(tx, &audit::Filter::default(), 9, 0));
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
fn another_link_makes_nobody() {
    both(|server| {
        server.anonymous().get("/first").expect(404);
        server.anonymous().get("/first?link=%22%3E%3Cimg%3E").expect(404);
        assert_eq!(
            make(server, &super::session::new_form_secret(), "e@example.org", PASSWORD).status,
            404
        );
    });
}
