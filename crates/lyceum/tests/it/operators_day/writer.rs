//! Clients that write all day, and remember what was acknowledged.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testserver::client::TestClient;
use serde_json::json;

use super::ORGS;

/// Records of one page.
const PAGE: usize = 3000;
/// More than one writer creates in a day.
const RECORDS_MAX: usize = 30_000;

/// Creates records one after the other until it is stopped, and notes which of them were acknowledged when.
pub(super) struct Writer {
    path: &'static str,
    pub(super) client: TestClient,
    acknowledged: Mutex<Vec<(String, Instant)>>,
    pub(super) refusals: Mutex<Vec<(u16, String)>>,
    is_done: AtomicBool,
}

impl Writer {
    pub(super) fn new(path: &'static str, client: TestClient) -> Self {
        let (acknowledged, refusals) = (Mutex::default(), Mutex::default());
        Self { path, client, acknowledged, refusals, is_done: AtomicBool::new(false) }
    }

    pub(super) fn work(&self) {
        for id in
            (0..).map(|number| format!("day-{number}")).take_while(|_| !self.is_done.load(Relaxed))
        {
            let record = match self.path {
                ORGS => json!({"org": {"sourcedId": id, "name": id, "type": "school"}}),
                _ => json!({"player": id, "points": 1}),
            };
            match self.client.post(self.path).json(&record).try_send() {
                Ok(reply) if reply.status == 201 => {
                    self.acknowledged.lock().unwrap().push((id, Instant::now()));
                    sleep(Duration::from_millis(20));
                }
                Ok(reply) => {
                    self.refusals.lock().unwrap().push((reply.status, reply.text()));
                    sleep(Duration::from_millis(100));
                }
                // The server restarts.
                Err(_) => sleep(Duration::from_millis(100)),
            }
        }
    }

    /// The records that were acknowledged before an instant.
    pub(super) fn acknowledged(&self, before: Instant) -> Vec<String> {
        let all = self.acknowledged.lock().unwrap();
        all.iter().filter(|(_, at)| *at < before).map(|(id, _)| id.clone()).collect()
    }

    /// Waits until one more record is acknowledged; how long that took.
    pub(super) fn wait(&self, at_most: Duration) -> Duration {
        let (since, before) = (Instant::now(), self.acknowledged.lock().unwrap().len());
        // One may be on its way.
        while self.acknowledged.lock().unwrap().len() < before + 2 {
            let refusals = || format!("{:?}", self.refusals.lock().unwrap().last());
            assert!(since.elapsed() < at_most, "nothing is acknowledged: {}", refusals());
            sleep(Duration::from_millis(20));
        }
        since.elapsed()
    }

    /// The longest time since an instant in which nothing was acknowledged.
    pub(super) fn longest_pause(&self, since: Instant) -> Duration {
        let all = self.acknowledged.lock().unwrap();
        let times: Vec<Instant> = all.iter().map(|(_, at)| *at).filter(|at| *at > since).collect();
        times.windows(2).map(|two| two[1] - two[0]).max().unwrap_or_default()
    }

    /// Checks that the records are there.
    pub(super) fn expect_in(&self, client: &TestClient, expected: &[String]) {
        let page = |offset| {
            let path = format!("{}?limit={PAGE}&offset={offset}", self.path);
            client.get(&path).expect(200).text()
        };
        // The route of the project answers all scores each time.
        let found: String = (0..RECORDS_MAX).step_by(PAGE).map(page).collect();
        let found: HashSet<&str> = found.split('"').collect();
        let missing: Vec<_> = expected.iter().filter(|id| !found.contains(id.as_str())).collect();
        assert!(missing.is_empty(), "{missing:?} of {} are missing", expected.len());
    }
}

/// Ends writers, also if the test panics.
pub(super) struct Stop<'a>(pub(super) &'a [&'a Writer]);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|writer| writer.is_done.store(true, Relaxed));
    }
}
