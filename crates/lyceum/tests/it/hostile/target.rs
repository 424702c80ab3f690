//! The server under attack, and another caller of it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use lyceum_access::limits::PASSWORD_HASH_MEMORY_BYTES;
use ureq::Agent;

use super::sized;
use crate::http::{self, Http};
use crate::served::Served;

/// Kilobytes that callers without a token may make the server take, beside their connections.
const MEMORY_MAX_KB: u64 = 64 * 1024;
/// Kilobytes of one open connection.
const CONNECTION_MAX_KB: u64 = 16;
/// The slowest of a hundred calls of another caller may take so long. The machine may run other tests.
const WAIT_MAX: Duration = Duration::from_millis(500);
/// The time in which others must be served often enough during an attack.
const ATTACK_MAX: Duration = Duration::from_mins(2);
/// A record that the other caller reads.
const READ: &str = "/ims/oneroster/rostering/v1p2/orgs?limit=10";

/// A lock for one attack at a time: the other caller measures how long it waits.
static ALONE: Mutex<()> = Mutex::new(());

/// A server under attack.
pub(super) struct Target {
    pub(super) served: Served,
    pub(super) token: String,
    _alone: MutexGuard<'static, ()>,
}

/// The cost that an attack may have.
#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    /// Connections that are open at once.
    pub(super) connections: usize,
    /// Passwords that are hashed at once.
    pub(super) hashes: u32,
    /// Kilobytes of requests with a token.
    pub(super) with_token_kb: u64,
}

impl Target {
    /// A server with the settings that it is shipped with.
    pub(super) fn start() -> Self {
        Self::within(&[], None)
    }

    /// A server with settings, for which `ulimit` is called first.
    pub(super) fn within(
        settings: &'static [(&'static str, &'static str)],
        descriptors: Option<&'static str>,
    ) -> Self {
        Self::of(|| Served::within(settings, descriptors))
    }

    /// A server that is made so.
    pub(super) fn of(make: impl FnOnce() -> Served) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let served = make();
        let key = served.client("standard", &[]);
        let token = Http::sign_in(&served.base, &key, None).token().to_owned();
        let target = Self { served, token, _alone: alone };
        // Caches and buffers of usual requests are no harm.
        for _ in 0..50 {
            target.ask(&agent(), "/health").unwrap();
            target.ask(&agent(), READ).unwrap();
        }
        target
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.served.base.rsplit('/').next().unwrap().parse().unwrap()
    }

    /// Runs an attack, and keeps up what it answers until another caller was served often. Panics when the
    /// server takes too much memory, or the other caller waits long or is refused.
    pub(super) fn withstands<T>(&self, cost: Cost, attack: impl FnOnce() -> T) {
        let before = self.memory_kb();
        let (is_over, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            let over = Over(&is_over);
            let caller = scope.spawn(|| self.calls(&is_over, &calls));
            let memory = scope.spawn(|| self.peak_kb(&is_over));
            let _kept = attack();
            let (enough, since) = (calls.load(Relaxed) + sized(200, 2000), Instant::now());
            while calls.load(Relaxed) < enough && !caller.is_finished() {
                assert!(since.elapsed() < ATTACK_MAX, "others are served too slowly");
                sleep(Duration::from_millis(10));
            }
            drop(over);
            let mut waits = caller.join().unwrap();
            waits.sort_unstable();
            let wait = waits[waits.len() * 99 / 100];
            let took = memory.join().unwrap().saturating_sub(before);
            let most = MEMORY_MAX_KB
                + CONNECTION_MAX_KB * cost.connections as u64
                + u64::from(cost.hashes * PASSWORD_HASH_MEMORY_BYTES / 1024)
                + cost.with_token_kb;
            println!("{took} of {most} KB, 99 of 100 calls within {wait:?}");
            assert!(took <= most, "the server took {took} KB more, {most} KB are allowed");
            assert!(wait <= WAIT_MAX, "another caller waits {wait:?}");
        });
    }

    /// The time of each call of another caller. Each twentieth comes by a new connection.
    fn calls(&self, is_over: &AtomicBool, calls: &AtomicUsize) -> Vec<Duration> {
        let mut waits = Vec::new();
        while !is_over.load(Relaxed) {
            let agent = agent();
            for path in ["/health", READ].into_iter().cycle().take(20) {
                let since = Instant::now();
                if let Err(fault) = self.ask(&agent, path) {
                    panic!("another caller is not served: {fault}\n{}", self.served.log());
                }
                waits.push(since.elapsed());
                calls.fetch_add(1, Relaxed);
            }
        }
        waits
    }

    fn ask(&self, agent: &Agent, path: &str) -> Result<(), ureq::Error> {
        let request = agent.get(format!("{}{path}", self.served.base));
        let bearer = format!("Bearer {}", self.token);
        request.header("Authorization", bearer).call()?.body_mut().read_to_string().map(drop)
    }

    fn peak_kb(&self, is_over: &AtomicBool) -> u64 {
        let mut peak = 0;
        while !is_over.load(Relaxed) {
            peak = peak.max(self.memory_kb());
            sleep(Duration::from_millis(5));
        }
        peak
    }

    /// Memory of the server without the files that it maps.
    fn memory_kb(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.served.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// Says that an attack is over, also where it panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn agent() -> Agent {
    http::config().timeout_global(Some(Duration::from_secs(10))).build().into()
}
