//! Several nodes with one database, each with a separate data folder. The node with a project's files serves, plans and
//! deploys it. All other nodes on SQLite, which is for one node, refuse it; `forwarding` tests nodes on PostgreSQL.

use lyceum_blob::BucketInstallations;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lyceum_access::Role;
use lyceum_api::work::backup::BackupSource;
use lyceum_core::ProblemKind;
use lyceum_core::time::Timestamp;
use lyceum_hosting::backup::{self, BackupFile};
use lyceum_hosting::nodes::{Node, NodeSettings};
use lyceum_hosting::{homes, installations};
use lyceum_project::{DatabaseWish, SchemaWish, State, Uses};
use lyceum_store::StoreLocation;
use lyceum_testserver::client::Reply;
use lyceum_testserver::server::{Setup, TestServer, both_as};
use serde_json::Value;
use ureq::http::Method;

use crate::people;
use crate::projects::{artifact, begin, build, piece, plan, send, state, upload, wanted};

pub(crate) fn named(name: &str) -> Setup {
    let mut setup = Setup::default();
    name.clone_into(&mut setup.config.server.node_name);
    setup
}

/// Runs the body against two nodes of a SQLite database.
fn two_nodes_of_sqlite(body: impl Fn(&mut TestServer, &mut TestServer)) {
    let folder = tempfile::tempdir().unwrap();
    let target = StoreLocation::Sqlite(folder.path().join("lyceum.db"));
    let mut oak = TestServer::start_as(&target, named("oak"));
    let mut elm = other(&oak, "elm", None);
    body(&mut oak, &mut elm);
}

/// Another node with the same database and public address. Without a folder, it gets a new one.
pub(crate) fn other(server: &TestServer, name: &str, folder: Option<&Path>) -> TestServer {
    let Setup { config, master, .. } = server.setup().clone();
    let mut setup = Setup { master, ..named(name) };
    setup.config.server.public_url = config.server.public_url;
    setup.config.s3 = config.s3;
    if let Some(from) = folder {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(from, copy.path());
        setup.folder = Some(copy.into());
    }
    TestServer::start_as(server.target(), setup)
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&to).unwrap();
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

pub(crate) fn hosting(server: &TestServer) -> PathBuf {
    server.setup().config.store.data.join("hosting")
}

pub(crate) fn project(server: &TestServer) -> PathBuf {
    hosting(server).join("projects/rivers")
}

/// The files of a folder with their bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() {
            contents.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    contents
}

/// Deploys the project `rivers` with a database, keys and a bucket.
pub(crate) fn deploy(server: &TestServer, text: &str, table: &str) -> State {
    let client = server.client();
    let zip = build(text);
    upload(&client, &zip);
    let state = state(&client, "rivers");
    let mut wish = wanted(&state, &zip, &[]);
    wish.uses = Uses::with_bindings(|_| true);
    let ddl = format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY, body TEXT)");
    let schema = SchemaWish::Push { ddl, renames: Vec::new() };
    wish.database = Some(DatabaseWish { schema, accept_data_loss: true });
    let reply = send(&client, &plan(&state, &wish), &[]);
    assert!(matches!(reply.status, 200 | 201), "{}", reply.text());
    let object = client.put("/api/projects/rivers/bucket/object?key=map");
    object.body("application/octet-stream", "a map").expect(200);
    reply.json()
}

fn assert_names(reply: &Reply, holder: &str, what: &str) {
    assert_eq!(reply.status, 421, "{what}: {}", reply.text());
    let message = reply.text();
    assert!(message.contains(holder), "{what} names the node {holder}: {message}");
}

/// All routes below the path, with the media types of their bodies.
pub(crate) fn routes_below(
    server: &TestServer,
    base: &str,
) -> Vec<(Method, String, Option<String>)> {
    let document: Value = server.anonymous().get("/openapi.json").expect(200).json();
    let paths = document["paths"].as_object().unwrap().iter();
    let paths = paths.filter(|(path, _)| path.starts_with(base));
    let mut routes = Vec::new();
    for (path, methods) in paths {
        for (method, route) in methods.as_object().unwrap() {
            let Ok(method) = method.to_uppercase().parse::<Method>() else { continue };
            let is_method = route["responses"].is_object();
            let media = route["requestBody"]["content"].as_object();
            let media = media.and_then(|content| content.keys().next().cloned());
            let path = path.replace("{slug}", "rivers").replace("{version}", "1");
            let path = path.replace("{part}", "1").replace("{id}", "x");
            let path = path.replace("{sha256}", &artifact(b"x").sha256);
            routes.extend(is_method.then_some((method, path, media)));
        }
    }
    routes
}

#[test]
#[ignore = "rest"]
fn every_route_of_a_project_is_refused_by_nodes_without_its_files() {
    two_nodes_of_sqlite(|oak, elm| {
        deploy(oak, "one", "notes");
        let before = contents(&project(oak));
        let client = elm.client();
        let holder = format!("'oak' ({})", oak.setup().config.server.listen);
        let routes = routes_below(elm, "/api/projects/{slug}");
        assert!(routes.len() > 15, "{routes:?}");
        for (method, path, media) in routes {
            let mut call = client.call(method.clone(), &path);
            if let Some(media) = media {
                call = call.body(&media, "{}");
            }
            assert_names(&call.send(), &holder, &format!("{method} {path}"));
        }
        people::person(elm, "ada@example.org", "Ada", Role::Administrator);
        let cookie = people::signed_in(elm, "ada@example.org");
        for page in ["", "/logs", "/bucket", "/secrets", "/changes", "/diff", "/logs/stream"] {
            let path = format!("/console/projects/rivers{page}");
            let reply = elm.anonymous().get(&path).header("cookie", &cookie).send();
            assert_names(&reply, "oak", &path);
        }
        for path in ["/_projects/rivers/", "/_projects/rivers/api/x", "/play/rivers?mode=demo"] {
            assert_names(&elm.anonymous().get(path).send(), "oak", path);
            elm.restart();
            assert_names(&elm.anonymous().get(path).send(), "oak", path);
        }
        assert!(!project(elm).exists(), "the other node makes no file of the project");
        assert_eq!(contents(&project(oak)), before, "the data is as it was");
        assert_eq!(
            elm.client().get("/api/projects").expect(200).json::<Value>()[0]["slug"],
            "rivers"
        );
    });
}

#[test]
#[ignore = "rest"]
fn a_plan_for_a_project_of_another_node_is_not_applied() {
    two_nodes_of_sqlite(|oak, elm| {
        let served = deploy(oak, "one", "notes");
        let zip = build("two");
        upload(&elm.client(), &zip);
        let mut wish = wanted(&served, &zip, &[]);
        wish.uses = served.uses;
        let reply = send(&elm.client(), &plan(&served, &wish), &[]);
        assert_names(&reply, "oak", "the deploy");
        oak.restart();
        let after = state(&oak.client(), "rivers");
        assert_eq!((after.version, after.database.ddl), (Some(1), served.database.ddl));
        let object = oak.client().get("/api/projects/rivers/bucket/object?key=map").expect(200);
        assert_eq!(object.text(), "a map");
        deploy(oak, "two", "notes");
    });
}

#[test]
#[ignore = "rest"]
fn pieces_of_an_upload_go_to_the_node_where_it_began() {
    two_nodes_of_sqlite(|oak, elm| {
        let (bytes, token) =
            (b"a river runs", oak.token(&[], lyceum_core::PayloadDialect::Platform));
        let [at_oak, at_elm] = [&*oak, &*elm].map(|node| node.anonymous().with_token(&token));
        let id = begin(&at_oak, &artifact(bytes))["id"].as_str().unwrap().to_owned();
        assert_eq!(piece(&at_oak, &id, "bytes 0-4/12", &bytes[..5]).status, 200);
        assert_names(&piece(&at_elm, &id, "bytes 5-11/12", &bytes[5..]), "oak", "a piece");
        assert_names(&at_elm.get(&format!("/api/uploads/{id}")).send(), "oak", "the offset");
        let whole: Value = piece(&at_oak, &id, "bytes 5-11/12", &bytes[5..]).json();
        assert_eq!(whole["complete"], true);
        assert_ne!(
            begin(&at_elm, &artifact(bytes))["id"],
            id.as_str(),
            "it is another upload there"
        );
    });
}

#[test]
fn lost_files_are_reported_and_not_created_again() {
    both_as(&named("oak"), |oak| {
        deploy(oak, "one", "notes");
        for lost in ["kv.sqlite", "bucket", "home"] {
            let (file, away) = (project(oak).join(lost), project(oak).join("away"));
            fs::rename(&file, &away).unwrap();
            for is_anew in [false, true] {
                if is_anew {
                    oak.restart();
                }
                assert_names(&oak.anonymous().get("/_projects/rivers/").send(), lost, lost);
                let state = oak.client().get("/api/projects/rivers/state").send();
                assert_names(&state, "'oak'", lost);
                assert!(!file.exists(), "{lost} is created again");
            }
            fs::rename(&away, &file).unwrap();
            oak.anonymous().get("/_projects/rivers/").expect(200);
        }
        fs::rename(hosting(oak), hosting(oak).with_extension("away")).unwrap();
        oak.restart();
        // It is a new node now, and the other one does not run.
        let lost = oak.client().get("/api/projects/rivers/state").send();
        match oak.target() {
            StoreLocation::Sqlite(_) => assert_names(&lost, "'oak'", "a lost folder"),
            StoreLocation::Postgres(_) => assert_eq!(lost.status, 503, "{}", lost.text()),
        }
    });
}

#[test]
fn only_one_of_two_copies_of_a_data_folder_serves_its_projects() {
    two_nodes_of_sqlite(|oak, _| {
        deploy(oak, "one", "notes");
        let served = |node: &TestServer| node.anonymous().get("/_projects/rivers/").send().status;
        let folder = oak.setup().config.store.data.clone();
        let copy = other(oak, "elm", Some(&folder));
        assert_eq!((served(oak), served(&copy)), (421, 200), "the copy was started later");
        assert_names(&oak.anonymous().get("/_projects/rivers/").send(), "was copied", "the first");
        let refused = adopt(oak, false).unwrap_err();
        assert!(refused.message.contains("restart the server"), "{refused}");
        oak.restart();
        assert_names(&oak.anonymous().get("/_projects/rivers/").send(), "'elm'", "a new node");
        // Follow the messages' advice, if the first folder is the right one.
        adopt(oak, false).unwrap();
        assert_eq!((served(oak), served(&copy)), (200, 421));
        adopt(&copy, true).unwrap();
        assert_eq!(served(&copy), 200);
        // An old state of the folder, as after restoring a disk.
        let old = other(oak, "old", Some(&folder));
        assert_names(&old.anonymous().get("/_projects/rivers/").send(), "'elm'", "an old state");
        // Two processes with one folder are not copies.
        let twin = copy.twin();
        assert_eq!((served(&copy), served(&twin)), (200, 200));
    });
}

fn adopt(node: &TestServer, is_forced: bool) -> lyceum_core::Result<()> {
    let config = &node.setup().config;
    let blobs =
        lyceum_hosting::blobs(&config.store.data, &config.s3, &BucketInstallations::default())?;
    let about = NodeSettings { name: "", address: "", shares_blobs: false };
    let (own, _alone) = Node::of_folder(&hosting(node), &about)?;
    node.db().write_blocking(|tx| homes::adopt(tx, (&own, &blobs), "rivers", is_forced).map(drop))
}

#[test]
fn a_node_adopts_a_project_whose_files_were_moved_to_it() {
    two_nodes_of_sqlite(|oak, elm| {
        let served = deploy(oak, "one", "notes");
        let refused = adopt(elm, true).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Conflict);
        assert!(refused.message.contains("is missing"), "{refused}");
        fs::create_dir_all(project(elm)).unwrap();
        copy_folder(&project(oak), &project(elm));
        let refused = adopt(elm, true).unwrap_err();
        assert!(refused.message.contains("copy the folder 'hosting/blobs'"), "{refused}");
        copy_folder(&hosting(oak).join("blobs"), &hosting(elm).join("blobs"));
        let mark = fs::read(project(elm).join("home")).unwrap();
        fs::write(project(elm).join("home"), "another\n").unwrap();
        let refused = adopt(elm, false).unwrap_err();
        assert!(refused.message.contains("their mark is not"), "{refused}");
        fs::write(project(elm).join("home"), mark).unwrap();
        adopt(elm, false).unwrap();
        assert_names(&oak.client().get("/api/projects/rivers/state").send(), "'elm'", "the former");
        assert_eq!(state(&elm.client(), "rivers").database.ddl, served.database.ddl);
        let object = elm.client().get("/api/projects/rivers/bucket/object?key=map").expect(200);
        assert_eq!(object.text(), "a map");
        // The files on the previous node are stale, and a message says so.
        let refused = adopt(oak, false).unwrap_err();
        assert!(refused.message.contains("their mark is not"), "{refused}");
        deploy(elm, "two", "notes");
    });
}

#[test]
fn a_restore_records_the_kept_data_and_the_former_mark_of_a_project() {
    both_as(&named("oak"), |oak| {
        deploy(oak, "one", "notes");
        oak.db().write_blocking(|tx| tx.execute("DELETE FROM project_homes", &[])).unwrap();
        let about = NodeSettings { name: "", address: "", shares_blobs: false };
        let node = Node::read(&hosting(oak), &about).unwrap();
        let (folder, now) = (tempfile::tempdir().unwrap(), Timestamp::from_milliseconds(0));
        let file = folder.path().join("oak.backup");
        let config = &oak.setup().config;
        let file = BackupFile::parse(file.to_str().unwrap(), config).unwrap();
        let source = BackupSource { db: oak.db(), config, node: &node, has_database: true };
        lyceum_api::work::backup::create(source, now, &file, |_| ()).unwrap();
        let draft = backup::unpack(file.open().unwrap().unwrap(), folder.path(), |_| ()).unwrap();
        oak.db()
            .write_blocking(|tx| draft.adopt(tx, now, (&node, &installations::new_id())))
            .unwrap();
        let kept = oak.db().read_blocking(|tx| {
            tx.query_one("SELECT kept FROM project_homes", &[], |row| row.string(0))
        });
        let kept: Uses = serde_json::from_str(&kept.unwrap().unwrap()).unwrap();
        assert_eq!(kept, Uses::with_bindings(|_| true));
        let marks = || fs::read_to_string(project(oak).join("home")).unwrap();
        let former = marks().lines().next().unwrap().to_owned();
        oak.db()
            .write_blocking(|tx| draft.adopt(tx, now, (&node, &installations::new_id())))
            .unwrap();
        assert_eq!(marks().lines().nth(1), Some(former.as_str()));
    });
}
