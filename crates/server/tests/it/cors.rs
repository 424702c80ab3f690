//! Cross-origin calls: each client has a list of allowed origins.

use lyceum_access::NewClient;
use lyceum_testserver::server::{TestServer, both_as};
use ureq::http::Method;

use crate::probe;

const PAGE: &str = "https://app.example.org";

fn registered(server: &TestServer) -> (String, String) {
    server.register(&NewClient { origins: vec![PAGE.to_owned()], ..NewClient::named("page") })
}

#[test]
fn a_page_may_read_what_its_client_may_read() {
    both_as(&probe::setup(), |server| {
        let (id, secret) = registered(server);
        let page = server.anonymous().with_token(server.token_of(&id, &secret));
        let read = page.get("/probe/guarded").header("origin", PAGE).expect(200);
        assert_eq!(read.header("access-control-allow-origin"), PAGE);
        let exposed = read.header("access-control-expose-headers");
        for header in ["Link", "X-Total-Count", "ETag", "X-Request-Id", "Location"] {
            assert!(exposed.contains(header), "{exposed}");
        }
        assert_eq!(read.header("vary"), "Origin");
        let refused = page.post("/probe/guarded").header("origin", PAGE).body("text/plain", "no");
        assert_eq!(refused.expect(415).header("access-control-allow-origin"), PAGE, "errors too");

        let stranger = page.get("/probe/guarded").header("origin", "https://evil.example");
        assert_eq!(stranger.expect(200).header("access-control-allow-origin"), "");
        let other = server.client();
        let other = other.get("/probe/guarded").header("origin", PAGE).expect(200);
        assert_eq!(other.header("access-control-allow-origin"), "", "another client's page");
    });
}

#[test]
fn a_page_may_request_a_token() {
    both_as(&probe::setup(), |server| {
        let (id, secret) = registered(server);
        let client = server.anonymous();
        let form =
            [("grant_type", "client_credentials"), ("client_id", &id), ("client_secret", &secret)];
        let ask = |origin| client.post("/oauth2/token").form(&form).header("origin", origin);
        assert_eq!(ask(PAGE).expect(200).header("access-control-allow-origin"), PAGE);
        let stranger = ask("https://evil.example").expect(200);
        assert_eq!(stranger.header("access-control-allow-origin"), "");
    });
}

#[test]
fn a_preflight_is_answered_for_origins_that_some_client_has() {
    both_as(&probe::setup(), |server| {
        let (id, secret) = registered(server);
        // Preflights use the clients in memory. The first token of a new client adds it immediately.
        let token = server.token_of(&id, &secret);
        server.anonymous().with_token(token).get("/probe/guarded").expect(200);
        let client = server.anonymous();
        let ask = |origin: &str| {
            client
                .call(Method::OPTIONS, "/probe/guarded")
                .header("origin", origin)
                .header("access-control-request-method", "POST")
                .header("access-control-request-headers", "authorization, content-type")
                .expect(204)
        };
        let allowed = ask(PAGE);
        assert_eq!(allowed.header("access-control-allow-origin"), PAGE);
        assert!(allowed.header("access-control-allow-methods").contains("POST"));
        assert!(allowed.header("access-control-allow-headers").contains("Authorization"));
        assert_eq!(allowed.header("access-control-max-age"), "600");
        assert_eq!(ask("https://evil.example").header("access-control-allow-origin"), "");
    });
}
