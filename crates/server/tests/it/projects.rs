//! Hosted projects over HTTP: uploads, plans, versions, secrets and rollbacks.

use std::io::{Cursor, Write};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_access::{NewApiKey, Role, Scope, api_key, person};
use lyceum_api::limits::BLOB_SPARED_S;
use lyceum_blob::{Blobs, Digest};
use lyceum_core::PayloadDialect;
use lyceum_core::config::Environment;
use lyceum_hosting::limits;
use lyceum_project::limits::SECRET_MAX_BYTES;
use lyceum_project::{
    Action, Artifact, Backend, Desired, Metadata, Module, Plan, State, Uses, secrets,
};
use lyceum_store::Tx;
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::both;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::enrolling::{get, schools, user};
use crate::game_tokens::{player, playground};
use crate::people;

/// The plan, if there is one.
pub(crate) fn plan(state: &State, desired: &Desired) -> Plan {
    lyceum_project::plan(state, desired).unwrap()
}

pub(crate) fn artifact(bytes: &[u8]) -> Artifact {
    let sha256 = lyceum_blob::Digest::of(bytes).to_string();
    Artifact { sha256, size: bytes.len() as u64 }
}

/// A zip of a build, which differs for different texts.
pub(crate) fn build(text: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [("index.html", text), ("assets/app.js", "run()")] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(crate) fn begin(client: &TestClient, artifact: &Artifact) -> Value {
    let body = json!({ "sha256": artifact.sha256, "size": artifact.size });
    client.post("/api/uploads").json(&body).expect(200).json()
}

pub(crate) fn piece(client: &TestClient, id: &str, range: &str, bytes: &[u8]) -> Reply {
    let call = client.put(&format!("/api/uploads/{id}")).header("content-range", range);
    call.body("application/octet-stream", bytes).send()
}

/// Uploads bytes in one piece, and returns how many were sent.
pub(crate) fn upload(client: &TestClient, bytes: &[u8]) -> usize {
    let begun = begin(client, &artifact(bytes));
    if begun["complete"] == true {
        return 0;
    }
    let range = format!("bytes 0-{}/{}", bytes.len() - 1, bytes.len());
    let reply = piece(client, begun["id"].as_str().unwrap(), &range, bytes);
    assert_eq!(reply.json::<Value>()["complete"], true, "{}", reply.text());
    bytes.len()
}

pub(crate) fn state(client: &TestClient, slug: &str) -> State {
    client.get(&format!("/api/projects/{slug}/state")).expect(200).json()
}

/// The desired state of the project `rivers` with these secrets.
pub(crate) fn wanted(state: &State, zip: &[u8], values: &[(&str, &str)]) -> Desired {
    let key = BASE64_STANDARD.decode(&state.secrets.key).unwrap();
    let digests =
        values.iter().map(|(name, value)| ((*name).to_owned(), secrets::digest(&key, name, value)));
    Desired {
        slug: state.slug.clone(),
        metadata: Metadata { name: "Rivers".into(), ..Metadata::default() },
        frontend: Some(artifact(zip)),
        backend: None,
        force_backend: false,
        uses: Uses::default(),
        secrets: Some(digests.collect()),
        database: None,
        lms: None,
    }
}

pub(crate) fn send(client: &TestClient, plan: &Plan, values: &[(&str, &str)]) -> Reply {
    let names: Vec<_> = plan.secrets.pushed().collect();
    let values = values.iter().filter(|(name, _)| names.iter().any(|known| known == name));
    let values: serde_json::Map<String, Value> =
        values.map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    let body = json!({ "plan": plan, "secrets": values });
    client.post(&format!("/api/projects/{}/deployments", plan.slug)).json(&body).send()
}

/// Deploys the build with the secrets, and returns the resulting state.
pub(crate) fn deploy(client: &TestClient, zip: &[u8], values: &[(&str, &str)]) -> State {
    upload(client, zip);
    let state = state(client, "rivers");
    let reply = send(client, &plan(&state, &wanted(&state, zip, values)), values);
    assert!(matches!(reply.status, 200 | 201), "{}", reply.text());
    reply.json()
}

/// Deploys the project `rivers` with a display name and a secret.
pub(crate) fn deploy_called(client: &TestClient, name: &str, text: &str) {
    let (zip, values) = (build(text), [("TOKEN", "t")]);
    upload(client, &zip);
    let state = state(client, "rivers");
    let mut wish = wanted(&state, &zip, &values);
    name.clone_into(&mut wish.metadata.name);
    let reply = send(client, &plan(&state, &wish), &values);
    assert!(matches!(reply.status, 200 | 201), "{}", reply.text());
}

#[test]
fn an_upload_is_resumed_and_deployed_once() {
    both(|server| {
        let client = server.client();
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
        let whole = artifact(&bytes);
        let begun = begin(&client, &whole);
        assert_eq!((&begun["offset"], &begun["complete"]), (&json!(0), &json!(false)));
        let id = begun["id"].as_str().unwrap().to_owned();
        let size = bytes.len();
        let range = format!("bytes 0-59999/{size}");
        assert_eq!(piece(&client, &id, &range, &bytes[..60_000]).header("upload-offset"), "60000");

        // If a piece is repeated or leaves a gap, the server answers with its offset.
        for (range, bytes) in [
            (format!("bytes 0-59999/{size}"), &bytes[..60_000]),
            (format!("bytes 70000-99999/{size}"), &bytes[70_000..]),
        ] {
            let refused = piece(&client, &id, &range, bytes);
            assert_eq!((refused.status, refused.header("upload-offset")), (409, "60000"));
        }
        let wrong = [
            ("bytes 60000-99999/100001".to_owned(), 422),
            (format!("bytes 60000-70000/{size}"), 422),
            ("60000-99999".to_owned(), 400),
        ];
        for (range, status) in wrong {
            assert_eq!(piece(&client, &id, &range, &bytes[60_000..]).status, status, "{range}");
        }
        // Callers cannot continue uploads of others.
        let other = server.client();
        assert_eq!(piece(&other, &id, "bytes 0-0/1", b"x").status, 404);
        assert_eq!(begin(&other, &whole)["offset"], 0);

        server.restart();
        let head = client.call(ureq::http::Method::HEAD, &format!("/api/uploads/{id}")).expect(200);
        assert_eq!(head.header("upload-offset"), "60000");
        let range = format!("bytes 60000-{}/{size}", size - 1);
        let done: Value = piece(&client, &id, &range, &bytes[60_000..]).json();
        assert_eq!(done["complete"], true);
        assert_eq!(upload(&other, &bytes), 0, "a file that the server has is sent again");
    });
}

#[test]
fn an_upload_with_another_digest_starts_over() {
    both(|server| {
        let client = server.client();
        let announced = Artifact { size: 3, ..artifact(b"abc") };
        let id = begin(&client, &announced)["id"].as_str().unwrap().to_owned();
        assert_eq!(piece(&client, &id, "bytes 0-2/3", b"abd").status, 422);
        assert_eq!(begin(&client, &announced)["offset"], 0);
        assert_eq!(piece(&client, &id, "bytes 0-2/3", b"abc").status, 200);
        let large = json!({ "sha256": announced.sha256, "size": limits::UPLOAD_MAX_BYTES + 1 });
        client.post("/api/uploads").json(&large).expect(413);
        client.post("/api/uploads").json(&json!({ "sha256": "abc", "size": 1 })).expect(422);
        client.get("/api/uploads/none").expect(404);
        let empty = begin(&client, &artifact(b""));
        assert_eq!(empty["complete"], true);
    });
}

#[test]
fn a_project_is_deployed_changed_and_rolled_back() {
    both(|server| {
        let client = server.client();
        let nothing = state(&client, "rivers");
        assert_eq!((nothing.revision, nothing.environment.as_str()), (0, "production"));
        assert!(nothing.frontend_url.contains("//rivers.localhost:"));
        client.get("/api/projects/rivers").expect(404);
        let (one, two) = (build("one"), build("two"));
        let first = deploy(&client, &one, &[("A", "hunter1"), ("B", "hunter2")]);
        assert_eq!((first.revision, first.version), (1, Some(1)));
        assert_eq!(first.frontend, Some(artifact(&one)));
        let again = wanted(&first, &one, &[("A", "hunter1"), ("B", "hunter2")]);
        assert_eq!(plan(&first, &again).action, Action::Nothing);
        assert_eq!(get(&client, "/api/games/rivers")["displayName"], "Rivers", "it is a game");

        let second = deploy(&client, &two, &[("A", "hunter3")]);
        assert_eq!((second.revision, second.version), (2, Some(2)));
        assert_eq!(second.secrets.digests.keys().collect::<Vec<_>>(), ["A"]);
        server.restart();
        assert_eq!(state(&server.client(), "rivers"), second);

        let turned: Value =
            client.post("/api/projects/rivers/rollback").json(&json!({})).expect(200).json();
        assert_eq!(turned["version"], 1);
        let back = state(&client, "rivers");
        assert_eq!((back.revision, back.version), (3, Some(1)));
        assert_eq!((back.frontend, back.secrets.digests), (first.frontend, first.secrets.digests));
        let refused = json!({ "version": 2, "revision": 2 });
        client.post("/api/projects/rivers/rollback").json(&refused).expect(409);
        client.post("/api/projects/rivers/rollback").json(&json!({ "version": 9 })).expect(404);
        client.post("/api/projects/rivers/rollback").json(&json!({})).expect(409);
        let third = deploy(&client, &two, &[]);
        assert_eq!(third.version, Some(3), "numbers are never given twice");

        let versions = get(&client, "/api/projects/rivers/deployments");
        let numbers: Vec<_> = versions.as_array().unwrap().iter().map(|v| &v["version"]).collect();
        assert_eq!(numbers, [3, 2, 1]);
        let log = get(&client, "/api/projects/rivers/audit");
        let whats: Vec<_> = log.as_array().unwrap().iter().map(|entry| &entry["what"]).collect();
        assert_eq!(whats, ["deploy", "rollback", "deploy", "deploy"]);
        let response = [versions, log, get(&client, "/api/projects/rivers"), json!(third)];
        assert!(
            response.iter().all(|response| !response.to_string().contains("hunter")),
            "{response:?}"
        );
        let zip = artifact(&one).sha256;
        let fetched = client.get(&format!("/api/projects/rivers/artifacts/{zip}")).expect(200);
        assert_eq!(fetched.body, one);
        client.get(&format!("/api/projects/other/artifacts/{zip}")).expect(404);
    });
}

#[test]
fn an_outdated_plan_is_not_applied() {
    both(|server| {
        let client = server.client();
        let zip = build("one");
        let nothing = state(&client, "rivers");
        let first = plan(&nothing, &wanted(&nothing, &zip, &[("A", "1")]));
        let refused = send(&client, &first, &[("A", "1")]);
        assert_eq!(refused.status, 422, "nothing was uploaded: {}", refused.text());
        upload(&client, &zip);
        for values in [&[][..], &[("A", "2")]] {
            let refused = send(&client, &first, values);
            assert_eq!(refused.status, 422);
            assert!(refused.text().contains("secrets.A"), "{}", refused.text());
        }
        assert_eq!(send(&client, &Plan { slug: "other".into(), ..first.clone() }, &[]).status, 422);
        assert_eq!(state(&client, "rivers"), nothing, "nothing was done so far");

        assert_eq!(send(&client, &first, &[("A", "1")]).status, 201);
        let stale = send(&client, &first, &[("A", "1")]);
        assert_eq!(stale.status, 409);
        assert!(stale.text().contains("deploy again"), "{}", stale.text());

        // The shown plan is the applied plan, so a modified plan is refused.
        let now = state(&client, "rivers");
        let mut changed = plan(&now, &wanted(&now, &zip, &[]));
        assert_eq!(changed.secrets.removed, ["A"]);
        changed.secrets.removed.clear();
        assert_eq!(send(&client, &changed, &[]).status, 409);
        // The plan also differs if the game was changed and the project was not.
        let renaming = plan(&now, &wanted(&now, &zip, &[]));
        client.patch("/api/games/rivers").json(&json!({"displayName": "Streams"})).expect(200);
        assert_eq!(send(&client, &renaming, &[]).status, 409);
        assert_eq!(state(&client, "rivers").secrets.digests.len(), 1);
    });
}

#[test]
fn backends_that_break_the_rules_are_refused() {
    both(|server| {
        let client = server.client();
        let code = b"export default {}".as_slice();
        upload(&client, code);
        let nothing = state(&client, "rivers");
        let Artifact { sha256, size } = artifact(code);
        let module = Module { name: "worker.js".into(), sha256, size };
        let backend = Backend {
            source_hash: "s".into(),
            main: "worker.js".into(),
            modules: vec![module],
            compatibility_date: "2026-04-01".into(),
            routes: vec!["/api/hello".into()],
        };
        let zip = build("one");
        let refused = |backend: Backend| {
            let desired =
                Desired { backend: Some(backend), frontend: None, ..wanted(&nothing, &zip, &[]) };
            let reply = send(&client, &plan(&nothing, &desired), &[]);
            assert_eq!(reply.status, 422, "{}", reply.text());
        };
        refused(Backend { main: "other.js".into(), ..backend.clone() });
        refused(Backend { compatibility_date: "2026-02-30".into(), ..backend.clone() });
        refused(Backend { modules: Vec::new(), ..backend.clone() });
        let mut large = backend.clone();
        large.modules[0].size = limits::BACKEND_MAX_BYTES + 1;
        refused(large);
        let mut elsewhere = backend;
        elsewhere.modules[0].sha256 = "../../etc/passwd".into();
        refused(elsewhere);
        client.get("/api/projects/Not%20A%20Slug/state").expect(422);
    });
}

#[test]
fn read_only_callers_get_no_key_and_change_nothing() {
    both(|server| {
        deploy(&server.client(), &build("one"), &[]);
        let reader = server.client_with(&[Scope::ProjectsRead], PayloadDialect::Platform);
        reader.get("/api/projects").expect(200);
        reader.get("/api/projects/rivers/state").expect(403);
        reader.post("/api/projects/rivers/rollback").json(&json!({})).expect(403);
        reader.post("/api/uploads").json(&json!({})).expect(403);
    });
}

#[test]
fn a_project_belongs_to_its_creator_and_its_members() {
    both(|server| {
        let grace = people::let_in(server, "grace@example.org", Role::Developer);
        let alan = people::let_in(server, "alan@example.org", Role::Developer);
        let guide = people::let_in(server, "guide@example.org", Role::Guide);
        deploy(&grace, &build("one"), &[]);
        let paths = ["", "/state", "/deployments", "/deployments/1", "/audit"];
        let statuses = |client: &TestClient| {
            let status =
                |path: &&str| client.get(&format!("/api/projects/rivers{path}")).send().status;
            paths.iter().map(status).collect::<Vec<_>>()
        };
        assert_eq!((statuses(&grace), statuses(&alan)), (vec![200; 5], vec![403; 5]));
        assert_eq!(statuses(&guide), vec![403; 5]);
        let seen = |client: &TestClient| {
            client.get("/api/projects").expect(200).json::<Value>().as_array().unwrap().len()
        };
        assert_eq!((seen(&grace), seen(&alan)), (1, 0));
        alan.post("/api/projects/rivers/rollback").json(&json!({})).expect(403);
        let known = state(&server.client(), "rivers");
        let zip = build("two");
        upload(&alan, &zip);
        assert_eq!(send(&alan, &plan(&known, &wanted(&known, &zip, &[])), &[]).status, 403);

        let bound = |project: &str| {
            let new = NewApiKey {
                name: project.to_owned(),
                role: Role::Developer,
                project: Some(project.to_owned()),
                maker: None,
            };
            let (now, env) = (server.setup().clock.now(), server.setup().config.server.env);
            let created = server.db().write_blocking(|tx| api_key::create(tx, now, env, &new));
            server.anonymous().with_token(created.unwrap().1)
        };
        assert_eq!(statuses(&bound("rivers")), vec![200; 5]);
        assert_eq!(statuses(&bound("lakes")), vec![403; 5]);
        let join = server.db().write_blocking(|tx| {
            let alan = person::require(tx, "alan@example.org")?;
            lyceum_access::join(tx, "rivers", &alan.id)
        });
        join.unwrap();
        assert_eq!(statuses(&alan), vec![200; 5]);
        // Only members can change the metadata of the game.
        schools(&server.client());
        user(&server.client(), "ann", "student", &["03"], "s");
        let change = json!({ "displayName": "Streams" });
        let status = |client: &TestClient, path: &str| {
            client.patch(&format!("/api/games/{path}")).json(&change).send().status
        };
        let mallory = people::let_in(server, "mallory@example.org", Role::Developer);
        let others = [bound("ponds"), mallory];
        for client in &others {
            assert_eq!(status(client, "rivers"), 403);
            let ask = |path: &str, body: &Value| client.post(path).json(body).send().status;
            assert_eq!(ask("/api/games/rivers/token", &json!({ "userId": "ann" })), 403);
            assert_eq!(ask("/api/games/rivers/scores?userId=ann", &json!({ "score": 1 })), 403);
            assert_eq!(
                ask(
                    "/api/lms/setup?gameId=rivers",
                    &json!({
                        "organization": { "name": "S" },
                        "courses": [{ "subject": "Math", "grade": 3, "totalXp": 10 }],
                    })
                ),
                403
            );
            client.delete("/api/lms/integrations/rivers").expect(403);
            let achievement = json!({ "title": "First" });
            let define = client.put("/api/games/rivers/achievements/first").json(&achievement);
            assert_eq!(define.send().status, 403);
        }
        assert_eq!((status(&grace, "rivers"), status(&alan, "rivers")), (200, 200));
        let game = |slug: &str| json!({ "slug": slug, "displayName": slug });
        let [key, mallory] = others;
        key.post("/api/games").json(&game("seas")).expect(403);
        key.post("/api/games").json(&game("ponds")).expect(201);
        mallory.post("/api/games").json(&game("seas")).expect(201);
        assert_eq!((status(&key, "ponds"), status(&mallory, "seas")), (200, 200));
    });
}

#[test]
fn tokens_for_players_end_with_the_access_of_their_creators() {
    both(|server| {
        playground(server);
        let grace = people::let_in(server, "grace@example.org", Role::Developer);
        let join = server.db().write_blocking(|tx| {
            let grace = person::require(tx, "grace@example.org")?;
            lyceum_access::join(tx, "rivers", &grace.id)
        });
        join.unwrap();
        let text = people::key(server, "ci", Role::Developer, Environment::Production);
        let key = server.anonymous().with_token(text);
        let plays = |client: &TestClient| client.get("/api/users/me").send().status;
        let (by_grace, by_key) =
            (player(server, &grace, "ann", "rivers"), player(server, &key, "bob", "planets"));
        assert_eq!((plays(&by_grace), plays(&by_key)), (200, 200));
        by_key.post("/api/games/planets/scores").json(&json!({ "score": 7 })).expect(201);
        by_key.post("/api/games/rivers/scores").json(&json!({ "score": 7 })).expect(403);
        by_grace.get("/ims/oneroster/rostering/v1p2/orgs").expect(403);
        let now = server.setup().clock.now();
        let ended = server.db().write_blocking(|tx| {
            person::disable(tx, now, "grace@example.org")?;
            api_key::revoke(tx, now, "ci")
        });
        ended.unwrap();
        assert_eq!((plays(&by_grace), plays(&by_key)), (401, 401));
    });
}

#[test]
fn a_server_limits_projects_and_lengths_of_secrets() {
    both(|server| {
        let client = server.client();
        let long = "x".repeat(SECRET_MAX_BYTES + 1);
        let zip = build("one");
        upload(&client, &zip);
        let known = state(&client, "rivers");
        let values = [("KEY", long.as_str())];
        let refused = send(&client, &plan(&known, &wanted(&known, &zip, &values)), &values);
        assert_eq!(refused.status, 422, "{}", refused.text());
        assert!(refused.text().contains("must have at most 16384 bytes"), "{}", refused.text());
        let fill = format!(
            "INSERT INTO projects (slug, revision, active, latest, created_ms, updated_ms) \
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
             SELECT 'p' || i, 1, 1, 1, 0, 0 FROM n",
            limits::PROJECTS_MAX_COUNT
        );
        server.db().write_blocking(|tx| tx.execute(&fill, &[])).unwrap();
        let refused = send(&client, &plan(&known, &wanted(&known, &zip, &[])), &[]);
        assert_eq!(refused.status, 409, "{}", refused.text());
        assert!(refused.text().contains("the limit for projects"), "{}", refused.text());
    });
}

#[test]
fn only_files_of_kept_versions_stay() {
    both(|server| {
        let client = server.client();
        let builds: Vec<_> = (0..12).map(|n| build(&format!("version {n}"))).collect();
        for zip in &builds {
            deploy(&client, zip, &[]);
        }
        let blobs = Blobs::on_disk(server.setup().config.store.data.join("hosting")).unwrap();
        let has = |zip: &[u8]| blobs.open(&Digest::of(zip)).unwrap().is_some();
        let other = &b"of somebody else"[..];
        blobs.put(&Digest::of(other), other).unwrap();
        let others = |_: &mut Tx<'_>| Ok(vec![Digest::of(other).to_string()]);
        let sweep = |spared: u64| {
            let now = server.setup().clock.now();
            let spared = Duration::from_secs(spared);
            lyceum_hosting::sweep(server.db(), &blobs, now, spared, others).unwrap()
        };
        let kept = usize::try_from(limits::DEPLOYMENTS_KEPT_MAX_COUNT).unwrap();
        assert_eq!(
            get(&client, "/api/projects/rivers/deployments").as_array().unwrap().len(),
            kept
        );
        assert_eq!(sweep(BLOB_SPARED_S).blobs, 0, "a deploy may just be asking for them");
        let swept = sweep(0);
        assert_eq!(swept.blobs, 4, "two zips and their pages; the script is still needed");
        let there: Vec<_> = builds.iter().map(|zip| has(zip)).collect();
        assert_eq!(there, [vec![false; 2], vec![true; 10]].concat());
        assert!(has(other), "others keep it");
        // A deleted project can be deployed again.
        deploy(&client, &builds[0], &[]);
        let page = client.get("/_projects/rivers/").expect(200).text();
        assert_eq!(page, "version 0");
    });
}
