//! Keeps the clients in memory, because every request needs one.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicUsize};

use http::HeaderValue;
use lyceum_access as access;
use lyceum_core::config::LimitSettings;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Reach, Result, message};

use super::rate::RequestRate;
use crate::admission::add;
use crate::limits;

/// A client and the used part of its share.
pub struct ClientShare {
    client: access::Client,
    rate: Option<RequestRate>,
    /// The number of running requests.
    requests: AtomicUsize,
    /// The bytes of answers that the client has not read yet.
    unread_bytes: AtomicUsize,
}

impl ClientShare {
    pub(super) fn new(client: access::Client, limits: &LimitSettings) -> Self {
        let rate = client.requests_per_second.unwrap_or(limits.requests_per_second);
        let rate = RequestRate::new(rate, limits.burst);
        let [requests, unread_bytes] = [(); 2].map(|()| AtomicUsize::new(0));
        Self { client, rate, requests, unread_bytes }
    }

    /// Whether the client was revoked.
    pub fn is_revoked(&self) -> bool {
        self.client.revoked.is_some()
    }

    /// The payload dialect with which the client is registered.
    pub fn dialect(&self) -> PayloadDialect {
        self.client.dialect
    }

    /// The rights of the client.
    pub(super) fn rights(&self) -> access::Rights {
        self.client.scopes.rights()
    }

    /// The part of the roster that the client has access to.
    pub(super) fn reach(&self) -> &Reach {
        &self.client.reach
    }

    /// Whether web pages of the origin may call with this client.
    pub fn has_origin(&self, origin: &HeaderValue) -> bool {
        self.client.origins.iter().any(|own| own.as_bytes() == origin.as_bytes())
    }

    /// Counts a new request. Returns false if too many are running.
    pub fn begins_request(&self) -> bool {
        add(&self.requests, 1, limits::CLIENT_REQUESTS_MAX_COUNT)
    }

    /// Ends a counted request.
    pub fn ends_request(&self) {
        self.requests.fetch_sub(1, Relaxed);
    }

    /// Counts bytes of an answer that the client has not read yet. Returns false if they exceed the limit.
    pub fn takes_bytes(&self, bytes: usize) -> bool {
        add(&self.unread_bytes, bytes, limits::CLIENT_ANSWERS_MAX_BYTES)
    }

    /// Removes counted bytes after the client has read them.
    pub fn gives_bytes(&self, bytes: usize) {
        self.unread_bytes.fetch_sub(bytes, Relaxed);
    }

    /// Refuses a request beyond the part of the client's rate that each of the live servers gives.
    pub fn count_request(&self, live_servers: &AtomicU32) -> Result<()> {
        let Some(rate) = &self.rate else { return Ok(()) };
        let Err(refused) = rate.check(live_servers.load(Relaxed)) else { return Ok(()) };
        let mut problem = Problem::new(
            ProblemKind::TooManyRequests,
            message!(
                "the client '{self.client.id}' exceeded its rate of requests; send fewer requests"
            ),
        );
        problem.retry_after_s = Some(super::wait_s(&refused));
        Err(problem)
    }
}

/// All clients at one moment.
#[derive(Clone, Default)]
pub(super) struct ClientTable {
    callers: HashMap<String, Arc<ClientShare>>,
    /// The newest change that is included.
    pub changed: i64,
}

impl ClientTable {
    pub(super) fn get(&self, id: &str) -> Option<&Arc<ClientShare>> {
        self.callers.get(id)
    }

    /// A copy of these clients with the changed ones replaced.
    pub(super) fn with(&self, changes: Vec<access::Client>, limits: &LimitSettings) -> Self {
        let mut next = self.clone();
        for client in changes {
            next.changed = next.changed.max(client.changed);
            next.callers.insert(client.id.clone(), Arc::new(ClientShare::new(client, limits)));
        }
        next
    }

    pub(super) fn any_has_origin(&self, origin: &HeaderValue) -> bool {
        let mut live = self.callers.values().filter(|caller| !caller.is_revoked());
        live.any(|caller| caller.has_origin(origin))
    }
}
