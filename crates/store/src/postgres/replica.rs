//! A read replica: a standby of the database that serves reads which may lack the changes of the last seconds.
//!
//! A thread measures its delay. It notes up to where the primary has written its log, and when; once the replica has
//! replayed the log up to there, it has everything that was committed before that moment. The time of the last replayed
//! transaction would not do: it is old if nothing is written, and it seems recent if the connection to the primary is cut.
//!
//! A standby may follow another standby. If that one is promoted beside the primary, the log goes on in a later timeline,
//! whose positions say nothing about the primary's log. So a standby with a later timeline serves nothing, and neither does
//! one whose log is longer than the primary's. An account without the right to see the timeline knows it from the standby's
//! next restart point on.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::{Problem, ProblemKind, Result};

use super::pool::ConnectionPool;
use super::{PostgresAddress, PostgresSession};
use crate::gauges::ReadReplicaGauges;
use crate::limits::{
    POSTGRES_SCAN_CONNECTIONS, READ_REPLICA_ANSWER_MAX_MS, READ_REPLICA_DELAY_MAX_MS,
    READ_REPLICA_LOOK_MS, READ_REPLICA_POSITIONS_MAX_COUNT,
};
use crate::signals::Signals;
use crate::{StoreOptions, problem};

/// A query for the database that a connection leads to, whether it is a standby, up to where its log is
/// written or replayed, the timeline of the log, the server's address, and the address from which a
/// standby receives the log: NULL if from none, empty if the account may not see it.
const POSITION: &str = "SELECT pg_is_in_recovery(), \
    (SELECT system_identifier FROM pg_control_system()), current_database()::text, \
    CAST(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END \
    - '0/0'::pg_lsn AS BIGINT), \
    CASE WHEN pg_is_in_recovery() \
    THEN GREATEST((SELECT timeline_id FROM pg_control_checkpoint()), (SELECT received_tli FROM pg_stat_wal_receiver)) \
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END, \
    host(inet_server_addr()) || ':' || inet_server_port(), \
    (SELECT COALESCE(sender_host || ':' || sender_port, '') FROM pg_stat_wal_receiver)";

/// A standby that serves reads while it is recent enough.
pub(crate) struct ReadReplica {
    pub(crate) pool: ConnectionPool,
    state: Arc<Mutex<ReplicaState>>,
}

/// The findings of the last look.
struct ReplicaState {
    /// When the first look began.
    began: Instant,
    /// The replica has everything that was committed before.
    complete_until: Option<Instant>,
    /// Why the replica serves nothing, as it was logged last.
    obstacle: Option<String>,
    /// From where the replica receives its log, as it was logged last.
    source: Option<LogSource>,
}

/// The server from which a standby receives the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// The primary.
    Primary,
    /// The server with this host and port, which is not the address of the primary: perhaps another standby.
    Other(String),
    /// It is not connected to a server.
    Nowhere,
    /// The account of the database may not see it.
    Hidden,
}

impl fmt::Display for LogSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primary => f.write_str("it follows the primary"),
            Self::Other(address) => write!(
                f,
                "it follows {address}, which is not the address in 'store.database'; if that is another standby, reports \
                 need both"
            ),
            Self::Nowhere => f.write_str("it is not connected to a server whose log it could follow"),
            Self::Hidden => f.write_str(
                "the account may not see which server it follows; `GRANT pg_read_all_stats` lets it",
            ),
        }
    }
}

impl ReplicaState {
    /// By how much the replica is behind at most, or at least if nothing is known yet.
    fn delay(&self) -> Duration {
        self.complete_until.unwrap_or(self.began).elapsed()
    }

    fn is_usable(&self) -> bool {
        self.obstacle.is_none() && self.complete_until.is_some() && self.delay() <= delay_max()
    }
}

fn delay_max() -> Duration {
    Duration::from_millis(READ_REPLICA_DELAY_MAX_MS)
}

impl ReadReplica {
    /// Begins to measure the delay; until the first measurement the replica serves nothing.
    pub(crate) fn start(
        (primary, replica): (PostgresAddress, PostgresAddress),
        options: StoreOptions,
        signals: &Arc<Signals>,
    ) -> Result<Self> {
        let pool = ConnectionPool::new(&replica, options, POSTGRES_SCAN_CONNECTIONS, signals);
        let state = ReplicaState {
            began: Instant::now(),
            complete_until: None,
            obstacle: None,
            source: None,
        };
        let state = Arc::new(Mutex::new(state));
        let watched = Arc::downgrade(&state);
        let meter = DelayMeter::new(primary, replica, options);
        let thread = thread::Builder::new().name("store-replica".to_owned());
        thread.spawn(move || watch(meter, &watched)).map_err(Problem::internal)?;
        Ok(Self { pool, state })
    }

    pub(crate) fn is_usable(&self) -> bool {
        lock(&self.state).is_usable()
    }

    pub(crate) fn gauges(&self) -> ReadReplicaGauges {
        let state = lock(&self.state);
        ReadReplicaGauges {
            delay_ms: u64::try_from(state.delay().as_millis()).unwrap_or(u64::MAX),
            is_used: state.is_usable(),
        }
    }
}

fn lock(state: &Mutex<ReplicaState>) -> MutexGuard<'_, ReplicaState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks again and again, until nobody uses the replica any more.
fn watch(mut meter: DelayMeter, watched: &Weak<Mutex<ReplicaState>>) {
    while let Some(state) = watched.upgrade() {
        let found = meter.measure();
        let mut state = lock(&state);
        if let Ok(look) = &found {
            state.complete_until = look.complete_until.or(state.complete_until);
            if state.source.as_ref() != Some(&look.source) {
                let source = &look.source;
                tracing::info!("the read replica answers; {source}");
                state.source = Some(source.clone());
            }
        }
        let obstacle = match found {
            Err(problem) => Some(problem.to_string()),
            Ok(_) if state.delay() <= delay_max() => None,
            Ok(_) => Some(format!("it is more than {} s behind", delay_max().as_secs())),
        };
        if obstacle != state.obstacle {
            match &obstacle {
                Some(cause) => tracing::warn!(cause, "the read replica serves no reports"),
                None => tracing::info!("the read replica serves reports again"),
            }
        }
        state.obstacle = obstacle;
        drop(state);
        thread::sleep(Duration::from_millis(READ_REPLICA_LOOK_MS));
    }
}

/// The findings of a look at both servers.
struct ReplicaLook {
    /// The last moment before which everything was committed that the replica has, if that became known now.
    complete_until: Option<Instant>,
    source: LogSource,
}

/// Compares how far the logs of primary and replica are.
struct DelayMeter {
    primary: LogReader,
    replica: LogReader,
    /// Positions of the primary that the replica had not reached yet, with the time before they were read.
    ahead: VecDeque<(Instant, i64)>,
}

impl DelayMeter {
    fn new(primary: PostgresAddress, replica: PostgresAddress, options: StoreOptions) -> Self {
        let reader = |address| LogReader { address, options, session: None };
        Self { primary: reader(primary), replica: reader(replica), ahead: VecDeque::new() }
    }

    /// Looks at both. Errors: `Unavailable` if one of them does not answer, `Invalid` if the replica is not a standby of the
    /// database.
    fn measure(&mut self) -> Result<ReplicaLook> {
        let begun = Instant::now();
        let primary = self.primary.read()?;
        self.ahead.push_back((begun, primary.bytes));
        if self.ahead.len() > READ_REPLICA_POSITIONS_MAX_COUNT {
            self.ahead.pop_front();
        }
        let replica = self.replica.read()?;
        // The primary may have gone on before the replica was read.
        let is_ahead = replica.bytes > primary.bytes;
        let primary = if is_ahead { self.primary.read()? } else { primary };
        replica.check(&primary)?;
        let mut complete_until = None;
        while let Some((at, _)) = self.ahead.pop_front_if(|(_, bytes)| *bytes <= replica.bytes) {
            complete_until = Some(at);
        }
        let source = replica.source(&primary, &self.primary.address);
        Ok(ReplicaLook { complete_until, source })
    }
}

/// How far a log is, and whose log it is.
struct LogPosition {
    is_standby: bool,
    cluster: i64,
    database: String,
    /// Bytes since the beginning of the log.
    bytes: i64,
    timeline: i32,
    /// Host and port of the server, as it sees them; `None` on a Unix socket.
    address: Option<String>,
    /// Host and port of the server that sends the log; empty if they are hidden.
    sender: Option<String>,
}

impl LogPosition {
    /// Refuses the position of a server that is not a standby of the primary. That of the primary was read later, or is not
    /// before it.
    fn check(&self, primary: &Self) -> Result<()> {
        let wrong = |what: &'static str| Err(Problem::new(ProblemKind::Invalid, what));
        if (self.cluster, &self.database) != (primary.cluster, &primary.database) {
            return wrong("it is a replica of another database");
        }
        if !self.is_standby {
            return wrong("it is not a standby but takes writes itself");
        }
        if self.timeline > primary.timeline {
            return wrong("it follows a server that was promoted beside the primary");
        }
        if self.bytes > primary.bytes {
            return wrong("it has a part of the log that the primary did not write");
        }
        Ok(())
    }

    /// From where a standby receives its log. `names` has the addresses by which the primary is known.
    fn source(&self, primary: &Self, names: &PostgresAddress) -> LogSource {
        match &self.sender {
            None => LogSource::Nowhere,
            Some(hidden) if hidden.is_empty() => LogSource::Hidden,
            Some(_) if self.sender == primary.address => LogSource::Primary,
            Some(sender) if names.names().any(|name| name == *sender) => LogSource::Primary,
            Some(sender) => LogSource::Other(sender.clone()),
        }
    }
}

/// A connection that asks for the position of a log.
struct LogReader {
    address: PostgresAddress,
    options: StoreOptions,
    session: Option<PostgresSession>,
}

impl LogReader {
    fn read(&mut self) -> Result<LogPosition> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => PostgresSession::connect_for_requests(&self.address, self.options)?,
        };
        session.client.set_patience(Some(Duration::from_millis(READ_REPLICA_ANSWER_MAX_MS)));
        let row = session.wait(POSITION, async |client| client.query_one(POSITION, &[]).await)?;
        self.session = Some(session);
        Ok(LogPosition {
            is_standby: row.get(0),
            cluster: row.get(1),
            database: row.get(2),
            bytes: row.get(3),
            timeline: row.get(4),
            address: row.get(5),
            sender: row.get(6),
        })
    }
}

/// A read replica, as it was measured once.
#[derive(Clone, Debug)]
pub struct MeasuredReplica {
    /// How far it is behind its primary at most; `None` if it did not catch up in time.
    pub delay: Option<Duration>,
    /// From where it receives the log.
    pub source: LogSource,
}

/// Measures once how far a replica is behind its primary, waiting for `patience` until it has what was written before.
/// Blocks. Errors: `Unavailable` if one of them does not answer, `Invalid` if `replica` is not a standby of the database.
pub fn measure_delay(primary: &str, replica: &str, patience: Duration) -> Result<MeasuredReplica> {
    let (primary, replica) = (PostgresAddress::parse(primary)?, PostgresAddress::parse(replica)?);
    let mut meter = DelayMeter::new(primary, replica, StoreOptions::default());
    let begun = Instant::now();
    loop {
        let ReplicaLook { complete_until, source } = meter.measure()?;
        if complete_until.is_some() {
            return Ok(MeasuredReplica { delay: Some(begun.elapsed()), source });
        }
        if begun.elapsed() > patience {
            return Ok(MeasuredReplica { delay: None, source });
        }
        thread::sleep(Duration::from_millis(READ_REPLICA_LOOK_MS / 10));
    }
}

/// Whether the primary may have the answer that a replica could not give. A read that was too slow there is too slow
/// on both.
pub(crate) fn is_of_replica_alone(problem: &Problem) -> bool {
    problem.kind == ProblemKind::Unavailable && !problem::is_too_slow(problem)
}
