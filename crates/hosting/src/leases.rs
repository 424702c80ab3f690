//! The lease by which a node holds its projects. A node that shares a database renews it every few seconds. After it has
//! ended, another node may take the projects, so the node acknowledges nothing any more until it has renewed the lease
//! and has read again which projects it holds.
//!
//! The node measures the lease from before it sent the renewal, by a clock that goes on while the machine is suspended.
//! So it notices the end before other nodes do, even if the process was paused.
//!
//! Other nodes measure with their own clocks, too: they take a project if they have seen its node's lease unchanged for as
//! long as it lasts. So a step of the database's clock, or a failover to a database with another time, ends no lease.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_store::{SqlDialect, Tx};

use crate::limits;
use crate::nodes::{self, KnownNode, Node};
use crate::repository;
use crate::repository::leases::HeldToken;

/// The lease of this process's node, and the projects that the node holds by it.
#[derive(Debug)]
pub struct NodeLease {
    /// `None` if the node has the database alone, and needs no lease.
    held: Option<Mutex<HeldLease>>,
    /// The leases of other nodes by node.
    seen: Mutex<HashMap<String, SeenLease>>,
}

/// The lease of another node, as this node has seen it.
#[derive(Clone, Copy, Debug)]
struct SeenLease {
    /// Its end in the database. A renewal changes it.
    until_ms: i64,
    /// When this node saw this end first, as the time since the machine started. The renewal was sent before.
    since: Duration,
}

#[derive(Debug, Default)]
struct HeldLease {
    /// The end, as the time since the machine started.
    until: Duration,
    /// How often projects came to the node or left it.
    moves: i64,
    /// The tokens of the projects by slug.
    tokens: HashMap<String, HeldToken>,
}

/// A project that the node held when it began to handle a request.
#[derive(Clone, Debug)]
pub struct HeldProject {
    slug: String,
    token: i64,
}

impl HeldProject {
    pub(crate) fn new(slug: &str, token: i64) -> Self {
        Self { slug: slug.to_owned(), token }
    }

    /// The number under which the node replicates the project's files.
    pub fn epoch(&self) -> u64 {
        self.token.unsigned_abs()
    }
}

/// The database's answer to a renewal.
#[derive(Debug)]
pub struct LeaseRenewal {
    /// When the renewal was sent, as the time since the machine started.
    sent: Duration,
    moves: i64,
    /// `None` if the projects were not read, because none has moved.
    tokens: Option<HashMap<String, HeldToken>>,
}

impl LeaseRenewal {
    /// Whether projects may have come to the node or left it.
    pub fn has_moves(&self) -> bool {
        self.tokens.is_some()
    }
}

/// The node that handles the requests for a project.
#[derive(Debug)]
pub enum ProjectRoute {
    /// This node holds the project.
    Here,
    /// No node holds the project, so that any node may handle them.
    Nowhere,
    /// Another node.
    At(KnownNode),
    /// Another node held the project until its lease ended.
    Left(KnownNode),
}

/// Where a request is handled.
#[derive(Debug)]
pub enum RequestPlace {
    /// Here; with the project that this node must still hold when it answers.
    Here(Option<HeldProject>),
    /// At another node, for the project with this slug or for an upload.
    At(KnownNode, Option<String>),
}

impl NodeLease {
    /// The lease of a node. On SQLite, it never ends, because a node has the database alone.
    pub fn new(dialect: SqlDialect) -> Self {
        let is_shared = dialect == SqlDialect::Postgres;
        Self { held: is_shared.then(Mutex::default), seen: Mutex::default() }
    }

    /// Whether the node shares the database with others.
    pub fn is_needed(&self) -> bool {
        self.held.is_some()
    }

    /// The project, if the node holds it now and may acknowledge writes.
    pub fn project(&self, slug: &str) -> Option<HeldProject> {
        let held = self.valid()?;
        let held = held.tokens.get(slug).filter(|held| held.is_replicated)?;
        Some(HeldProject { slug: slug.to_owned(), token: held.token })
    }

    /// The number under which the project's files are replicated: its token, also after the lease has ended, so that a later
    /// holder has a larger one; 0 for a project that is not deployed yet. `None` if the node needs no lease.
    pub fn epoch(&self, slug: &str) -> Option<u64> {
        let held = lock(self.held.as_ref()?);
        Some(held.tokens.get(slug).map_or(0, |held| held.token.unsigned_abs()))
    }

    /// Checks that no other node has served the project since then. Without a project, there is nothing to check.
    ///
    /// Errors: `Unavailable`.
    pub fn check(&self, project: Option<&HeldProject>) -> Result<()> {
        let Some(project) = project else { return Ok(()) };
        let now = self.project(&project.slug);
        match now.is_some_and(|now| now.token == project.token) {
            true => Ok(()),
            false => Err(moved(&project.slug)),
        }
    }

    /// The number of moves that a renewal is compared with; `None` if the lease has ended, so that the projects must be
    /// read again.
    pub fn known_moves(&self) -> Option<i64> {
        Some(self.valid()?.moves)
    }

    /// Takes over what a renewal found. Returns the projects that the node has lost; `None` if the lease ended meanwhile,
    /// so that the renewal must be repeated.
    pub fn renewed(&self, renewal: LeaseRenewal) -> Option<Vec<String>> {
        let mut held = lock(self.held.as_ref()?);
        let LeaseRenewal { sent, moves, tokens } = renewal;
        let Some(tokens) = tokens else {
            if held.until <= since_start() || held.moves != moves {
                return None;
            }
            held.until = sent + lasting();
            return Some(Vec::new());
        };
        let token_of = |slug: &String| tokens.get(slug).map(|held| held.token);
        let lost = held.tokens.iter().filter(|(slug, held)| token_of(slug) != Some(held.token));
        let lost = lost.map(|(slug, _)| slug.clone()).collect();
        *held = HeldLease { until: sent + lasting(), moves, tokens };
        Some(lost)
    }

    /// Notes the leases of the other nodes, which were read a moment ago.
    pub fn record_others(&self, leases: Vec<(String, i64)>) {
        let since = since_start();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let former = std::mem::take(&mut *seen);
        *seen = leases
            .into_iter()
            .map(|(node, until_ms)| {
                let known = former.get(&node).copied().filter(|known| known.until_ms == until_ms);
                (node, known.unwrap_or(SeenLease { until_ms, since }))
            })
            .collect();
    }

    /// Whether another node no longer holds its projects: it has ended its lease, or this node has seen it unchanged for
    /// as long as it lasts.
    pub(crate) fn has_ended(&self, node: &str, until_ms: i64) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.get(node).filter(|seen| seen.until_ms == until_ms);
        let lasts = Duration::from_millis(limits::HOME_LEASE_MS);
        until_ms == 0 || seen.is_some_and(|seen| seen.since + lasts <= since_start())
    }

    /// Whether the node has taken the project and its replica has no state of this node yet.
    pub fn awaits_replica(&self, slug: &str) -> bool {
        let awaits = |held: &Mutex<HeldLease>| {
            lock(held).tokens.get(slug).is_some_and(|held| !held.is_replicated)
        };
        self.held.as_ref().is_some_and(awaits)
    }

    /// Notes that the database has [`set_replicated`].
    pub fn end_wait(&self, project: &HeldProject) {
        if let Some(held) = &self.held
            && let Some(known) = lock(held).tokens.get_mut(&project.slug)
            && known.token == project.token
        {
            known.is_replicated = true;
        }
    }

    /// The slugs of the projects that the node holds.
    pub fn slugs(&self) -> Vec<String> {
        self.valid().map(|held| held.tokens.keys().cloned().collect()).unwrap_or_default()
    }

    /// Ends the lease in this process, before it is ended in the database.
    pub fn expire(&self) {
        if let Some(held) = &self.held {
            lock(held).until = Duration::ZERO;
        }
    }

    /// The lease, if it has not ended.
    fn valid(&self) -> Option<MutexGuard<'_, HeldLease>> {
        let held = lock(self.held.as_ref()?);
        (since_start() < held.until).then_some(held)
    }
}

fn lock(held: &Mutex<HeldLease>) -> MutexGuard<'_, HeldLease> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lasting() -> Duration {
    Duration::from_millis(limits::HOME_LEASE_MS - limits::HOME_LEASE_SPARE_MS)
}

/// The time since the machine started, including the time in which it was suspended.
#[cfg(target_os = "linux")]
pub fn since_start() -> Duration {
    let mut time = uapi::c::timespec { tv_sec: 0, tv_nsec: 0 };
    uapi::clock_gettime(uapi::c::CLOCK_BOOTTIME, &mut time).expect("Linux has this clock");
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanoseconds.unwrap_or_default())
}

/// The time since the process first asked. The clock of other systems goes on during sleep.
#[cfg(not(target_os = "linux"))]
pub fn since_start() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed() + Duration::from_secs(1)
}

/// Renews the node's lease in the database. Reads the projects again unless their moves are the known ones. `sent` is
/// [`since_start`] before the transaction.
///
/// Errors: `Misdirected` if a server was started on a copy of the node's folder.
pub fn renew(
    tx: &mut Tx<'_>,
    node: &Node,
    sent: Duration,
    known_moves: Option<i64>,
) -> Result<LeaseRenewal> {
    if nodes::is_passed(tx, node)? {
        let message =
            message!("the data folder of the node '{node}' was copied", node = node.name());
        return Err(Problem::new(ProblemKind::Misdirected, message));
    }
    let lasts = i64::try_from(limits::HOME_LEASE_MS).map_err(Problem::internal)?;
    let moves = repository::leases::renew(tx, node.id(), lasts)?;
    // The same transaction must read the projects: it conflicts with one that takes a project because the lease ended.
    let tokens = match known_moves == Some(moves) {
        true => None,
        false => Some(repository::leases::tokens(tx, node.id())?),
    };
    Ok(LeaseRenewal { sent, moves, tokens })
}

/// Records that the store of replicas has a state of all files of a project by this node. `false` if another node holds the
/// project.
pub fn set_replicated(tx: &mut Tx<'_>, node: &Node, project: &HeldProject) -> Result<bool> {
    repository::homes::set_replicated(tx, &project.slug, (node.id(), project.token))
}

/// Ends the node's lease in the database, so that other nodes take its projects at once.
pub fn release(tx: &mut Tx<'_>, node: &Node) -> Result<()> {
    // The row belongs to the server that was started on a copy of the folder later.
    if nodes::is_passed(tx, node)? {
        return Ok(());
    }
    repository::leases::end(tx, node.id())
}

/// The ends of the leases of all other nodes, for [`NodeLease::record_others`].
pub fn of_others(tx: &mut Tx<'_>, node: &Node) -> Result<Vec<(String, i64)>> {
    repository::leases::of_others(tx, node.id())
}

/// The node that handles the requests for a project.
pub fn route(tx: &mut Tx<'_>, node: &Node, lease: &NodeLease, slug: &str) -> Result<ProjectRoute> {
    let known = repository::homes::find(tx, slug)?.filter(|known| !known.needs_no_home(node));
    Ok(match known.and_then(|known| known.home) {
        None => ProjectRoute::Nowhere,
        Some(home) if home.node.id == node.id() => ProjectRoute::Here,
        Some(home) if lease.has_ended(&home.node.id, home.lease_until_ms) => {
            ProjectRoute::Left(home.node)
        }
        Some(home) => ProjectRoute::At(home.node),
    })
}

/// The problem of a request for a project that moves to another node at this moment.
pub fn moved(slug: &str) -> Problem {
    let message = message!(
        "the project '{slug}' moves to another server at this moment; a write of this request may be lost; try again"
    );
    later(message)
}

/// The problem of a request for a project that was taken and is not replicated yet.
pub fn not_replicated_yet(slug: &str) -> Problem {
    later(message!(
        "this server has taken the project '{slug}' and serves it once the store of replicas has a first state of it; \
         try again"
    ))
}

/// The problem of a request for a project whose node does not answer.
pub fn unreachable(slug: &str, holder: &KnownNode) -> Problem {
    later(message!(
        "the server {describe_node} has the files of the project '{slug}' and does not run; start it, or move the files to another \
         server and run `lyceum admin project adopt {slug}` there",
        describe_node = crate::homes::describe_node(holder)
    ))
}

fn later(message: Message) -> Problem {
    let mut problem = Problem::new(ProblemKind::Unavailable, message);
    problem.retry_after_s = Some(1);
    problem
}
