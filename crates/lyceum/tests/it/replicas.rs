//! A server that is lost for good, and databases that go back to a time, from the replicas in a bucket.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use lyceum_core::time::{Clock, SystemClock};
use lyceum_testkit::s3::Bucket;
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::deploy::{client, place_at};
use crate::served::{Served, Store};
use crate::whole_project;

const STAGING: &[&str] = &["--env", "staging"];
/// The last writes that a lost machine may take with it, with some spare time for a busy machine.
const BOUND: Duration = Duration::from_secs(3);

fn add(client: &TestClient, points: u32) {
    let score = json!({ "player": format!("p{points}"), "points": points });
    client.post("/_projects/word-rivers/api/scores").json(&score).expect(201);
}

fn scores(client: &TestClient) -> String {
    client.get("/_projects/word-rivers/api/scores").expect(200).text()
}

#[test]
#[ignore = "rest"]
fn a_lost_server_and_one_database_are_restored_from_their_replicas() {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    let settings = [
        ("LYCEUM_S3__BUCKET", s3.bucket.as_str()),
        ("LYCEUM_S3__ENDPOINT", s3.endpoint.as_str()),
        ("LYCEUM_S3__ACCESS_KEY", "key"),
        ("LYCEUM_S3__SECRET_KEY", "secret"),
    ];
    let settings = settings.map(|(name, value)| (name, &*value.to_owned().leak()));
    let settings: &'static _ = settings.to_vec().leak();
    let mut served = Served::prepared_with(Store::Sqlite, STAGING, settings, |_| ());
    let place = place_at(&served);
    whole_project::write(&place);
    place.ok("deploy --yes");
    let own = client(&served);
    (0..5).for_each(|n| add(&own, n));
    let early = scores(&own);
    sleep(BOUND);
    let at = SystemClock.now().to_string();
    (5..9).for_each(|n| add(&own, n));
    assert_ne!(scores(&own), early);

    place.ok(&format!("db restore --at {at} --remote"));
    assert_eq!(scores(&own), early, "the database is as it was at {at}");
    let org = json!({ "org": { "sourcedId": "last", "name": "last", "type": "school" } });
    own.post("/ims/oneroster/rostering/v1p2/orgs").json(&org).expect(201);
    add(&own, 77);
    let latest = scores(&own);
    sleep(BOUND);
    served.kill();

    let installations =
        || fs::read_dir(bucket.folder.path().join("files/replicas")).unwrap().count();
    assert_eq!(installations(), 1);
    let now = SystemClock.now().to_string();
    let mut first = String::new();
    let back = Served::prepared_with(Store::Sqlite, STAGING, settings, |data| {
        let restored = data.run(&["admin", "restore", "--at", &now, "--json"]);
        let restored: Value = serde_json::from_str(&restored).unwrap();
        assert_eq!(restored["missing"], json!([]), "{restored}");
        restored["installation"].as_str().unwrap().clone_into(&mut first);
        fs::copy(served.file("data/master.key"), data.file("data/master.key")).unwrap();
    });
    let own = client(&back);
    assert_eq!(scores(&own), latest);
    own.get("/ims/oneroster/rostering/v1p2/orgs/last").expect(200);
    let sound = back.run(&["admin", "check", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&sound).unwrap()["faults"], json!([]), "{sound}");
    add(&own, 78);
    let refused = back.fails(&["admin", "restore", "--at", &now]);
    assert!(refused.contains("is in use"), "{refused}");

    // The restored server has replicas of its own, and those of the lost one stay.
    sleep(BOUND);
    assert_eq!(installations(), 2);
    let later = SystemClock.now().to_string();
    let empty = back.file("elsewhere");
    let restore = ["admin", "restore", "--at", &later, "--data", empty.to_str().unwrap(), "--json"];
    let refused = back.fails(&restore);
    assert!(refused.contains("several installations") && refused.contains(&first), "{refused}");
    back.run(&[&restore[..], &["--installation", &first]].concat());
    let place = place_at(&back);
    whole_project::write(&place);
    place.ok(&format!("db restore --at {at} --remote"));
    assert_eq!(scores(&own), early, "the time is before the restore");
}
