//! Limits the number of connections, and the memory for callers without a token. No single address can use up either.
//! If the server is full, it first closes unused connections.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use lyceum_core::config::{Config, Network};
use lyceum_core::{Problem, ProblemKind, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::sleep;

use crate::connection::ConnectionState;
use crate::limits;

/// The connections and memory that the server gives to callers, and how much each address uses.
pub struct Admission {
    connections: Pool,
    connection_bytes: Pool,
    request_bytes: Pool,
    compressions: Arc<Semaphore>,
    anonymous_compressions: Arc<Semaphore>,
    anonymous_reads: Semaphore,
    anonymous_reads_waiting: Semaphore,
    large_answers: Arc<Semaphore>,
    upgrades: Arc<Semaphore>,
    trusted_proxies: Vec<Network>,
    origins: Mutex<HashMap<IpAddr, Weak<CallerAddress>>>,
    seated: Mutex<HashMap<u64, Weak<ConnectionState>>>,
    next_seat: AtomicU64,
    started: Instant,
    /// When a search last found no unused connection, in milliseconds since the start; 0 if that never happened.
    searched_in_vain: AtomicU64,
}

/// A limited number of connections or bytes. One address can get only a part of it.
struct Pool {
    most: usize,
    share: usize,
    used: AtomicUsize,
}

/// The result of taking from a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PoolReply {
    Yes,
    /// The address has used up its share.
    ShareIsUsed,
    PoolIsUsed,
}

/// An address, or the network of one IPv6 subscriber, with the connections and memory that it uses.
pub(crate) struct CallerAddress {
    /// Many callers share the address, so it is not limited to one share.
    pub(crate) is_proxy: bool,
    connections: AtomicUsize,
    connection_bytes: AtomicUsize,
    request_bytes: AtomicUsize,
    /// When a search among the connections of this address last found no unused one, as in [`Admission`].
    searched_in_vain: AtomicU64,
}

/// The pool from which memory is taken.
#[derive(Clone, Copy)]
pub(crate) enum RequestMemory {
    Connections,
    Requests,
}

impl Admission {
    /// Creates the limits from the settings. `descriptors` is the number of files and sockets that the process may
    /// open.
    pub fn new(config: &Config, descriptors: usize) -> Arc<Self> {
        let server = &config.server;
        let most = server.connections.min(connections_of(descriptors));
        let bytes = |most| Pool::new(most, most / limits::ANONYMOUS_PARTS_COUNT);
        Arc::new(Self {
            connections: Pool::new(most, server.connections_per_address),
            connection_bytes: bytes(limits::ANONYMOUS_CONNECTIONS_MAX_BYTES),
            request_bytes: bytes(limits::ANONYMOUS_REQUESTS_MAX_BYTES),
            compressions: Arc::new(Semaphore::new(limits::COMPRESSIONS_MAX_COUNT)),
            anonymous_compressions: Arc::new(Semaphore::new(
                limits::ANONYMOUS_COMPRESSIONS_MAX_COUNT,
            )),
            anonymous_reads: Semaphore::new(limits::ANONYMOUS_READS_MAX_COUNT),
            anonymous_reads_waiting: Semaphore::new(
                limits::ANONYMOUS_READS_MAX_COUNT + limits::ANONYMOUS_READS_WAITING_MAX_COUNT,
            ),
            large_answers: Arc::new(Semaphore::new(1)),
            upgrades: Arc::new(Semaphore::new(limits::UPGRADED_CONNECTIONS_MAX_COUNT)),
            trusted_proxies: server.trusted_proxies.clone(),
            origins: Mutex::default(),
            seated: Mutex::default(),
            next_seat: AtomicU64::new(0),
            started: Instant::now(),
            searched_in_vain: AtomicU64::new(0),
        })
    }

    /// Reserves a place for a connection of the address. `None` if the server or the share of the address is full and
    /// every connection is in use.
    pub(crate) async fn seat(self: &Arc<Self>, address: IpAddr) -> Option<Arc<ConnectionState>> {
        let origin = self.origin(address);
        for attempt in 0..20 {
            let taken = self.connections.reserve(&origin.connections, origin.is_proxy, 1);
            if taken == PoolReply::Yes {
                let number = self.next_seat.fetch_add(1, Relaxed);
                let activity = Arc::new(ConnectionState::new(number, Arc::clone(self), origin));
                lock(&self.seated).insert(number, Arc::downgrade(&activity));
                return Some(activity);
            }
            let origin_of_share = (taken == PoolReply::ShareIsUsed).then_some(&origin);
            if attempt == 0 && !self.make_room(origin_of_share, |_| true) {
                return None;
            }
            // Connections that were told to close end within moments.
            sleep(Duration::from_millis(1 + attempt)).await;
        }
        None
    }

    /// The number of open connections, and the most.
    pub fn connections(&self) -> (usize, usize) {
        (self.connections.used.load(Relaxed), self.connections.most)
    }

    /// Releases the place of a closed connection.
    pub(crate) fn leave(&self, activity: &ConnectionState) {
        lock(&self.seated).remove(&activity.number);
        self.connections.release(&activity.origin.connections, 1);
    }

    /// The entry of the address, which its connections share.
    pub(crate) fn origin(&self, address: IpAddr) -> Arc<CallerAddress> {
        let address = address.to_canonical();
        let is_proxy = self.trusted_proxies.iter().any(|network| network.contains(address));
        let place = place(address);
        let mut origins = lock(&self.origins);
        if let Some(known) = origins.get(&place).and_then(Weak::upgrade)
            && known.is_proxy == is_proxy
        {
            return known;
        }
        // Remove the entries of addresses without a connection from time to time.
        if origins.len() == origins.capacity() {
            origins.retain(|_, origin| origin.strong_count() > 0);
        }
        let origin = Arc::new(CallerAddress::new(is_proxy));
        origins.insert(place, Arc::downgrade(&origin));
        origin
    }

    /// Takes bytes for a caller without a token. If none are left, it tells unused connections that hold memory to
    /// close, so that another try may succeed.
    pub(crate) fn reserve(
        &self,
        purse: RequestMemory,
        origin: &Arc<CallerAddress>,
        bytes: usize,
    ) -> bool {
        self.reserve_up_to(purse, origin, bytes, 1)
    }

    /// Like [`Admission::reserve`], but uses only `1 / part` of the pool and leaves the rest for others.
    pub(crate) fn reserve_up_to(
        &self,
        purse: RequestMemory,
        origin: &Arc<CallerAddress>,
        bytes: usize,
        part: usize,
    ) -> bool {
        let (pool, own) = self.purse(purse, origin);
        let taken = pool.reserve_up_to(own, origin.is_proxy, bytes, part);
        if taken == PoolReply::Yes {
            return true;
        }
        let origin_of_share = (taken == PoolReply::ShareIsUsed).then_some(origin);
        // Idle connections hold no memory of requests. For a small amount, no connection is closed.
        let is_of_connections = matches!(purse, RequestMemory::Connections);
        if !is_of_connections || bytes > limits::CONNECTION_USED_BYTES {
            self.make_room(origin_of_share, |unused| {
                unused.is_stalled || (is_of_connections && unused.holds)
            });
        }
        false
    }

    /// Returns bytes to the pool.
    pub(crate) fn release(&self, purse: RequestMemory, origin: &CallerAddress, bytes: usize) {
        if bytes > 0 {
            let (pool, own) = self.purse(purse, origin);
            pool.release(own, bytes);
        }
    }

    /// A permit to compress an answer. Without a permit, the answer is sent uncompressed.
    pub(crate) fn compression(&self, is_anonymous: bool) -> Option<OwnedSemaphorePermit> {
        let places = if is_anonymous { &self.anonymous_compressions } else { &self.compressions };
        Arc::clone(places).try_acquire_owned().ok()
    }

    /// Waits for a permit to read without a token. Such reads are limited, because an answer may be large and its
    /// memory is counted only after it was made.
    ///
    /// Errors: `Unavailable` if too many callers wait.
    pub async fn anonymous_read(&self) -> Result<[SemaphorePermit<'_>; 2]> {
        let Ok(waiting) = self.anonymous_reads_waiting.try_acquire() else {
            let message = "too many callers without a token read at this moment; try again soon";
            let mut problem = Problem::new(ProblemKind::Unavailable, message);
            problem.retry_after_s = Some(1);
            return Err(problem);
        };
        let turn = self.anonymous_reads.acquire().await.map_err(Problem::internal)?;
        Ok([waiting, turn])
    }

    /// The permit for the only large answer without a token; `None` if another answer has it.
    pub(crate) fn large_answer(&self) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.large_answers).try_acquire_owned().ok();
        if place.is_none() {
            self.make_room(None, |unused| unused.is_stalled);
        }
        place
    }

    /// A permit for a connection that becomes a web socket; `None` if there are too many.
    pub(crate) fn upgrade(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.upgrades).try_acquire_owned().ok()
    }

    /// Closes unused connections after the system refused to open another file descriptor.
    pub(crate) fn relieve(&self) {
        self.make_room(None, |_| true);
    }

    fn purse<'a>(
        &'a self,
        purse: RequestMemory,
        origin: &'a CallerAddress,
    ) -> (&'a Pool, &'a AtomicUsize) {
        match purse {
            RequestMemory::Connections => (&self.connection_bytes, &origin.connection_bytes),
            RequestMemory::Requests => (&self.request_bytes, &origin.request_bytes),
        }
    }

    /// Tells some unused connections to close, in order of rank and then of the time that they have been unused.
    /// Returns false if it found no connection.
    fn make_room(
        &self,
        origin_of_share: Option<&Arc<CallerAddress>>,
        helps: impl Fn(&IdleConnection) -> bool,
    ) -> bool {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX) + 1;
        let searched_in_vain =
            origin_of_share.map_or(&self.searched_in_vain, |origin| &origin.searched_in_vain);
        let in_vain = searched_in_vain.load(Relaxed);
        if in_vain > 0 && now < in_vain + limits::ROOM_SEARCH_EVERY_MS {
            return false;
        }
        let all: Vec<_> = lock(&self.seated).values().filter_map(Weak::upgrade).collect();
        let mut unused: Vec<_> = all
            .iter()
            .filter(|activity| {
                origin_of_share.is_none_or(|origin| Arc::ptr_eq(origin, &activity.origin))
            })
            .filter_map(|activity| {
                let unused = activity.unused().filter(&helps)?;
                Some((unused.rank, unused.since, activity))
            })
            .collect();
        if unused.is_empty() {
            searched_in_vain.store(now, Relaxed);
            return false;
        }
        let some = unused.len().div_ceil(64);
        unused.select_nth_unstable_by_key(some - 1, |(rank, since, _)| (*rank, *since));
        for (_, _, activity) in &unused[..some] {
            activity.evict();
        }
        true
    }
}

/// A connection that is not in use at the moment.
pub(crate) struct IdleConnection {
    /// Connections with a lower rank close first.
    pub(crate) rank: u8,
    pub(crate) since: Instant,
    /// The caller does not read an answer.
    pub(crate) is_stalled: bool,
    /// The connection holds more bytes of the pool than usual.
    pub(crate) holds: bool,
}

impl Pool {
    fn new(most: usize, share: usize) -> Self {
        Self { most, share: share.min(most), used: AtomicUsize::new(0) }
    }

    fn reserve(&self, own: &AtomicUsize, has_no_share: bool, units: usize) -> PoolReply {
        self.reserve_up_to(own, has_no_share, units, 1)
    }

    fn reserve_up_to(
        &self,
        own: &AtomicUsize,
        has_no_share: bool,
        units: usize,
        part: usize,
    ) -> PoolReply {
        let share = if has_no_share { self.most } else { self.share };
        if !add(own, units, share / part) {
            return PoolReply::ShareIsUsed;
        }
        if !add(&self.used, units, self.most / part) {
            own.fetch_sub(units, Relaxed);
            return PoolReply::PoolIsUsed;
        }
        PoolReply::Yes
    }

    fn release(&self, own: &AtomicUsize, units: usize) {
        own.fetch_sub(units, Relaxed);
        self.used.fetch_sub(units, Relaxed);
    }
}

/// Adds to a counter unless that would exceed the limit.
pub(crate) fn add(counter: &AtomicUsize, units: usize, most: usize) -> bool {
    let fits = counter.fetch_add(units, Relaxed).saturating_add(units) <= most;
    if !fits {
        counter.fetch_sub(units, Relaxed);
    }
    fits
}

impl CallerAddress {
    fn new(is_proxy: bool) -> Self {
        let [connections, connection_bytes, request_bytes] = [(); 3].map(|()| AtomicUsize::new(0));
        let searched_in_vain = AtomicU64::new(0);
        Self { is_proxy, connections, connection_bytes, request_bytes, searched_in_vain }
    }
}

/// The address, or the network of one IPv6 subscriber (RFC 6177).
fn place(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

/// The number of file descriptors that connections may use.
pub(crate) fn connections_of(descriptors: usize) -> usize {
    let (least, most) =
        (limits::DESCRIPTORS_RESERVED_MIN_COUNT, limits::DESCRIPTORS_RESERVED_MAX_COUNT);
    let reserved = (descriptors / 4).clamp(least, most);
    descriptors.saturating_sub(reserved).max(descriptors / 4).max(1)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(connections: usize, per_address: usize) -> Arc<Admission> {
        let mut config = Config::defaults();
        config.server.connections = connections;
        config.server.connections_per_address = per_address;
        config.server.trusted_proxies = serde_json::from_str(r#"["10.0.0.0/8"]"#).unwrap();
        Admission::new(&config, 20_000)
    }

    async fn seats(admission: &Arc<Admission>, addresses: &[&str]) -> Vec<Arc<ConnectionState>> {
        let mut seats = Vec::new();
        for address in addresses {
            if let Some(seat) = admission.seat(address.parse().unwrap()).await {
                // A running request makes the connection used.
                std::mem::forget(seat.begin_request());
                seats.push(seat);
            }
        }
        seats
    }

    #[tokio::test]
    async fn a_client_address_gets_its_share_and_a_proxy_more() {
        let all = admission(10, 2);
        assert_eq!(seats(&all, &["192.0.2.1"; 3]).await.len(), 2);
        assert_eq!(seats(&all, &["10.0.0.1"; 3]).await.len(), 3);
        let network = ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:3"];
        assert_eq!(seats(&all, &network).await.len(), 2, "a /64 network is one address");
        assert_eq!(seats(&all, &["2001:db8:0:1::1", "::ffff:192.0.2.1"]).await.len(), 1);
        assert_eq!(seats(&all, &["10.0.0.1"; 9]).await.len(), 2, "the server is full");
    }

    #[tokio::test]
    async fn a_seat_is_free_again_when_its_connection_is_gone() {
        let all = admission(1, 1);
        let seat = all.seat("192.0.2.1".parse().unwrap()).await.unwrap();
        all.leave(&seat);
        drop(seat);
        assert!(all.seat("192.0.2.2".parse().unwrap()).await.is_some());
        assert!(lock(&all.seated).len() <= 1);
    }

    #[test]
    fn a_pool_limits_each_address_and_all_together() {
        let all = admission(1, 1);
        let [one, two] = ["192.0.2.1", "192.0.2.2"].map(|at| all.origin(at.parse().unwrap()));
        let part = limits::ANONYMOUS_REQUESTS_MAX_BYTES / limits::ANONYMOUS_PARTS_COUNT;
        assert!(all.reserve(RequestMemory::Requests, &one, part));
        assert!(!all.reserve(RequestMemory::Requests, &one, 1));
        assert!(all.reserve(RequestMemory::Requests, &two, part));
        all.release(RequestMemory::Requests, &one, part);
        assert!(all.reserve(RequestMemory::Requests, &one, 1));
        let proxy = all.origin("10.0.0.1".parse().unwrap());
        assert!(!all.reserve(
            RequestMemory::Requests,
            &proxy,
            limits::ANONYMOUS_REQUESTS_MAX_BYTES
        ));
        assert!(all.reserve(RequestMemory::Requests, &proxy, 3 * part - 1));
        assert!(!all.reserve(RequestMemory::Requests, &proxy, 1));
    }

    #[test]
    fn a_share_of_memory_is_reserved_for_connections_with_one_request() {
        let all = admission(1, 1);
        let one = all.origin("192.0.2.1".parse().unwrap());
        let part = limits::ANONYMOUS_REQUESTS_MAX_BYTES / limits::ANONYMOUS_PARTS_COUNT;
        assert!(all.reserve_up_to(RequestMemory::Requests, &one, part / 2, 2));
        assert!(!all.reserve_up_to(RequestMemory::Requests, &one, 1, 2));
        assert!(all.reserve(RequestMemory::Requests, &one, part / 2));
    }

    #[test]
    fn the_limit_of_connections_leaves_descriptors_for_files() {
        assert_eq!(connections_of(300), 225);
        assert_eq!(connections_of(20_000), 17_952);
        assert_eq!(connections_of(64), 16);
    }
}
