//! Server processes with one PostgreSQL database and one bucket, of which one is killed, paused or stopped. What another
//! one serves then is compared with the writes that were acknowledged.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use lyceum_testkit::full_size;
use lyceum_testkit::s3::Bucket;
use lyceum_testserver::client::TestClient;
use serde_json::Value;

use crate::deploy::place_at;
use crate::served::{Served, Store};
use crate::transcript::Place;
use crate::whole_project;

/// The longest time until another node answers for one that was killed or paused.
const TAKEN_MAX: Duration = Duration::from_secs(15);
/// Acknowledged writes of this time before a kill may be lost: the replica may lack them.
const REPLICATED_WITHIN: Duration = Duration::from_secs(2);

const SCORES: &str = "/_projects/word-rivers/api/scores";
const LATE: &str = "/_projects/word-rivers/api/late";
/// Writes to the database three seconds after the request has begun.
const LATE_ROUTE: &str = "export const POST = async (c) => {
  await scheduler.wait(3000);
  await c.env.DB.prepare(\"INSERT INTO scores (player, points) VALUES ('late', 1)\").run();
  return c.json({}, 201);
};
";

/// Starts a node that uses the bucket.
fn first_node(bucket: &Bucket) -> Served {
    let text = |text: &str| -> &'static str { text.to_owned().leak() };
    let s3 = &bucket.settings;
    let settings = Box::leak(Box::new([
        ("LYCEUM_S3__BUCKET", text(&s3.bucket)),
        ("LYCEUM_S3__ENDPOINT", text(&s3.endpoint)),
        ("LYCEUM_S3__REGION", text(&s3.region)),
        ("LYCEUM_S3__PREFIX", text(&s3.prefix)),
        ("LYCEUM_S3__ACCESS_KEY", "key"),
        ("LYCEUM_S3__SECRET_KEY", "secret"),
    ]));
    Served::prepared_with(Store::postgres(), &["--env", "staging"], settings, |_| ())
}

/// Deploys a project to the node.
fn deploy(node: &Served) -> Place {
    let place = place_at(node);
    whole_project::write(&place);
    place.write("server/api/late.ts", LATE_ROUTE);
    place.ok("deploy --yes");
    place
}

fn visitor(node: &Served) -> TestClient {
    TestClient::new(node.base.clone())
}

/// Stores a score; whether that was acknowledged.
fn add(client: &TestClient, player: &str) -> bool {
    let score = serde_json::json!({ "player": player, "points": 1 });
    client.post(SCORES).json(&score).try_send().is_ok_and(|reply| reply.status == 201)
}

/// How often each player is in the list; `None` if the node does not answer.
fn players(client: &TestClient) -> Option<BTreeMap<String, usize>> {
    let reply = client.get(SCORES).try_send().ok().filter(|reply| reply.status == 200)?;
    let mut counts = BTreeMap::new();
    for score in reply.json::<Value>().as_array()? {
        *counts.entry(score["player"].as_str()?.to_owned()).or_default() += 1;
    }
    Some(counts)
}

/// The players, once the node answers.
fn answered(node: &Served) -> BTreeMap<String, usize> {
    let (begun, client) = (Instant::now(), visitor(node));
    loop {
        if let Some(players) = players(&client) {
            return players;
        }
        assert!(begun.elapsed() < TAKEN_MAX, "no answer:\n{}", node.log());
        sleep(Duration::from_millis(100));
    }
}

#[test]
#[ignore = "rest"]
fn a_paused_node_acknowledges_no_write_after_another_one_has_taken_its_project() {
    let bucket = Bucket::start();
    let oak = first_node(&bucket);
    let _place = deploy(&oak);
    let elm = oak.beside();
    assert!(add(&visitor(&oak), "ada"));
    // Writes of the last second may be lost, on a busy machine of a longer time.
    sleep(Duration::from_secs(4));
    let late = thread::scope(|scope| {
        // Its write waits in the node's socket while the node is paused.
        let late = scope.spawn(|| visitor(&oak).post(LATE).send().status);
        sleep(Duration::from_millis(300));
        oak.pause();
        assert_eq!(answered(&elm), BTreeMap::from([("ada".to_owned(), 1)]));
        assert!(add(&visitor(&elm), "grace"));
        oak.resume();
        late.join().unwrap()
    });
    assert!(late >= 500, "the paused node acknowledged a write with {late}");
    let expected = BTreeMap::from([("ada".to_owned(), 1), ("grace".to_owned(), 1)]);
    assert_eq!(answered(&elm), expected);
    assert_eq!(answered(&oak), expected, "the former node forwards");
    // The former node moves its files aside when it has ended the project's backends.
    let since = Instant::now();
    while oak.file("data/hosting/projects/word-rivers").exists() {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", oak.log());
        sleep(Duration::from_millis(100));
    }
}

/// A write that was acknowledged.
struct AcknowledgedWrite {
    player: String,
    at: Instant,
}

/// Writes through both nodes until `done`, each name once.
fn write_until(
    done: &AtomicBool,
    nodes: &[TestClient],
    history: &Mutex<Vec<AcknowledgedWrite>>,
    writer: usize,
) {
    for number in 0.. {
        if done.load(SeqCst) {
            return;
        }
        let player = format!("p{writer}-{number}");
        if add(&nodes[(writer + number) % nodes.len()], &player) {
            history.lock().unwrap().push(AcknowledgedWrite { player, at: Instant::now() });
        }
        sleep(Duration::from_millis(20));
    }
}

/// Kills or pauses the holder of the project again and again while clients write, and compares what is stored with what
/// was acknowledged.
#[test]
#[ignore = "rest"]
fn no_acknowledged_write_is_lost_or_doubled_while_nodes_are_killed_and_paused() {
    let rounds = if full_size() { 12 } else { 1 };
    let bucket = Bucket::start();
    let mut oak = first_node(&bucket);
    let _place = deploy(&oak);
    let mut elm = oak.beside();
    let (history, mut failures) = (Mutex::new(Vec::new()), Vec::new());
    for round in 0..rounds {
        let clients = [visitor(&oak), visitor(&elm)];
        let (done, holder_is_oak) = (AtomicBool::new(false), holds(&oak));
        let holder = if holder_is_oak { &mut oak } else { &mut elm };
        thread::scope(|scope| {
            for writer in 0..4 {
                let (done, clients, history) = (&done, &clients, &history);
                scope.spawn(move || write_until(done, clients, history, round * 4 + writer));
            }
            sleep(Duration::from_secs(3));
            failures.push(Instant::now());
            if round % 2 == 0 {
                holder.kill();
                sleep(Duration::from_secs(14));
            } else {
                holder.pause();
                sleep(Duration::from_secs(13));
                holder.resume();
                sleep(Duration::from_secs(3));
            }
            done.store(true, SeqCst);
        });
        if round % 2 == 0 {
            match holder_is_oak {
                true => oak = oak.again(),
                false => elm = elm.again(),
            }
        }
        let (stored, elsewhere) = (answered(&oak), answered(&elm));
        assert_eq!(stored, elsewhere, "both nodes show the same");
        assert!(stored.values().all(|count| *count == 1), "a write was done twice: {stored:?}");
        let lost: Vec<_> = lost(&history.lock().unwrap(), &stored, &failures);
        assert!(lost.is_empty(), "round {round}: acknowledged writes were lost: {lost:?}");
    }
    let acknowledged = history.into_inner().unwrap().len();
    assert!(acknowledged > rounds * 50, "only {acknowledged} writes were acknowledged");
}

/// Whether the node holds the project.
fn holds(node: &Served) -> bool {
    let listed: Value =
        serde_json::from_str(&node.run(&["admin", "project", "list", "--json"])).unwrap();
    let address = listed[0]["node"]["address"].as_str().unwrap();
    node.base.ends_with(address)
}

/// The acknowledged writes that are not stored, except those that a killed or paused node had not replicated.
fn lost(
    history: &[AcknowledgedWrite],
    stored: &BTreeMap<String, usize>,
    failures: &[Instant],
) -> Vec<String> {
    let may_be_lost = |at: Instant| {
        failures.iter().any(|failure| at <= *failure && *failure - at < REPLICATED_WITHIN)
    };
    let lost = history
        .iter()
        .filter(|write| !stored.contains_key(&write.player) && !may_be_lost(write.at));
    lost.map(|write| write.player.clone()).collect()
}
