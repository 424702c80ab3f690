//! People: signing in, sessions, programs that they let in, API keys.

use std::sync::Arc;

use lyceum_access::session::{self, Sort};
use lyceum_access::{NewApiKey, NewPerson, Role, api_key, password, person};
use lyceum_core::config::Environment;
use lyceum_core::limits;
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_testkit::client::{Reply, TestClient};
use lyceum_testkit::server::{Setup, TestServer, both, both_as};
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
    let new = NewApiKey { name: name.to_owned(), role, project: None };
    let now = server.setup().clock.now();
    let made = server.db().write_blocking(|tx| api_key::create(tx, now, environment, &new));
    made.unwrap().1
}

fn try_sign_in(client: &TestClient, email: &str, password: &str) -> Reply {
    let body = json!({ "email": email, "password": password });
    client.post("/api/auth/sign-in").json(&body).send()
}

/// Name and value of the cookie that an answer sets.
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
        session::start(tx, now, environment, &person, Sort::Token, None)
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
fn a_session_begins_lasts_over_a_restart_and_ends() {
    both(|server| {
        ada(server);
        let reply = try_sign_in(&server.anonymous(), " ADA@example.org", PASSWORD);
        let told: Value = reply.json();
        assert_eq!(
            (&told["email"], &told["role"]),
            (&json!("ada@example.org"), &json!("administrator"))
        );
        assert_eq!(reply.header("cache-control"), "no-store");
        let set = reply.header("set-cookie").to_owned();
        assert!(set.starts_with("lyceum=lw_"), "{set}");
        assert!(set.ends_with("; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax"), "{set}");
        let cookie = cookie(&reply);
        server.restart();
        let told: Value = me(server, &cookie).json();
        assert_eq!(
            (&told["kind"], &told["name"], &told["environment"]),
            (&json!("person"), &json!("Ada"), &json!("production"))
        );
        // A session is no bearer, and opens nothing but what is for browsers.
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
fn cookies_are_bound_to_the_host_where_it_is_reached_by_https() {
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
fn a_session_that_somebody_planted_or_left_is_not_taken_over() {
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
fn sessions_end_when_nobody_uses_them_and_at_last() {
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
fn guessing_is_slowed_down_and_tells_nothing() {
    both(|server| {
        ada(server);
        let client = server.anonymous();
        let wrong: Value = try_sign_in(&client, "ada@example.org", "wrong password").json();
        let nobody: Value = try_sign_in(&client, "bob@example.org", "wrong password").json();
        assert_eq!(wrong["detail"], "e-mail address or password is wrong");
        assert_eq!((&wrong["detail"], &wrong["status"]), (&nobody["detail"], &nobody["status"]));
        for _ in 1..limits::GUESSES_ACCOUNT_AND_ADDRESS_COUNT {
            assert_eq!(try_sign_in(&client, "ada@example.org", "x").status, 401);
        }
        let refused = try_sign_in(&client, "ada@example.org", PASSWORD);
        assert_eq!(refused.status, 429, "the right one too");
        let wait_s: i64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=limits::GUESS_WINDOW_S).contains(&wait_s), "{wait_s}");
        server.restart();
        let client = server.anonymous();
        assert_eq!(try_sign_in(&client, "ada@example.org", PASSWORD).status, 429);
        // Others sign in, as often as they like: what is right is no guess.
        person(server, "grace@example.org", "Grace", Role::Guide);
        for _ in 0..=limits::GUESSES_ACCOUNT_AND_ADDRESS_COUNT {
            assert_eq!(try_sign_in(&client, "grace@example.org", PASSWORD).status, 200);
        }
        client.post("/api/auth/sign-in").json(&json!({ "email": 1 })).expect(400);
    });
}

#[test]
fn the_page_says_how_the_first_account_is_made_and_then_signs_in() {
    both(|server| {
        let page = server.anonymous().get("/sign-in").expect(200);
        assert!(page.text().contains("lyceum admin user create"), "{}", page.text());
        assert!(!page.text().contains("<form"));
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
        assert!(wrong.text().contains("E-mail address or password is wrong."), "{}", wrong.text());
        let done = send(&token, &browser, "same-origin", &right);
        assert_eq!((done.status, done.header("location")), (303, "/device?user_code=x"));
        assert_eq!(me(server, &cookie(&done)).status, 200);
        let elsewhere = [("password", PASSWORD), ("next", "//evil.test/")];
        let done = send(&token, &browser, "same-origin", &elsewhere);
        assert_eq!(done.header("location"), "/sign-in");

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
fn nothing_that_somebody_is_called_runs_on_a_page() {
    both(|server| {
        let evil = "<img src=x onerror=alert(1)>\"'&";
        person(server, "eve@example.org", evil, Role::Developer);
        let cookie = signed_in(server, "eve@example.org");
        let code: Value = ask(server).json();
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
        let page = server.anonymous().get(&format!("/welcome?link={link}")).expect(200);
        assert!(page.text().contains("Welcome, Ada"));
        let (token, browser) = (form_token(&page), cookie(&page));
        let set = |token: &str, password: &str| {
            let client = server.anonymous();
            let fields = [("token", token), ("link", &link), ("password", password)];
            client.post("/welcome").form(&fields).header("cookie", &browser).send()
        };
        assert_eq!(set("forged", "a new password").status, 403);
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

fn ask(server: &TestServer) -> Reply {
    server.anonymous().post("/oauth2/device_authorization").form(&[CLIENT]).expect(200)
}

fn poll(server: &TestServer, code: &str) -> (u16, Value) {
    let form = [GRANT, CLIENT, ("device_code", code)];
    let reply = server.anonymous().post("/oauth2/token").form(&form).send();
    assert_eq!(reply.header("cache-control"), "no-store");
    let body: Value = reply.json();
    (reply.status, if reply.status == 200 { body } else { body["error"].clone() })
}

/// Decides about a code on the page, as a browser does.
fn decide(server: &TestServer, cookie: &str, code: &str, decision: &str) -> Reply {
    let client = server.anonymous();
    let page =
        client.get(&format!("/device?user_code={code}")).header("cookie", cookie).expect(200);
    assert!(page.text().contains(code), "{}", page.text());
    let token = form_token(&page);
    let fields = [("token", token.as_str()), ("user_code", code), ("decision", decision)];
    client.post("/device").form(&fields).header("cookie", cookie).expect(200)
}

#[test]
fn a_program_is_let_in_by_its_code() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let setup = Setup { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Setup::default() };
    both_as(&setup, |server| {
        person(server, "grace@example.org", "Grace", Role::Developer);
        let cookie = signed_in(server, "grace@example.org");
        let asked = ask(server);
        assert_eq!(asked.header("cache-control"), "no-store");
        let asked: Value = asked.json();
        let text = |name: &str| asked[name].as_str().unwrap().to_owned();
        let (device_code, user_code) = (text("device_code"), text("user_code"));
        assert_eq!(
            (user_code.len(), &asked["interval"], &asked["expires_in"]),
            (9, &json!(2), &json!(600))
        );
        let base = server.setup().config.public_url();
        assert_eq!(text("verification_uri"), format!("{base}/device"));
        assert_eq!(
            text("verification_uri_complete"),
            format!("{base}/device?user_code={user_code}")
        );

        // Who is not signed in is sent to sign in, and comes back.
        let away = server.anonymous().get(&format!("/device?user_code={user_code}")).expect(303);
        let path =
            format!("/sign-in?next=%2Fdevice%3Fuser%5Fcode%3D{}", user_code.replace('-', "%252D"));
        assert_eq!(away.header("location"), path);

        assert_eq!(poll(server, &device_code), (400, json!("authorization_pending")));
        assert_eq!(poll(server, &device_code), (400, json!("slow_down")));
        clock.advance_milliseconds(6_000);
        assert_eq!(poll(server, &device_code), (400, json!("slow_down")), "five seconds more");
        assert!(decide(server, &cookie, &user_code, "approve").text().contains("It is let in"));
        clock.advance_milliseconds(60_000);
        server.restart();
        let (status, told) = poll(server, &device_code);
        assert_eq!((status, &told["token_type"]), (200, &json!("Bearer")));
        assert_eq!(told["expires_in"], limits::TOKEN_SESSION_LIFETIME_S);
        assert!(told["scope"].as_str().unwrap().contains("lyceum/games.write"));
        let client = server.anonymous().with_token(told["access_token"].as_str().unwrap());
        assert_eq!(
            client.get("/api/auth/me").expect(200).json::<Value>()["email"],
            "grace@example.org"
        );
        client.get("/api/games").expect(200);
        let refused = client.get("/ims/oneroster/rostering/v1p2/orgs").expect(403);
        assert!(refused.header("www-authenticate").contains("insufficient_scope"));
        assert_eq!(poll(server, &device_code), (400, json!("invalid_grant")), "used once");
        client.post("/api/auth/sign-out").expect(204);
        client.get("/api/auth/me").expect(401);
        let page = format!("/device?user_code={user_code}");
        let gone = server.anonymous().get(&page).header("cookie", &cookie).expect(404);
        assert!(gone.text().contains("No program waits with this code"));
    });
}

#[test]
fn a_program_is_refused_too_late_or_unknown() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let setup = Setup { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Setup::default() };
    both_as(&setup, |server| {
        ada(server);
        let cookie = signed_in(server, "ada@example.org");
        let asked = || {
            let asked: Value = ask(server).json();
            let text = |name: &str| asked[name].as_str().unwrap().to_owned();
            (text("device_code"), text("user_code"))
        };
        let (device_code, user_code) = asked();
        assert!(decide(server, &cookie, &user_code, "deny").text().contains("It is refused"));
        assert_eq!(poll(server, &device_code), (400, json!("access_denied")));
        let (device_code, _) = asked();
        clock.advance_milliseconds(limits::DEVICE_CODE_LIFETIME_S * 1000);
        assert_eq!(poll(server, &device_code), (400, json!("expired_token")));
        assert_eq!(poll(server, "nothing"), (400, json!("invalid_grant")));

        let client = server.anonymous();
        let error = |path: &str, form: &[(&str, &str)]| {
            let reply = client.post(path).form(form).send();
            (reply.status, reply.json::<Value>()["error"].as_str().unwrap().to_owned())
        };
        let (device, token) = ("/oauth2/device_authorization", "/oauth2/token");
        assert_eq!(error(device, &[("scope", "x")]), (400, "invalid_request".to_owned()));
        assert_eq!(error(device, &[("client_id", "other")]), (401, "invalid_client".to_owned()));
        assert_eq!(error(token, &[GRANT, CLIENT]), (400, "invalid_request".to_owned()));
        let other = [GRANT, ("client_id", "other"), ("device_code", "x")];
        assert_eq!(error(token, &other), (401, "invalid_client".to_owned()));

        let try_code = |code: &str| {
            let path = format!("/device?user_code={code}");
            client.get(&path).header("cookie", &cookie).send().status
        };
        for _ in 0..limits::GUESSES_DEVICE_CODE_COUNT {
            assert_eq!(try_code("BCDF-GHJK"), 404);
        }
        assert_eq!(try_code("BCDF-GHJK"), 429);
    });
}

#[test]
fn a_key_opens_what_its_role_opens_on_servers_of_its_environment() {
    both(|server| {
        let admin = key(server, "admin", Role::Administrator, Environment::Production);
        let developer = key(server, "ci", Role::Developer, Environment::Production);
        let staging = key(server, "staging", Role::Administrator, Environment::Staging);
        let orgs = "/ims/oneroster/rostering/v1p2/orgs";
        let status = |key: &str| server.anonymous().with_token(key).get(orgs).send().status;
        assert_eq!((status(&admin), status(&developer), status(&staging)), (200, 403, 401));
        assert_eq!(status("lk_nothing"), 401);
        let client = server.anonymous().with_token(&developer);
        let told: Value = client.get("/api/auth/me").expect(200).json();
        assert_eq!(
            (&told["kind"], &told["name"], &told["role"]),
            (&json!("key"), &json!("ci"), &json!("developer"))
        );
        client.post("/api/auth/sign-out").expect(409);
        let refused = server.anonymous().with_token(&staging).get(orgs).expect(401);
        assert!(refused.header("www-authenticate").contains("another environment"));
        let now = server.setup().clock.now();
        server.db().write_blocking(|tx| api_key::revoke(tx, now, "admin")).unwrap();
        assert_eq!(status(&admin), 401, "at once");
        let used = server.db().read_blocking(api_key::list).unwrap();
        let used = |name: &str| used.iter().find(|key| key.name == name).unwrap().used;
        assert!(used("ci").is_some() && used("staging").is_none());
    });
}

#[test]
fn tokens_of_people_end_at_the_border_of_their_environment() {
    both(|server| {
        ada(server);
        let asked: Value = ask(server).json();
        let text = |name: &str| asked[name].as_str().unwrap().to_owned();
        decide(server, &signed_in(server, "ada@example.org"), &text("user_code"), "approve");
        let (_, told) = poll(server, &text("device_code"));
        let token = told["access_token"].as_str().unwrap();
        // Even on the same data a server of the other environment knows neither token nor session.
        let mut setup = server.setup().clone();
        setup.config.server.env = Environment::Staging;
        setup.listen_anew();
        let staging = TestServer::start_as(server.target(), setup);
        let status = |server: &TestServer| {
            server.anonymous().with_token(token).get("/api/auth/me").send().status
        };
        assert_eq!((status(server), status(&staging)), (200, 401));
        assert_eq!(me(&staging, &signed_in(server, "ada@example.org")).status, 401);
        // A command says which environment it means, before anything is done.
        for (meant, wanted) in [("production", 200), ("staging", 409), ("local", 409)] {
            let client = server.anonymous().with_token(token);
            let call = client.get("/api/auth/me").header("lyceum-environment", meant);
            assert_eq!(call.send().status, wanted, "{meant}");
        }
        let wrong = server
            .anonymous()
            .post("/oauth2/device_authorization")
            .form(&[CLIENT])
            .header("lyceum-environment", "staging")
            .expect(409);
        assert!(wrong.text().contains("this server is 'production'"), "{}", wrong.text());
    });
}

#[test]
fn a_disabled_person_is_out_at_once() {
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
