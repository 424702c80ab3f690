//! People: sign-in, sessions, programs with access, and API keys.

mod first;
mod makers;
mod programs;

use std::sync::Arc;

use lyceum_access::limits;
use lyceum_access::session::{self, SessionKind};
use lyceum_access::{NewApiKey, NewPerson, Role, api_key, password, person};
use lyceum_core::config::Environment;
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_http::limits::GUESSES_ACCOUNT_AND_ADDRESS_COUNT;
use lyceum_pages::limits::GUESSES_LINK_COUNT;
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::{Setup, TestServer, both, both_as};
use serde_json::{Value, json};

pub(crate) const PASSWORD: &str = "correct horse";
const CLIENT: (&str, &str) = ("client_id", "lyceum-cli");
const GRANT: (&str, &str) = ("grant_type", "urn:ietf:params:oauth:grant-type:device_code");

pub(crate) fn person(server: &TestServer, email: &str, name: &str, role: Role) {
    let new = NewPerson {
        email: email.to_owned(),
        name: name.to_owned(),
        role,
        password: Some(password::hash(PASSWORD)),
    };
    let now = server.setup().clock.now();
    server.db().write_blocking(|tx| person::create(tx, now, &new)).unwrap();
}

fn ada(server: &TestServer) {
    person(server, "ada@example.org", "Ada", Role::Administrator);
}

pub(crate) fn key(server: &TestServer, name: &str, role: Role, environment: Environment) -> String {
    let new = NewApiKey { name: name.to_owned(), role, project: None, maker: None };
    let now = server.setup().clock.now();
    let created = server.db().write_blocking(|tx| api_key::create(tx, now, environment, &new));
    created.unwrap().1
}

fn try_sign_in(client: &TestClient, email: &str, password: &str) -> Reply {
    let body = json!({ "email": email, "password": password });
    client.post("/api/auth/sign-in").json(&body).send()
}

/// The name and value of the cookie that an answer sets.
pub(crate) fn cookie(reply: &Reply) -> String {
    reply.header("set-cookie").split(';').next().unwrap_or_default().to_owned()
}

/// The cookie of a new session.
pub(crate) fn signed_in(server: &TestServer, email: &str) -> String {
    let reply = try_sign_in(&server.anonymous(), email, PASSWORD);
    assert_eq!(reply.status, 200, "{}", reply.text());
    cookie(&reply)
}

fn me(server: &TestServer, cookie: &str) -> Reply {
    server.anonymous().get("/api/auth/me").header("cookie", cookie).send()
}

/// A client with the token of a new person, as `lyceum login` gets one.
pub(crate) fn let_in(server: &TestServer, email: &str, role: Role) -> TestClient {
    person(server, email, email, role);
    let (now, environment) = (server.setup().clock.now(), server.setup().config.server.env);
    let token = server.db().write_blocking(|tx| {
        let person = person::require(tx, email)?;
        session::start(tx, now, environment, &person, SessionKind::Token, None)
    });
    server.anonymous().with_token(token.unwrap())
}

/// The token of the forms of a page.
pub(crate) fn form_token(page: &Reply) -> String {
    let text = page.text();
    let (_, rest) = text.split_once(r#"name="token" value=""#).expect("a form with a token");
    rest.split_once('"').unwrap().0.to_owned()
}

#[test]
fn a_session_survives_a_restart_and_ends_with_sign_out() {
    both(|server| {
        ada(server);
        let reply = try_sign_in(&server.anonymous(), " ADA@example.org", PASSWORD);
        let response: Value = reply.json();
        assert_eq!(
            (&response["email"], &response["role"]),
            (&json!("ada@example.org"), &json!("administrator"))
        );
        assert_eq!(reply.header("cache-control"), "no-store");
        let set = reply.header("set-cookie").to_owned();
        assert!(set.starts_with("lyceum=lw_"), "{set}");
        assert!(set.ends_with("; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax"), "{set}");
        let cookie = cookie(&reply);
        server.restart();
        let response: Value = me(server, &cookie).json();
        assert_eq!(
            (&response["kind"], &response["name"], &response["environment"]),
            (&json!("person"), &json!("Ada"), &json!("production"))
        );
        // A session is not a bearer token, and works only on routes for browsers.
        let secret = cookie.split_once('=').unwrap().1;
        server.anonymous().with_token(secret).get("/api/auth/me").expect(401);
        let orgs = "/ims/oneroster/rostering/v1p2/orgs";
        server.anonymous().get(orgs).header("cookie", &cookie).expect(401);

        let end = |site: &str| {
            let client = server.anonymous();
            let call = client.post("/api/auth/sign-out").header("cookie", &cookie);
            call.header("sec-fetch-site", site).send().status
        };
        assert_eq!((end("same-site"), end("cross-site")), (401, 401), "a page of another's");
        assert_eq!(me(server, &cookie).status, 200);
        assert_eq!(end("same-origin"), 204);
        assert_eq!(me(server, &cookie).status, 401);
        server.anonymous().get("/api/auth/me").expect(401);
    });
}

#[test]
fn cookies_are_bound_to_the_host_if_it_uses_https() {
    let mut setup = Setup::default();
    setup.config.server.public_url = Some("https://lyceum.test".to_owned());
    both_as(&setup, |server| {
        ada(server);
        let reply = try_sign_in(&server.anonymous(), "ada@example.org", PASSWORD);
        let set = reply.header("set-cookie");
        assert!(set.starts_with("__Host-lyceum=lw_") && set.ends_with("; Secure"), "{set}");
        assert_eq!(me(server, &cookie(&reply)).status, 200);
        let form = server.anonymous().get("/sign-in").expect(200);
        assert!(form.header("set-cookie").starts_with("__Host-lyceum-form="));
    });
}

#[test]
fn a_planted_or_abandoned_session_is_not_reused() {
    both(|server| {
        ada(server);
        let sign_in = |cookie: &str| {
            let client = server.anonymous();
            let body = json!({ "email": "ada@example.org", "password": PASSWORD });
            let call = client.post("/api/auth/sign-in").json(&body).header("cookie", cookie);
            self::cookie(&call.expect(200))
        };
        let first = sign_in("lyceum=lw_planted");
        assert_eq!(me(server, "lyceum=lw_planted").status, 401);
        let second = sign_in(&first);
        assert_ne!(first, second);
        assert_eq!((me(server, &first).status, me(server, &second).status), (401, 200));
    });
}

#[test]
fn sessions_end_when_idle_and_at_their_maximum_age() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let setup = Setup { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Setup::default() };
    both_as(&setup, |server| {
        ada(server);
        let (used, idle) =
            (signed_in(server, "ada@example.org"), signed_in(server, "ada@example.org"));
        let step_s = limits::PAGE_SESSION_IDLE_S - 1;
        let mut passed_s = 0;
        while passed_s + step_s < limits::PAGE_SESSION_LIFETIME_S {
            clock.advance_milliseconds(step_s * 1000);
            passed_s += step_s;
            assert_eq!(me(server, &used).status, 200, "after {passed_s} s");
        }
        assert_eq!(me(server, &idle).status, 401);
        clock.advance_milliseconds((limits::PAGE_SESSION_LIFETIME_S - passed_s) * 1000);
        assert_eq!(me(server, &used).status, 401);
    });
}

#[test]
fn guessing_passwords_is_limited_and_reveals_nothing() {
    both(|server| {
        ada(server);
        let client = server.anonymous();
        let wrong: Value = try_sign_in(&client, "ada@example.org", "wrong password").json();
        let nobody: Value = try_sign_in(&client, "bob@example.org", "wrong password").json();
        assert_eq!(wrong["detail"], "name or password is wrong");
        assert_eq!((&wrong["detail"], &wrong["status"]), (&nobody["detail"], &nobody["status"]));
        for _ in 1..GUESSES_ACCOUNT_AND_ADDRESS_COUNT {
            assert_eq!(try_sign_in(&client, "ada@example.org", "x").status, 401);
        }
        let refused = try_sign_in(&client, "ada@example.org", PASSWORD);
        assert_eq!(refused.status, 429, "the right one too");
        let wait_s: i64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=limits::GUESS_WINDOW_S).contains(&wait_s), "{wait_s}");
        server.restart();
        let client = server.anonymous();
        assert_eq!(try_sign_in(&client, "ada@example.org", PASSWORD).status, 429);
        // Other people can sign in as often as they like, because correct passwords do not count as guesses.
        person(server, "grace@example.org", "Grace", Role::Guide);
        for _ in 0..=GUESSES_ACCOUNT_AND_ADDRESS_COUNT {
            assert_eq!(try_sign_in(&client, "grace@example.org", PASSWORD).status, 200);
        }
        client.post("/api/auth/sign-in").json(&json!({ "email": 1 })).expect(400);
    });
}

#[test]
fn the_sign_in_page_explains_how_to_create_the_first_account() {
    both(|server| {
        let page = server.anonymous().get("/sign-in").expect(200);
        assert!(page.text().contains("lyceum admin user create"), "{}", page.text());
        assert!(!page.text().contains("name=\"password\""));
        ada(server);
        let page = server.anonymous().get("/sign-in?next=/device%3Fuser_code%3Dx").expect(200);
        let policy = page.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'self'")
                && !policy.contains("unsafe")
        );
        assert!(!page.text().contains("<script") && !page.text().contains("style="));
        let (token, browser) = (form_token(&page), cookie(&page));
        let send = |token: &str, cookie: &str, site: &str, fields: &[(&str, &str)]| {
            let fields = [&[("token", token), ("email", "ada@example.org")], fields].concat();
            let client = server.anonymous();
            let call = client.post("/sign-in").form(&fields).header("cookie", cookie);
            call.header("sec-fetch-site", site).send()
        };
        let right = [("password", PASSWORD), ("next", "/device?user_code=x")];
        for (token, cookie, site) in [
            ("", browser.as_str(), "same-origin"),
            ("forged", &browser, "same-origin"),
            (&token, "", "same-origin"),
            (&token, "lyceum-form=other", "same-origin"),
            (&token, &browser, "cross-site"),
            (&token, &browser, "same-site"),
        ] {
            assert_eq!(send(token, cookie, site, &right).status, 403, "{token} {cookie} {site}");
        }
        let wrong = send(&token, &browser, "same-origin", &[("password", "wrong")]);
        assert_eq!(wrong.status, 401);
        assert!(wrong.text().contains("Name or password is wrong."), "{}", wrong.text());
        let done = send(&token, &browser, "same-origin", &right);
        assert_eq!((done.status, done.header("location")), (303, "/device?user_code=x"));
        assert_eq!(me(server, &cookie(&done)).status, 200);
        let elsewhere = [("password", PASSWORD), ("next", "//evil.test/")];
        let done = send(&token, &browser, "same-origin", &elsewhere);
        assert_eq!(done.header("location"), "/console");

        let signed_in = cookie(&done);
        let page = server.anonymous().get("/sign-in").header("cookie", &signed_in).expect(200);
        let out = |token: &str| {
            let client = server.anonymous();
            let call = client.post("/sign-out").form(&[("token", token)]);
            call.header("cookie", &signed_in).send().status
        };
        assert_eq!((out("forged"), out(&form_token(&page))), (403, 303));
        assert_eq!(me(server, &signed_in).status, 401);
    });
}

#[test]
fn names_of_people_never_run_as_scripts() {
    both(|server| {
        let evil = "<img src=x onerror=alert(1)>\"'&";
        person(server, "eve@example.org", evil, Role::Developer);
        let cookie = signed_in(server, "eve@example.org");
        let code: Value = programs::ask(server).json();
        let decide = format!("/device?user_code={}", code["user_code"].as_str().unwrap());
        for path in ["/sign-in", "/device", &decide] {
            let page = server.anonymous().get(path).header("cookie", &cookie).expect(200).text();
            assert!(!page.contains("<img") && page.contains("&#60;img"), "{path}: {page}");
        }
        let nothing = format!("/welcome?link={}", "%22%3E%3Cimg%20src%3Dx%3E");
        let page = server.anonymous().get(&nothing).expect(404).text();
        assert!(!page.contains("<img"), "{page}");
    });
}

#[test]
fn a_link_sets_a_password_once() {
    both(|server| {
        let now = server.setup().clock.now();
        let new = NewPerson {
            email: "ada@example.org".into(),
            name: "Ada".into(),
            role: Role::Administrator,
            password: None,
        };
        let link = server.db().write_blocking(|tx| {
            let person = person::create(tx, now, &new)?;
            person::new_link(tx, now, &person)
        });
        let link = link.unwrap();
        assert!(
            server.anonymous().get("/sign-in").expect(200).text().contains("lyceum admin user")
        );
        person(server, "grace@example.org", "Grace", Role::Guide);
        let page = server.anonymous().get(&format!("/welcome?link={link}")).expect(200);
        assert!(page.text().contains("Welcome, Ada"));
        let (token, browser) = (form_token(&page), cookie(&page));
        let set = |token: &str, password: &str| {
            let client = server.anonymous();
            let fields = [("token", token), ("link", &link), ("password", password)];
            client.post("/welcome").form(&fields).header("cookie", &browser).send()
        };
        assert_eq!(set("forged", "a new password").status, 403);
        // The page also works in a browser in which another person is signed in.
        let grace = signed_in(server, "grace@example.org");
        let path = format!("/welcome?link={link}");
        let page = server.anonymous().get(&path).header("cookie", &grace).expect(200);
        let both_cookies = format!(
            "{grace}; {}",
            if page.header("set-cookie").is_empty() { "a=b".into() } else { cookie(&page) }
        );
        let fields =
            [("token", form_token(&page)), ("link", link.clone()), ("password", "short".into())];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let call = server.anonymous();
        let refused = call.post("/welcome").form(&fields).header("cookie", &both_cookies);
        assert_eq!(refused.send().status, 422);
        assert_eq!(set(&token, "short").status, 422);
        let done = set(&token, "a new password");
        assert_eq!(done.status, 303);
        assert_eq!(me(server, &cookie(&done)).status, 200);
        assert_eq!(set(&token, "another password").status, 404);
        server.anonymous().get(&format!("/welcome?link={link}")).expect(404);
        assert_eq!(
            try_sign_in(&server.anonymous(), "ada@example.org", "a new password").status,
            200
        );
    });
}

#[test]
fn links_that_do_not_work_are_counted() {
    let mut setup = Setup::default();
    setup.config.server.trusted_proxies = serde_json::from_str(r#"["127.0.0.0/8"]"#).unwrap();
    both_as(&setup, |server| {
        ada(server);
        let page = server.anonymous().get("/sign-in").expect(200);
        let (token, browser) = (form_token(&page), cookie(&page));
        let set = |address: &str| {
            let client = server.anonymous();
            let fields = [("token", token.as_str()), ("link", "none"), ("password", PASSWORD)];
            let call = client.post("/welcome").form(&fields).header("cookie", &browser);
            call.header("x-forwarded-for", address).send().status
        };
        // One subscriber has all addresses of an IPv6 network.
        for number in 1..=GUESSES_LINK_COUNT {
            assert_eq!(set(&format!("2001:db8:0:1::{number}")), 404);
        }
        assert_eq!(set("2001:db8:0:1:ffff::1"), 429);
        assert_eq!((set("2001:db8:0:2::1"), set("192.0.2.1")), (404, 404));
    });
}

#[test]
fn a_disabled_person_is_signed_out_at_once() {
    both(|server| {
        ada(server);
        person(server, "grace@example.org", "Grace", Role::Guide);
        let cookie = signed_in(server, "grace@example.org");
        let twin = server.twin();
        assert_eq!(me(&twin, &cookie).status, 200);
        let now = server.setup().clock.now();
        server.db().write_blocking(|tx| person::disable(tx, now, "grace@example.org")).unwrap();
        assert_eq!(me(&twin, &cookie).status, 401);
        assert_eq!(try_sign_in(&twin.anonymous(), "grace@example.org", PASSWORD).status, 401);
    });
}
