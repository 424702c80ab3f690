//! Acknowledged writes survive `kill -9`, because a sync comes before the answer.

use lyceum_testkit::full_size;
use lyceum_testserver::durability::{Api, SyncTrace};

use crate::http::Http;
use crate::served::{Served, Store, on_both_stores};

/// Times that the server is killed on each store.
const KILLS: usize = 5;

on_both_stores!(acknowledged_writes_survive_a_kill);

fn acknowledged_writes_survive_a_kill(store: Store) {
    let enough = if full_size() { 100_000 } else { 1_000 };
    let mut served = Served::start(store);
    for round in 0..KILLS {
        let before = api(&served);
        let ids = before.write_and_kill(&format!("kill-{round}"), enough / KILLS, || served.kill());
        served = served.again();
        let lost = api(&served).lost(&ids);
        assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), ids.len());
    }
}

#[test]
#[ignore = "rest"]
fn every_answer_follows_a_sync() {
    let served = Served::start(Store::Sqlite);
    let Some(SyncTrace { answered, unsynced }) = api(&served).trace(served.pid(), "traced", 200)
    else {
        println!("left out, without an strace that may attach: syncs before answers");
        return;
    };
    assert!(answered >= 200, "the trace shows {answered} of 200 creates");
    assert_eq!(unsynced, 0, "of {answered}");
}

#[test]
#[ignore = "rest"]
fn a_disk_that_does_not_sync_ends_the_server() {
    let mut served = Served::start(Store::Sqlite);
    let before = api(&served);
    assert!(before.create("synced"));
    let Some(is_acknowledged) = before.create_unsynced(served.pid(), "unsynced") else {
        println!("left out, without an strace that may attach: a disk that does not sync");
        return;
    };
    assert!(!is_acknowledged);
    let status = served.ended();
    assert!(!status.success(), "{status}");
    assert!(served.log().contains("the disk did not take the write-ahead log"), "{}", served.log());
    served = served.again();
    assert!(api(&served).lost(&["synced".to_owned()]).is_empty());
}

fn api(served: &Served) -> Api {
    let http = Http::sign_in(&served.base, &served.client("platform", &[]), None);
    Api::new(&served.base, http.token())
}
