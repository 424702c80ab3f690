//! The accounts of people over the API and in the console.

use lyceum_access::{Role, Scope, password, person, student};
use lyceum_core::{PayloadDialect, ProblemKind, Reach};
use lyceum_testkit::records;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::class_sign_in::Browser;
use crate::people::{PASSWORD, cookie, form_token, let_in, person as account, signed_in};

/// A client that manages people.
fn manager(server: &TestServer) -> TestClient {
    server.client_with(&[Scope::PeopleManage], PayloadDialect::Platform)
}

fn sign_in_status(server: &TestServer, name: &str, password: &str) -> u16 {
    let body = json!({ "email": name, "password": password });
    server.anonymous().post("/api/auth/sign-in").json(&body).send().status
}

/// Sets a password with a link, as its owner does. Answers the cookie of the session.
fn use_link(server: &TestServer, link: &str, password: &str) -> String {
    let path = link.split_once("/welcome").map(|(_, query)| format!("/welcome{query}")).unwrap();
    let form = server.anonymous().get(&path).expect(200);
    let (guard, token) = (cookie(&form), form_token(&form));
    let secret = path.split_once("link=").unwrap().1;
    let fields = [("token", token.as_str()), ("link", secret), ("password", password)];
    let set = server.anonymous().post("/welcome").header("cookie", &guard).form(&fields).send();
    assert_eq!(set.status, 303, "{}", set.text());
    cookie(&set)
}

#[test]
fn an_administrator_invites_changes_disables_and_enables() {
    both(|server| {
        let client = manager(server);
        let new = json!({ "email": "Gus@example.org", "name": "Gus", "role": "guide" });
        let created: Value = client.post("/api/people").json(&new).expect(201).json();
        let id = created["account"]["id"].as_str().unwrap().to_owned();
        assert_eq!(created["account"]["email"], "gus@example.org");
        client.post("/api/people").json(&new).expect(409);
        use_link(server, created["link"].as_str().unwrap(), "first password");
        assert_eq!(sign_in_status(server, "gus@example.org", "first password"), 200);

        let path = format!("/api/people/{id}");
        let read = || -> Value { client.get(&path).expect(200).json() };
        assert_eq!((&read()["hasPassword"], &read()["role"]), (&json!(true), &json!("guide")));
        let change = json!({ "role": "developer", "name": "Augustus" });
        client.patch(&path).json(&change).expect(200);
        assert_eq!((&read()["name"], &read()["role"]), (&json!("Augustus"), &json!("developer")));
        for wrong in [json!({ "role": "student" }), json!({ "name": " " }), json!({ "email": "x" })]
        {
            let status = client.patch(&path).json(&wrong).send().status;
            assert_eq!(status, 422, "{wrong}");
        }

        records::school(server.db(), "s", "s");
        let limit = |body: &Value| client.put(&format!("{path}/limit")).json(body).send();
        assert_eq!(limit(&json!({ "organizations": ["s"] })).status, 200);
        assert_eq!(read()["access"], "the organization 's' and all below it");
        for wrong in [json!({ "organizations": ["s"], "teacher": "t" }), json!({ "schools": [] })] {
            assert_eq!(limit(&wrong).status, 422, "{wrong}");
        }
        assert_eq!(limit(&json!({ "organizations": ["nowhere"] })).status, 422);
        assert_eq!(limit(&json!({})).status, 200);
        assert_eq!(read()["access"], "everything");

        client.post(&format!("{path}/disable")).expect(200);
        assert_eq!(sign_in_status(server, "gus@example.org", "first password"), 401);
        client.post(&format!("{path}/link")).expect(409);
        client.post(&format!("{path}/enable")).expect(200);
        assert_eq!(sign_in_status(server, "gus@example.org", "first password"), 200);
        let link: Value = client.post(&format!("{path}/link")).expect(201).json();
        use_link(server, link["link"].as_str().unwrap(), "second password");
        assert_eq!(sign_in_status(server, "gus@example.org", "first password"), 401);
        assert_eq!(sign_in_status(server, "gus@example.org", "second password"), 200);

        account(server, "ada@example.org", "Ada", Role::Administrator);
        let list = |query: &str| -> Vec<String> {
            let found: Value = client.get(&format!("/api/people?{query}")).expect(200).json();
            let accounts = found["accounts"].as_array().unwrap();
            accounts.iter().map(|one| one["email"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(list(""), ["gus@example.org", "ada@example.org"]);
        assert_eq!(list("role=administrator"), ["ada@example.org"]);
        assert_eq!(list("filter=AUGUST"), ["gus@example.org"]);
        assert_eq!(list("limit=1&offset=1"), ["ada@example.org"]);
        let ada =
            server.db().read_blocking(|tx| person::require(tx, "ada@example.org")).unwrap().id;
        let demoted = client.patch(&format!("/api/people/{ada}")).json(&json!({ "role": "guide" }));
        assert_eq!(demoted.send().status, 409, "the last administrator");
        client.post(&format!("/api/people/{ada}/disable")).expect(409);
        client.get("/api/people/lp_nobody").expect(404);
        server
            .client_with(&[Scope::RosterWrite], PayloadDialect::Platform)
            .get("/api/people")
            .expect(403);
    });
}

#[test]
fn a_new_role_revokes_the_keys_that_its_owner_created() {
    both(|server| {
        account(server, "ada@example.org", "Ada", Role::Administrator);
        account(server, "eve@example.org", "Eve", Role::Administrator);
        let (now, environment) = (server.setup().clock.now(), server.setup().config.server.env);
        let eve =
            server.db().read_blocking(|tx| person::require(tx, "eve@example.org")).unwrap().id;
        let new = lyceum_access::NewApiKey {
            name: "all".to_owned(),
            role: Role::Administrator,
            project: None,
            maker: Some(eve.clone()),
        };
        let created = server
            .db()
            .write_blocking(|tx| lyceum_access::api_key::create(tx, now, environment, &new));
        let key = server.anonymous().with_token(created.unwrap().1);
        key.get("/api/people").expect(200);
        let change = json!({ "role": "guide" });
        manager(server).patch(&format!("/api/people/{eve}")).json(&change).expect(200);
        key.get("/api/people").expect(401);
    });
}

#[test]
fn people_change_their_own_name_and_password_and_end_their_sessions() {
    both(|server| {
        let program = let_in(server, "gus@example.org", Role::Guide);
        let browser = signed_in(server, "gus@example.org");
        let in_browser = server.anonymous();
        let sessions: Value = program.get("/api/auth/sessions").expect(200).json();
        let sessions = sessions["sessions"].as_array().unwrap().clone();
        assert_eq!(sessions.len(), 2);
        let own = sessions.iter().find(|one| one["isCurrent"] == true).unwrap();
        assert_eq!(own["isBrowser"], false);
        let other = sessions.iter().find(|one| one["isCurrent"] == false).unwrap();
        let id = other["id"].as_str().unwrap();
        let is_in =
            |cookie: &str| in_browser.get("/api/auth/me").header("cookie", cookie).send().status;
        assert_eq!(is_in(&browser), 200);
        program.delete(&format!("/api/auth/sessions/{id}")).expect(204);
        assert_eq!(is_in(&browser), 401);
        program.delete(&format!("/api/auth/sessions/{id}")).expect(404);

        program.patch("/api/auth/me").json(&json!({ "name": "Augustus" })).expect(200);
        let me: Value = program.get("/api/auth/me").expect(200).json();
        assert_eq!(me["name"], "Augustus");

        let browser = signed_in(server, "gus@example.org");
        let change = |current: &str, new: &str| {
            let body = json!({ "current": current, "new": new });
            program.post("/api/auth/password").json(&body).send().status
        };
        assert_eq!(change("wrong horse", "another password"), 422);
        assert_eq!(change(PASSWORD, "short"), 422);
        assert_eq!(change(PASSWORD, "another password"), 204);
        assert_eq!(is_in(&browser), 401, "other sessions end");
        program.get("/api/auth/me").expect(200);
        assert_eq!(sign_in_status(server, "gus@example.org", PASSWORD), 401);
        assert_eq!(sign_in_status(server, "gus@example.org", "another password"), 200);
        server.client().get("/api/auth/sessions").expect(409);
    });
}

#[test]
fn the_oldest_active_account_of_a_student_signs_in_with_the_username_of_the_roster() {
    both(|server| {
        records::school(server.db(), "s", "s");
        for id in ["ann", "bob"] {
            records::student(server.db(), id, "s", "01");
        }
        let client = manager(server);
        let student = |user: &str| json!({ "role": "student", "rosterUser": user });
        let created: Value = client.post("/api/people").json(&student("ann")).expect(201).json();
        assert_eq!(created["account"]["name"], "ann Example");
        assert_eq!(created["account"]["email"], Value::Null);
        client.post("/api/people").json(&student("ann")).expect(409);
        client.post("/api/people").json(&student("nobody")).expect(404);
        client.post("/api/people").json(&json!({ "role": "student" })).expect(422);
        let home = use_link(server, created["link"].as_str().unwrap(), "password of ann");
        assert_eq!(server.anonymous().get("/learn").header("cookie", &home).send().status, 200);
        assert_eq!(sign_in_status(server, "ANN", "password of ann"), 200);
        assert_eq!(sign_in_status(server, "bob", "password of ann"), 401);

        // The address of somebody else comes before a username.
        let user = json!({
            "sourcedId": "eve", "enabledUser": true, "givenName": "Eve", "familyName": "E", "grades": ["01"],
            "username": "ada@example.org",
            "roles": [{ "roleType": "primary", "role": "student", "org": { "sourcedId": "s" } }],
        });
        records::create(server.db(), "users", &user);
        client.post("/api/people").json(&student("eve")).expect(201);
        account(server, "ada@example.org", "Ada", Role::Administrator);
        assert_eq!(sign_in_status(server, "ada@example.org", PASSWORD), 200);

        let twin = json!({
            "sourcedId": "ann2", "enabledUser": true, "givenName": "Ann", "familyName": "E", "grades": ["01"],
            "username": "Ann",
            "roles": [{ "roleType": "primary", "role": "student", "org": { "sourcedId": "s" } }],
        });
        records::create(server.db(), "users", &twin);
        assert_eq!(sign_in_status(server, "ann", "password of ann"), 200, "no account has it too");
        let second: Value = client.post("/api/people").json(&student("ann2")).expect(201).json();
        use_link(server, second["link"].as_str().unwrap(), "password of ann2");
        let third = json!({ "sourcedId": "ann3", "enabledUser": true, "givenName": "Ann", "familyName": "E",
            "username": "ann", "roles": [{ "roleType": "primary", "role": "student", "org": { "sourcedId": "s" } }] });
        let users = "/ims/oneroster/rostering/v1p2/users";
        let writer = server.client();
        let written = writer.post(users).json(&json!({ "user": third })).expect(201);
        let notice = "\"user.username: the users 'ann' and 'ann3' have the username 'ann'; only the older of their \
                      accounts signs in with it\"";
        assert_eq!(written.header("x-lyceum-notice"), notice);
        let bulk = writer.post(&format!("{users}/bulk"));
        let line = bulk.body("application/x-ndjson", third.to_string()).expect(200).text();
        assert!(line.contains("\"warnings\":[{\"path\":\"user.username\""), "{line}");
        let statuses = || {
            ["password of ann", "password of ann2"].map(|word| sign_in_status(server, "ann", word))
        };
        assert_eq!(statuses(), [200, 401], "the older account goes on signing in");
        let id = created["account"]["id"].as_str().unwrap();
        client.post(&format!("/api/people/{id}/disable")).expect(200);
        assert_eq!(statuses(), [401, 200]);
    });
}

#[test]
fn a_student_changes_the_own_password_and_sees_the_own_sessions() {
    both(|server| {
        records::school(server.db(), "s", "s");
        records::student(server.db(), "ann", "s", "01");
        let new = student::NewStudent {
            roster_user: "ann".to_owned(),
            name: "Ann".to_owned(),
            email: Some("ann@example.org".to_owned()),
            password: Some(password::hash(PASSWORD)),
        };
        let now = server.setup().clock.now();
        server.db().write_blocking(|tx| student::create(tx, now, &new)).unwrap();
        let ann = Browser::signed_in(server, "ann@example.org");
        let other = Browser::signed_in(server, "ann@example.org");
        let page = ann.get("/learn/account").text();
        assert!(
            page.contains("<strong>ann@example.org</strong> or <strong>ann</strong>"),
            "{page}"
        );
        let change = |current: &str| {
            let fields = [("current", current), ("new", "another password")];
            ann.submit("/learn/account", "/learn/account/password", &fields)
        };
        let refused = change("wrong horse");
        assert_eq!(refused.status, 422, "{}", refused.text());
        assert!(refused.text().contains("is not the current password"), "{}", refused.text());
        let changed = change(PASSWORD);
        assert_eq!(changed.status, 200, "{}", changed.text());
        assert_eq!(other.get("/learn").status, 303, "the other session ended");
        assert_eq!(ann.get("/learn").status, 200);
    });
}

#[test]
fn an_identity_opens_the_account_of_a_student_only_if_it_was_linked() {
    use lyceum_access::identity::{self, IdentityRule};
    use lyceum_access::oidc::IdTokenClaims;
    both(|server| {
        records::school(server.db(), "s", "s");
        records::student(server.db(), "ann", "s", "01");
        let client = manager(server);
        let new = json!({ "role": "student", "rosterUser": "ann", "email": "ann@example.org" });
        let created: Value = client.post("/api/people").json(&new).expect(201).json();
        let id = created["account"]["id"].as_str().unwrap().to_owned();
        let issuer = "https://id.example.org";
        let opened = |subject: &str| {
            let claims = IdTokenClaims {
                subject: subject.to_owned(),
                email: Some("ann@example.org".to_owned()),
                name: None,
            };
            let rule = IdentityRule { domains: Vec::new(), new_accounts: Some(Role::Guide) };
            let now = server.setup().clock.now();
            let found =
                server.db().write_blocking(|tx| identity::person(tx, now, issuer, &claims, &rule));
            found.map(|person| person.id).map_err(|problem| problem.kind)
        };
        assert_eq!(opened("sub-1"), Err(ProblemKind::Forbidden), "the address alone opens nothing");
        let path = format!("/api/people/{id}/identities");
        client.post(&path).json(&json!({ "subject": "sub-1" })).expect(422);
        let link = json!({ "issuer": issuer, "subject": "sub-1" });
        let linked: Value = client.post(&path).json(&link).expect(201).json();
        assert_eq!(linked["identities"][0]["subject"], "sub-1");
        assert_eq!(opened("sub-1"), Ok(id));
        assert_eq!(opened("sub-2"), Err(ProblemKind::Forbidden));
        let second = json!({ "issuer": issuer, "subject": "sub-2" });
        client.post(&path).json(&second).expect(409);
        client.delete(&format!("{path}?issuer=https%3A%2F%2Fid.example.org")).expect(204);
        assert_eq!(opened("sub-1"), Err(ProblemKind::Forbidden));
    });
}

#[test]
fn the_console_manages_accounts_like_the_api() {
    both(|server| {
        account(server, "ada@example.org", "Ada", Role::Administrator);
        let ada = Browser::signed_in(server, "ada@example.org");
        let new =
            [("email", "gus@example.org"), ("name", "Gus"), ("role", "guide"), ("rosterUser", "")];
        let created = ada.submit("/console/accounts/new", "/console/accounts/new", &new);
        assert_eq!(created.status, 200, "{}", created.text());
        let text = created.text();
        let (_, link) = text.split_once("/welcome?link=").expect("a link");
        let link = format!("/welcome?link={}", link.split_once('<').unwrap().0);
        use_link(server, &link, "password of gus");
        let again = ada.submit("/console/accounts/new", "/console/accounts/new", &new);
        assert_eq!(again.status, 409, "{}", again.text());
        let gus =
            server.db().read_blocking(|tx| person::require(tx, "gus@example.org")).unwrap().id;
        let page = format!("/console/accounts/{gus}");
        let act = |what: &str, fields: &[(&str, &str)]| {
            let reply = ada.submit(&page, &format!("{page}/{what}"), fields);
            assert!([200, 303].contains(&reply.status), "{what}: {}", reply.text());
            server.db().read_blocking(|tx| person::require(tx, "gus@example.org")).unwrap()
        };
        records::school(server.db(), "s", "s");
        let limited = act("limit", &[("organizations", "s"), ("teacher", "")]);
        assert_eq!(limited.reach, Reach::organizations(["s"]).unwrap());
        assert!(ada.get(&page).text().contains(r#"name="organizations" value="s""#));
        assert_eq!(act("limit", &[]).reach, Reach::Everything);
        assert_eq!(act("role", &[("role", "developer")]).role, Role::Developer);
        act("sessions", &[]);
        assert!(ada.get(&page).text().contains("The person is not signed in"));
        assert!(act("disable", &[]).disabled.is_some());
        assert!(act("enable", &[]).disabled.is_none());
        act("link", &[]);
        let list = ada.get("/console/accounts?role=developer").text();
        assert!(list.contains(&page) && list.contains("1–1 of 1"), "{list}");

        let renamed = ada.submit("/console/profile", "/console/profile", &[("name", "Ada L")]);
        assert_eq!(renamed.status, 303);
        let fields = [("current", PASSWORD), ("new", "another password")];
        let changed = ada.submit("/console/profile", "/console/profile/password", &fields);
        assert!(changed.text().contains("The password is changed."), "{}", changed.text());
        assert!(changed.text().contains("Ada L"));
        assert_eq!(sign_in_status(server, "ada@example.org", "another password"), 200);
    });
}
