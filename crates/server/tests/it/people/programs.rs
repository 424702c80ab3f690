//! Programs to which people give access, and API keys.

use lyceum_http::limits::GUESSES_ADDRESS_COUNT;
use lyceum_pages::limits::GUESSES_DEVICE_CODE_COUNT;

use super::*;

pub(super) fn ask(server: &TestServer) -> Reply {
    server.anonymous().post("/oauth2/device_authorization").form(&[CLIENT]).expect(200)
}

fn poll(server: &TestServer, code: &str) -> (u16, Value) {
    let form = [GRANT, CLIENT, ("device_code", code)];
    let reply = server.anonymous().post("/oauth2/token").form(&form).send();
    assert_eq!(reply.header("cache-control"), "no-store");
    let body: Value = reply.json();
    (reply.status, if reply.status == 200 { body } else { body["error"].clone() })
}

/// Allows or denies a code on the page, as a browser does.
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
fn a_program_signs_in_with_a_device_code() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let setup = Setup { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Setup::default() };
    both_as(&setup, |server| {
        person(server, "grace@example.org", "Grace", Role::Developer);
        let cookie = signed_in(server, "grace@example.org");
        let request = ask(server);
        assert_eq!(request.header("cache-control"), "no-store");
        let request: Value = request.json();
        let text = |name: &str| request[name].as_str().unwrap().to_owned();
        let (device_code, user_code) = (text("device_code"), text("user_code"));
        assert_eq!(
            (user_code.len(), &request["interval"], &request["expires_in"]),
            (9, &json!(2), &json!(600))
        );
        let base = server.setup().config.public_url();
        assert_eq!(text("verification_uri"), format!("{base}/device"));
        assert_eq!(
            text("verification_uri_complete"),
            format!("{base}/device?user_code={user_code}")
        );

        // Visitors without a session are sent to the sign-in page and come back.
        let away = server.anonymous().get(&format!("/device?user_code={user_code}")).expect(303);
        let path =
            format!("/sign-in?next=%2Fdevice%3Fuser%5Fcode%3D{}", user_code.replace('-', "%252D"));
        assert_eq!(away.header("location"), path);

        assert_eq!(poll(server, &device_code), (400, json!("authorization_pending")));
        assert_eq!(poll(server, &device_code), (400, json!("slow_down")));
        clock.advance_milliseconds(6_000);
        assert_eq!(poll(server, &device_code), (400, json!("slow_down")), "five seconds more");
        assert!(
            decide(server, &cookie, &user_code, "approve")
                .text()
                .contains("The program has access")
        );
        clock.advance_milliseconds(60_000);
        server.restart();
        let (status, response) = poll(server, &device_code);
        assert_eq!((status, &response["token_type"]), (200, &json!("Bearer")));
        assert_eq!(response["expires_in"], limits::TOKEN_SESSION_LIFETIME_S);
        assert!(response["scope"].as_str().unwrap().contains("lyceum/games.write"));
        let client = server.anonymous().with_token(response["access_token"].as_str().unwrap());
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
fn a_program_with_an_expired_or_unknown_code_is_refused() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let setup = Setup { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Setup::default() };
    both_as(&setup, |server| {
        ada(server);
        let cookie = signed_in(server, "ada@example.org");
        let request = || {
            let request: Value = ask(server).json();
            let text = |name: &str| request[name].as_str().unwrap().to_owned();
            (text("device_code"), text("user_code"))
        };
        let (device_code, user_code) = request();
        assert!(decide(server, &cookie, &user_code, "deny").text().contains("Access denied"));
        assert_eq!(poll(server, &device_code), (400, json!("access_denied")));
        let (device_code, _) = request();
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
        for _ in 0..GUESSES_DEVICE_CODE_COUNT {
            assert_eq!(try_code("BCDF-GHJK"), 404);
        }
        assert_eq!(try_code("BCDF-GHJK"), 429);
    });
}

#[test]
fn codes_for_programs_are_counted_by_subscriber() {
    let mut setup = Setup::default();
    setup.config.server.trusted_proxies = serde_json::from_str(r#"["127.0.0.0/8"]"#).unwrap();
    both_as(&setup, |server| {
        let ask = |address: &str| {
            let client = server.anonymous();
            let call = client.post("/oauth2/device_authorization").form(&[CLIENT]);
            call.header("x-forwarded-for", address).send().status
        };
        for number in 0..GUESSES_ADDRESS_COUNT {
            assert_eq!(ask(&format!("2001:db8:0:1::{number:x}")), 200);
        }
        assert_eq!(ask("2001:db8:0:1:ffff::1"), 429);
        assert_eq!((ask("2001:db8:0:2::1"), ask("192.0.2.1")), (200, 200));
    });
}

#[test]
fn a_key_has_the_access_of_its_role_on_servers_of_its_environment() {
    both(|server| {
        let admin = key(server, "admin", Role::Administrator, Environment::Production);
        let developer = key(server, "ci", Role::Developer, Environment::Production);
        let staging = key(server, "staging", Role::Administrator, Environment::Staging);
        let orgs = "/ims/oneroster/rostering/v1p2/orgs";
        let status = |key: &str| server.anonymous().with_token(key).get(orgs).send().status;
        assert_eq!((status(&admin), status(&developer), status(&staging)), (200, 403, 401));
        let refused = server.anonymous().with_token("lk_nothing").get(orgs).expect(401).text();
        assert!(refused.contains("does not know the API key"), "{refused}");
        assert!(refused.contains("lyceum admin key create"), "{refused}");
        assert!(!refused.contains("/oauth2/token"), "{refused}");
        let client = server.anonymous().with_token(&developer);
        let response: Value = client.get("/api/auth/me").expect(200).json();
        assert_eq!(
            (&response["kind"], &response["name"], &response["role"]),
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
fn tokens_of_people_are_refused_in_other_environments() {
    both(|server| {
        ada(server);
        let request: Value = ask(server).json();
        let text = |name: &str| request[name].as_str().unwrap().to_owned();
        decide(server, &signed_in(server, "ada@example.org"), &text("user_code"), "approve");
        let (_, response) = poll(server, &text("device_code"));
        let token = response["access_token"].as_str().unwrap();
        // A server of another environment accepts neither the token nor the session, even with the same data.
        let mut setup = server.setup().clone();
        setup.config.server.env = Environment::Staging;
        setup.listen_anew();
        let staging = TestServer::start_as(server.target(), setup);
        let status = |server: &TestServer| {
            server.anonymous().with_token(token).get("/api/auth/me").send().status
        };
        assert_eq!((status(server), status(&staging)), (200, 401));
        assert_eq!(me(&staging, &signed_in(server, "ada@example.org")).status, 401);
        // A command names the environment that it is meant for, so that nothing is done in another one.
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
        assert!(wrong.text().contains("this is a 'production' server"), "{}", wrong.text());
    });
}

#[test]
fn a_new_password_ends_earlier_sessions_and_tokens() {
    both(|server| {
        person(server, "grace@example.org", "Grace", Role::Developer);
        let cookie = signed_in(server, "grace@example.org");
        let request: Value = ask(server).json();
        let text = |name: &str| request[name].as_str().unwrap().to_owned();
        decide(server, &cookie, &text("user_code"), "approve");
        let now = server.setup().clock.now();
        let hash = password::hash("a new password");
        let checked = server.db().write_blocking(|tx| {
            let grace = person::require(tx, "grace@example.org")?;
            let before = person::password(tx, &grace.id)?.unwrap();
            let had = person::still_has(tx, &grace, &before)?;
            let link = person::new_link(tx, now, &grace)?;
            person::use_link(tx, now, &link, &hash)?;
            Ok((had, person::still_has(tx, &grace, &before)?))
        });
        assert_eq!(checked.unwrap(), (true, false));
        assert_eq!(poll(server, &text("device_code")), (400, json!("invalid_grant")));
        assert_eq!(me(server, &cookie).status, 401);
    });
}

#[test]
fn guesses_of_device_codes_are_limited() {
    both(|server| {
        ada(server);
        let cookie = signed_in(server, "ada@example.org");
        let client = server.anonymous();
        let page = client.get("/device").header("cookie", &cookie).expect(200);
        let token = form_token(&page);
        let guess = |code: &str| {
            let fields = [("token", token.as_str()), ("user_code", code), ("decision", "approve")];
            client.post("/device").form(&fields).header("cookie", &cookie).send().status
        };
        for _ in 0..GUESSES_DEVICE_CODE_COUNT {
            assert_eq!(guess("BCDF-GHJK"), 404);
        }
        let request: Value = ask(server).json();
        assert_eq!(guess(request["user_code"].as_str().unwrap()), 429);
    });
}
