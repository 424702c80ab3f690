//! Nodes with one PostgreSQL database and one bucket: another node takes the projects of a node that is gone.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_hosting::homes;
use lyceum_testkit::fresh_database;
use lyceum_testkit::s3::Bucket;
use lyceum_testserver::server::TestServer;
use serde_json::Value;

use crate::homes::{hosting, named, other};
use crate::hosted::{SLUG, deployed};

/// The longest time until another node answers for a node that was killed.
const TAKEN_MAX: Duration = Duration::from_secs(15);

/// Stores each body in the database, the last one as a key and as an object, and returns all.
const BACKEND: &str = r#"
export default {
  async fetch(request, env) {
    const text = await request.text();
    await env.DB.exec("CREATE TABLE IF NOT EXISTS note (text TEXT)");
    if (text) {
      await env.DB.prepare("INSERT INTO note VALUES (?)").bind(text).run();
      await env.KV.put("last", text);
      await env.BUCKET.put("last", text);
    }
    const { results } = await env.DB.prepare("SELECT text FROM note ORDER BY rowid").all();
    const object = await env.BUCKET.get("last");
    return Response.json([results.map((row) => row.text), await env.KV.get("last"),
      object && await object.text()]);
  },
};
"#;

/// Two nodes that share the bucket. The first one holds a project.
fn nodes(bucket: &Bucket) -> (TestServer, TestServer) {
    let mut setup = named("oak");
    setup.config.s3 = bucket.settings.clone();
    let oak = TestServer::start_as(&fresh_database(&lyceum_api::migrations()), setup);
    let elm = other(&oak, "elm", None);
    deployed(&oak.client(), &[("index.html", b"tides")], BACKEND, &[]);
    (oak, elm)
}

fn note(node: &TestServer, text: &str) -> Option<Value> {
    let path = format!("/_projects/{SLUG}/api/note");
    let reply = node.anonymous().post(&path).body("text/plain", text).send();
    (reply.status == 200).then(|| reply.json())
}

fn notes(texts: &[&str]) -> Value {
    serde_json::json!([texts, texts.last(), texts.last()])
}

/// The notes, once the node answers.
fn answered(node: &TestServer, within: Duration) -> Value {
    let begun = Instant::now();
    loop {
        if let Some(notes) = note(node, "") {
            return notes;
        }
        assert!(begun.elapsed() < within, "the node does not answer");
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_killed_node_is_replaced_by_another_one_with_all_replicated_writes() {
    let bucket = Bucket::start();
    let (oak, elm) = nodes(&bucket);
    note(&oak, "one").unwrap();
    note(&elm, "two").unwrap();
    sleep(Duration::from_secs(3)); // Until the replica has it.
    let (target, setup) = (oak.target().clone(), oak.setup().clone());
    drop(oak);
    assert_eq!(answered(&elm, TAKEN_MAX), notes(&["one", "two"]));
    assert_eq!(note(&elm, "three"), Some(notes(&["one", "two", "three"])));

    // The former node never serves its old files.
    let oak = TestServer::start_as(&target, setup);
    assert_eq!(note(&oak, "four"), Some(notes(&["one", "two", "three", "four"])));
    assert!(!hosting(&oak).join("projects").join(SLUG).exists());
    assert_eq!(fs::read_dir(hosting(&oak).join("stale")).unwrap().count(), 1);
}

#[test]
#[ignore = "rest"]
fn a_node_that_stops_hands_its_projects_over_at_once() {
    let bucket = Bucket::start();
    let (mut oak, elm) = nodes(&bucket);
    note(&oak, "one").unwrap();
    oak.stop();
    let begun = Instant::now();
    assert_eq!(answered(&elm, TAKEN_MAX), notes(&["one"]));
    assert!(begun.elapsed() < Duration::from_secs(5), "it did not wait for the end of a lease");
}

#[test]
#[ignore = "rest"]
fn a_node_that_restarts_within_its_lease_continues_with_its_own_files() {
    let bucket = Bucket::start();
    let (oak, elm) = nodes(&bucket);
    let (target, setup) = (oak.target().clone(), oak.setup().clone());
    note(&oak, "one").unwrap();
    drop(oak);
    let oak = TestServer::start_as(&target, setup);
    assert_eq!(answered(&oak, TAKEN_MAX), notes(&["one"]));
    assert_eq!(answered(&elm, TAKEN_MAX), notes(&["one"]));
    assert!(!hosting(&elm).join("projects").join(SLUG).exists());
}

/// Ends the node, and lets another one take its project, whose replicas cannot be stored meanwhile.
fn taken_without_replica(bucket: &Bucket, oak: TestServer, elm: &TestServer) {
    note(&oak, "one").unwrap();
    sleep(Duration::from_secs(3)); // Until the replica has it.
    drop(oak);
    bucket.refuse_writes_to(Some(".sqlite/"));
    let begun = Instant::now();
    while holder(elm) != "elm" {
        assert_eq!(note(elm, "lost"), None);
        assert!(begun.elapsed() < TAKEN_MAX, "the node does not take the project");
        sleep(Duration::from_millis(100));
    }
}

/// The name of the node that holds the project.
fn holder(node: &TestServer) -> String {
    let home = node.db().read_blocking(|tx| homes::find(tx, SLUG)).unwrap();
    home.unwrap().node.name
}

#[test]
#[ignore = "rest"]
fn a_taken_project_is_served_once_its_replica_has_a_state_of_the_new_node() {
    let bucket = Bucket::start();
    let (oak, elm) = nodes(&bucket);
    taken_without_replica(&bucket, oak, &elm);
    for _ in 0..20 {
        assert_eq!(note(&elm, "lost"), None, "its writes would not survive the node");
        sleep(Duration::from_millis(100));
    }
    bucket.refuse_writes_to(None);
    assert_eq!(answered(&elm, TAKEN_MAX), notes(&["one"]));
    let replicas = bucket.folder.path().join("files/school/replicas");
    assert_eq!(fs::read_dir(replicas).unwrap().count(), 1, "both nodes are one installation");
}

#[test]
#[ignore = "rest"]
fn a_project_that_was_deployed_again_never_gets_the_files_of_a_deleted_one() {
    let bucket = Bucket::start();
    let (oak, elm) = nodes(&bucket);
    note(&oak, "of the former project").unwrap();
    sleep(Duration::from_secs(3)); // Until the replica has it.
    oak.client().delete(&format!("/api/projects/{SLUG}")).expect(204);
    sleep(Duration::from_secs(4)); // Until the lease was renewed.
    bucket.refuse_writes_to(Some(".sqlite/"));
    deployed(&oak.client(), &[("index.html", b"tides")], BACKEND, &[]);
    drop(oak);
    bucket.refuse_writes_to(None);
    let begun = Instant::now();
    loop {
        let reply = elm.anonymous().get(&format!("/_projects/{SLUG}/api/note")).send();
        assert_eq!(reply.status, 503, "{}", reply.text());
        if reply.text().contains("does not run") {
            break;
        }
        assert!(begun.elapsed() < TAKEN_MAX, "{}", reply.text());
        sleep(Duration::from_millis(200));
    }
}

#[test]
#[ignore = "rest"]
fn a_project_whose_new_node_ends_before_its_first_replica_moves_to_another_node() {
    let bucket = Bucket::start();
    let (oak, elm) = nodes(&bucket);
    let ash = other(&elm, "ash", None);
    taken_without_replica(&bucket, oak, &elm);
    drop(elm);
    bucket.refuse_writes_to(None);
    assert_eq!(answered(&ash, TAKEN_MAX), notes(&["one"]));
    assert_eq!(note(&ash, "two"), Some(notes(&["one", "two"])));
    sleep(Duration::from_secs(3)); // Until the replica has it.
    let elm = other(&ash, "elm", None);
    drop(ash);
    assert_eq!(answered(&elm, TAKEN_MAX), notes(&["one", "two"]), "and not a state from before");
}

#[test]
#[ignore = "rest"]
fn a_node_that_starts_again_before_its_first_replica_still_acknowledges_nothing() {
    let bucket = Bucket::start();
    let (oak, mut elm) = nodes(&bucket);
    taken_without_replica(&bucket, oak, &elm);
    elm.restart();
    for _ in 0..20 {
        assert_eq!(note(&elm, "lost"), None, "its writes would not survive the node");
        sleep(Duration::from_millis(100));
    }
    bucket.refuse_writes_to(None);
    assert_eq!(answered(&elm, TAKEN_MAX), notes(&["one"]));
}

/// Gives the project to the former node, once, when a node renews its lease twice within a short time.
const LOSE: [&str; 3] = [
    "CREATE TABLE last_renewal AS SELECT CAST('-infinity' AS TIMESTAMPTZ) AS at, FALSE AS is_done",
    "CREATE FUNCTION lose() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN \
       IF EXISTS (SELECT FROM last_renewal \
                  WHERE NOT is_done AND at > clock_timestamp() - INTERVAL '300 ms') THEN \
         UPDATE last_renewal SET is_done = TRUE; \
         UPDATE project_homes SET node = (SELECT id FROM nodes WHERE name = 'oak'), \
           token = token + 1, replicated_of = token + 1; \
         UPDATE nodes SET moves = moves + 1; \
       END IF; \
       UPDATE last_renewal SET at = clock_timestamp(); \
       RETURN NULL; \
     END $$",
    "CREATE TRIGGER lose AFTER UPDATE OF lease_until_ms ON nodes \
     FOR EACH ROW EXECUTE FUNCTION lose()",
];

#[test]
#[ignore = "rest"]
fn a_project_that_is_lost_while_it_is_taken_can_be_taken_later() {
    let bucket = Bucket::start();
    let (oak, elm) = nodes(&bucket);
    taken_without_replica(&bucket, oak, &elm);
    let is_lost = || {
        let sql = "SELECT 1 FROM last_renewal WHERE is_done";
        elm.db().read_blocking(|tx| tx.query_one(sql, &[], |_| Ok(()))).unwrap().is_some()
    };
    let execute = |sql| elm.db().write_blocking(|tx| tx.execute(sql, &[])).map(drop);
    LOSE.into_iter().try_for_each(execute).unwrap();
    let begun = Instant::now();
    while !is_lost() {
        assert_eq!(note(&elm, "lost"), None);
        assert!(begun.elapsed() < TAKEN_MAX, "no attempt was made");
        sleep(Duration::from_millis(100));
    }
    bucket.refuse_writes_to(None);
    assert_eq!(answered(&elm, TAKEN_MAX), notes(&["one"]));
}
