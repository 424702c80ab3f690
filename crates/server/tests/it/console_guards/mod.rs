//! Tests every page and form in the console's table of routes against forged forms, planted sessions, and names that
//! contain scripts; `access::matrix` has their callers. New routes are tested automatically, but a parameter in a path
//! needs a value in `planted.rs`.

mod actions;
mod learning;
mod marked;
mod planted;
mod spanish;

use lyceum_access::{Role, audit, session};
use lyceum_server::routes;
use lyceum_testserver::client::{Call, Reply, TestClient};
use lyceum_testserver::server::{TestServer, both};
use ureq::http::Method;

use crate::people::{PASSWORD, cookie, form_token, person, signed_in};
use planted::{AS_TEXT, Planted, RUNS, plant};

const ADA: &str = "ada@example.org";

/// A page or a form of a page.
struct Place {
    method: Method,
    /// The path below the console's base, as in the table.
    pattern: String,
    /// An address with this path.
    path: String,
}

/// All routes of the console except its assets.
fn places(planted: &Planted) -> Vec<Place> {
    let mut places = Vec::new();
    for area in routes::all() {
        for route in area.routes {
            if route.screen.is_none() {
                continue;
            }
            let pattern = route.path.into_owned();
            let path = format!("{}{}", area.base, filled(&pattern, planted));
            places.push(Place { method: route.method, pattern, path });
        }
    }
    assert!(places.len() > 20, "the console has pages");
    places
}

fn filled(pattern: &str, planted: &Planted) -> String {
    let mut path = String::new();
    let mut known = String::new();
    for segment in pattern.split('/').skip(1) {
        known = format!("{known}/{segment}");
        let value = match segment.starts_with('{') {
            false => segment,
            true => planted.params.get(known.as_str()).map_or_else(
                || panic!("planted.rs has no value for '{known}'; plant a thing there and name it"),
                String::as_str,
            ),
        };
        path = format!("{path}/{value}");
    }
    path
}

impl Place {
    fn is_form(&self) -> bool {
        self.method == Method::POST
    }

    fn call<'c>(&self, client: &'c TestClient, cookie: &str) -> Call<'c> {
        client.call(self.method.clone(), &self.path).header("cookie", cookie)
    }

    fn is_stream(&self) -> bool {
        self.pattern.ends_with("/stream")
    }

    /// Sends a form with this token.
    fn send(
        &self,
        server: &TestServer,
        cookie: &str,
        token: &str,
        site: (&'static str, &str),
    ) -> Reply {
        let client = server.anonymous();
        self.call(&client, cookie).form(&[("token", token)]).header(site.0, site.1).send()
    }

    fn method_and_path(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");

/// The number of changes so far.
fn changes(server: &TestServer) -> i64 {
    let filter = audit::AuditFilter::default();
    server.db().read_blocking(|tx| audit::list(tx, &filter, 1, 0)).unwrap().total
}

fn token(cookie: &str) -> String {
    session::form_token(cookie.split_once('=').unwrap().1)
}

#[test]
fn forged_forms_change_nothing() {
    both(|server| {
        let planted = plant(server);
        person(server, "eve@example.org", "Eve", Role::Administrator);
        let eve = signed_in(server, "eve@example.org");
        // The session ended, and its token too, so the browser must sign in again.
        let former = signed_in(server, ADA);
        let client = server.anonymous();
        client
            .post("/sign-out")
            .form(&[("token", token(&former).as_str())])
            .header("cookie", &former)
            .expect(303);
        let ada = signed_in(server, ADA);
        let own = token(&ada);
        let before = changes(server);
        let forms: Vec<Place> = places(&planted).into_iter().filter(Place::is_form).collect();
        for form in &forms {
            let request = form.method_and_path();
            for (what, forged) in [
                ("missing", ""),
                ("made up", "forged"),
                ("of another", &*token(&eve)),
                ("of before", &*token(&former)),
            ] {
                let reply = form.send(server, &ada, forged, OWN);
                assert_eq!(reply.status, 403, "{request} with a token that is {what}");
            }
            let sites = [
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-site", "same-site"),
                ("origin", "https://evil.test"),
                ("origin", "null"),
            ];
            for site in sites {
                let reply = form.send(server, &ada, &own, site);
                assert_eq!(reply.status, 403, "{request} from {site:?}");
            }
            assert_eq!(
                form.send(server, &former, &token(&former), OWN).status,
                303,
                "{request} after the end"
            );
            let in_query = format!("{}?token={own}", form.path);
            let reply = server.anonymous().post(&in_query).form(&[]).header("cookie", &ada).send();
            assert_eq!(reply.status, 403, "{request} with the token in its address");
            // Forms are not answered to GET, because a link could send it.
            let link = server.anonymous().get(&in_query).header("cookie", &ada).send();
            assert!(matches!(link.status, 200 | 404 | 405 | 409), "{request} by a link");
        }
        assert_eq!(changes(server), before, "nothing was changed");
        // The same forms succeed with their token, so the token was the reason of the refusal.
        for form in &forms {
            let status = form.send(server, &ada, &own, OWN).status;
            assert!(
                status != 403 && status < 500,
                "{} with its token: {status}",
                form.method_and_path()
            );
        }
        assert!(changes(server) > before, "some of them changed something");
    });
}

#[test]
fn names_are_escaped_and_pages_have_no_inline_scripts() {
    both(|server| {
        let planted = plant(server);
        // Her own name is on every page.
        let home =
            server.anonymous().get("/console").header("cookie", &signed_in(server, ADA)).send();
        assert!(
            home.text().contains(AS_TEXT) && RUNS.iter().all(|runs| !home.text().contains(runs))
        );
        person(server, "bob@example.org", "Bob", Role::Administrator);
        let bob = signed_in(server, "bob@example.org");
        let mut shown = Vec::new();
        for place in places(&planted) {
            let is_elsewhere = planted.elsewhere.contains(&place.pattern);
            if place.is_form() || place.is_stream() || is_elsewhere {
                continue;
            }
            let queries = planted.queries.get(place.pattern.as_str()).cloned();
            for query in
                queries.unwrap_or_else(|| vec![String::new(), format!("filter={}", encoded())])
            {
                let path = format!("{}?{query}", place.path);
                let reply = server.anonymous().get(&path).header("cookie", &bob).send();
                let page = reply.text();
                assert_eq!(reply.status, 200, "{path}: {page}");
                for runs in RUNS {
                    assert!(!page.contains(runs), "{path}: {page}");
                }
                if page.contains(AS_TEXT) {
                    shown.push(place.pattern.clone());
                }
                let policy = reply.header("content-security-policy");
                assert!(
                    policy.starts_with("default-src 'none'") && !policy.contains("unsafe"),
                    "{path}"
                );
                assert_eq!(reply.header("cache-control"), "no-store", "{path}");
                for inline in
                    [" style=\"", "<style", " onclick=", " onload=", "<script>", "javascript:"]
                {
                    assert!(!page.contains(inline), "{path} has {inline}");
                }
            }
        }
        for pattern in &planted.shown_on {
            assert!(shown.iter().any(|one| one == pattern), "'{pattern}' shows the planted name");
        }
    });
}

fn encoded() -> String {
    form_urlencoded::byte_serialize(planted::EVIL.as_bytes()).collect()
}

#[test]
fn a_sign_in_never_reuses_a_session() {
    both(|server| {
        person(server, ADA, "Ada", Role::Administrator);
        person(server, "eve@example.org", "Eve", Role::Developer);
        // Eve plants her session or an invented one in Ada's browser. Ada then signs in with the page.
        for planted in [signed_in(server, "eve@example.org"), "lyceum=lw_planted".to_owned()] {
            let page = server.anonymous().get("/sign-in").expect(200);
            let form = cookie(&page);
            let out = server.anonymous();
            let both_cookies = format!("{form}; {planted}");
            let token = form_token(&page);
            let fields = [("token", token.as_str()), ("email", ADA), ("password", PASSWORD)];
            let refused = out.post("/sign-in").form(&fields).header("cookie", &both_cookies).send();
            // If Eve's session is valid, the form belongs to it and not to this browser, so it is refused.
            let done = match refused.status {
                403 => out.post("/sign-in").form(&fields).header("cookie", &form).expect(303),
                _ => refused,
            };
            let ada = cookie(&done);
            assert_ne!(ada, planted);
            let home =
                |cookie: &str| server.anonymous().get("/console").header("cookie", cookie).send();
            assert_eq!(home(&ada).status, 200);
            assert!(!home(&planted).text().contains("Ada"));
        }
    });
}

#[test]
fn nobody_creates_keys_or_accounts_above_their_own_role() {
    both(|server| {
        let planted = plant(server);
        person(server, "dev@example.org", "Dev", Role::Developer);
        let dev = signed_in(server, "dev@example.org");
        let (client, own) = (server.anonymous(), token(&dev));
        let send = |path: &str, fields: &[(&str, &str)]| {
            let fields = [&[("token", own.as_str())], fields].concat();
            client.post(path).form(&fields).header("cookie", &dev).send().status
        };
        let wish = [("name", "mine"), ("role", "administrator"), ("project", "")];
        assert_eq!(send("/console/keys/new", &wish), 403, "a key for every project");
        let wish = [("name", "mine"), ("role", "administrator"), ("project", "nothing")];
        assert_eq!(send("/console/keys/new", &wish), 404);
        let other = format!("/console{}", filled("/keys/api/{key}", &planted));
        assert_eq!(
            client.get(&other).header("cookie", &dev).send().status,
            404,
            "a key of another"
        );
        for action in ["rotate", "revoke"] {
            assert_eq!(send(&format!("{other}/{action}"), &[]), 404);
            assert_eq!(send(&format!("/console/keys/clients/evil%3Cimg/{action}"), &[]), 403);
        }
        assert_eq!(send("/console/keys/clients/new", &[("name", "mine")]), 403);
        let page = client.get("/console/keys").header("cookie", &dev).expect(200).text();
        assert!(!page.contains(AS_TEXT) && !page.contains("/console/keys/clients"), "{page}");
    });
}
