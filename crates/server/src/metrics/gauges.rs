//! The state of the server, read when Prometheus asks. A figure that cannot be read is left out.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_events::facts;
use lyceum_events::repository::refused_counts;
use lyceum_hosting::backup::runs::{self, BackupRun};
use lyceum_hosting::nodes::report::{self, NodeState, NodeStatus};
use lyceum_http::tls::Tls;
use lyceum_store::jobs::{self, JobBacklog};
use lyceum_store::{StoreGauges, Tx, WorkGauges, database_bytes, outbox};
use lyceum_webhooks::log::{self, DeliveryBacklog};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

use super::MetricSources;
use crate::limits;
use crate::telemetry::SpanCounts;

/// Gauges of one moment.
#[derive(Default)]
struct Gauges(Registry);

/// The values that the database has; all servers that share it have the same.
struct StoredState {
    bytes: i64,
    jobs: Vec<JobBacklog>,
    oldest_change: Option<Timestamp>,
    deliveries: DeliveryBacklog,
    rejected: i64,
    /// `None` if all facts are summed.
    unsummed: i64,
    last_backup: Option<BackupRun>,
    last_check: Option<BackupRun>,
    nodes: Vec<NodeStatus>,
}

/// Reads all gauges.
pub(super) async fn read(sources: &MetricSources) -> Registry {
    let app = &sources.app;
    let now = app.clock.now();
    let mut gauges = Gauges::default();
    gauges.process(sources);
    gauges.store(&app.db.gauges());
    let most = Duration::from_millis(limits::METRICS_READ_MAX_MS);
    let reading = app.db.scan(most, stored);
    // A connection that hangs is given up only later than Prometheus waits for an answer.
    let stored = tokio::time::timeout(most, reading).await.unwrap_or_else(|_| {
        Err(Problem::new(ProblemKind::Unavailable, "the database does not answer in time"))
    });
    let help = "1 if the database answered the questions of this scrape in time, else 0";
    gauges.one("lyceum_store_up", help, stored.is_ok());
    match stored {
        Ok(stored) => {
            gauges.stored(&stored, now);
            gauges.unsummed(stored.unsummed, app.summed_until.age());
        }
        Err(problem) => tracing::warn!(%problem, "metrics of the database are missing"),
    }
    gauges.0
}

fn stored(tx: &mut Tx<'_>) -> Result<StoredState> {
    Ok(StoredState {
        bytes: database_bytes(tx)?,
        jobs: jobs::backlog(tx)?,
        oldest_change: outbox::oldest(tx)?,
        deliveries: log::backlog(tx)?,
        rejected: refused_counts(tx)?.0,
        unsummed: facts::count_unsummed(tx)?,
        last_backup: runs::last_complete(tx)?,
        last_check: runs::last_checked(tx)?,
        nodes: report::list(tx)?,
    })
}

impl Gauges {
    fn process(&mut self, MetricSources { app, tls, telemetry }: &MetricSources) {
        if let Some(bytes) = resident_bytes() {
            let help = "Resident memory of the process, mapped files included";
            self.one("process_resident_memory_bytes", help, bytes);
        }
        let (open, most) = app.admission.connections();
        self.one("lyceum_connections", "Open connections of clients", open);
        self.one("lyceum_connections_max", "The most connections that the server accepts", most);
        let help = "Envelopes of events that wait to be stored";
        self.one("lyceum_envelopes_waiting", help, app.intake.waiting());
        let (running, started) = app.hosted.backends();
        self.one(
            "lyceum_backends_running",
            "Backends of projects that run on this server",
            running,
        );
        let help = "Processes that were started for backends, also after an idle time";
        self.0.register("lyceum_backend_starts", help, ConstCounter::new(started));
        if let Some(telemetry) = telemetry {
            let SpanCounts { sent, dropped } = telemetry.spans();
            let mut count = |name: &str, help: &str, spans: &AtomicU64| {
                self.0.register(name, help, ConstCounter::new(spans.load(Relaxed)));
            };
            count("lyceum_spans_sent", "Spans of traces that the collector accepted", sent);
            let help = "Spans of traces that were dropped because too many waited or the collector did not accept them";
            count("lyceum_spans_dropped", help, dropped);
        }
        if let Ok(disk) = rustix::fs::statvfs(&app.config.store.data) {
            let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
            let help = "Free bytes of the disk with the data folder";
            self.one("lyceum_disk_free_bytes", help, bytes(disk.f_bavail));
            let help = "Bytes of the disk with the data folder";
            self.one("lyceum_disk_size_bytes", help, bytes(disk.f_blocks));
        }
        let replicas = app.cluster.replication.as_ref().map(|replication| replication.status());
        let replicas = replicas.unwrap_or_default();
        let help = "SQLite files that this server replicates";
        self.one("lyceum_replicated_files", help, replicas.files);
        let help = "Age of the oldest transaction that is not in the store of replicas yet";
        self.one("lyceum_replica_lag_seconds", help, replicas.lag_ms / 1000);
        let help = "Replicated files whose last try failed";
        self.one("lyceum_replica_failures", help, replicas.failures.len());
        if let Some(expires_s) = tls.as_deref().and_then(Tls::expires_s) {
            let help = "When the TLS certificate in use expires, in seconds since 1970";
            self.one("lyceum_certificate_expiry_timestamp_seconds", help, expires_s);
        }
    }

    fn store(&mut self, store: &StoreGauges) {
        let mut work = |name, help, value: fn(&WorkGauges) -> usize| {
            let sample = |pool, work| ([("pool", pool)], value(work));
            self.by(name, help, [sample("short", &store.short), sample("long", &store.long)]);
        };
        work(
            "lyceum_store_requests_waiting",
            "Requests that wait for a thread of the store: short ones (on SQLite writes only), and scans and exports",
            |work| work.waiting,
        );
        let help = "Open connections to the database";
        work("lyceum_store_connections", help, |work| work.connections);
        let help = "The most connections to the database";
        work("lyceum_store_connections_max", help, |work| work.connections_max);
        if let Some(replica) = store.read_replica {
            let help = "1 if the read replica serves reports, 0 if the primary has to; missing without a replica";
            self.one("lyceum_read_replica_used", help, replica.is_used);
            let help = "By how much the read replica is behind the primary at most";
            self.one("lyceum_read_replica_delay_seconds", help, replica.delay_ms.div_ceil(1000));
        }
        if let Some(bytes) = store.log_bytes {
            let help = "Bytes of the write-ahead log of SQLite";
            self.one("lyceum_store_log_bytes", help, bytes);
        }
    }

    fn stored(&mut self, stored: &StoredState, now: Timestamp) {
        let age_s = |since: Timestamp| (now.seconds() - since.seconds()).max(0);
        let help = "Bytes of the database, without the write-ahead log of SQLite";
        self.one("lyceum_store_database_bytes", help, stored.bytes);
        let jobs = stored.jobs.iter();
        let counts =
            jobs.clone().map(|job| ([("kind", &*job.kind), ("state", &*job.state)], job.count));
        let help =
            "Jobs that wait or run (waiting), and jobs that failed for good (failed), by kind";
        self.by("lyceum_jobs", help, counts);
        let waiting = jobs.filter(|job| job.state == "waiting");
        let overdue = waiting.map(|job| ([("kind", &*job.kind)], job.overdue_s));
        let help = "Longest time for which a due job of this kind has waited for a server";
        self.by("lyceum_job_overdue_seconds", help, overdue);
        let help = "Age of the oldest change that is not turned into deliveries of webhooks yet";
        let age = stored.oldest_change.map_or(0, age_s);
        self.one("lyceum_outbox_age_seconds", help, age);
        let DeliveryBacklog { waiting, oldest_waiting, dead } = stored.deliveries;
        let counts = [([("state", "waiting")], waiting), ([("state", "dead")], dead)];
        let help = "Deliveries of webhooks that wait, and dead ones";
        self.by("lyceum_webhook_deliveries", help, counts);
        let help = "Age of the oldest delivery of a webhook that waits";
        let age = oldest_waiting.map_or(0, age_s);
        self.one("lyceum_webhook_delivery_age_seconds", help, age);
        let count = |state: NodeState| {
            let nodes = stored.nodes.iter().filter(|node| node.state == state).count();
            ([("state", state.name())], nodes)
        };
        let help = "Servers that share the database: serving, stopping, stopped, or silent because they do not report";
        self.by("lyceum_nodes", help, NodeState::ALL.map(count));
        let help = "Rejected envelopes that were not replayed";
        self.one("lyceum_rejected_envelopes", help, stored.rejected);
        if let Some(backup) = &stored.last_backup {
            let help =
                "When the last backup was made, in seconds since 1970; missing if there was none";
            self.one("lyceum_last_backup_timestamp_seconds", help, backup.began.seconds());
            let help = "Bytes of the file of the last backup";
            self.one("lyceum_last_backup_bytes", help, backup.bytes);
        }
        if let Some(backup) = &stored.last_check {
            let help = "1 if the last backup that was tried out could be restored, else 0; missing if none was";
            self.one("lyceum_last_backup_restorable", help, backup.check_error.is_none());
        }
    }

    /// `age` is the time since the server last saw that all facts were summed.
    fn unsummed(&mut self, count: i64, age: Duration) {
        let help = "Facts of events that are not added to 'event_sums' yet";
        self.one("lyceum_facts_unsummed", help, count);
        let help = "Age of the oldest fact that is not added to 'event_sums' yet, at most; not before the start of the server";
        let age = if count > 0 { age.as_secs() } else { 0 };
        self.one("lyceum_facts_unsummed_age_seconds", help, age);
    }

    fn one(&mut self, name: &str, help: &str, value: impl TryInto<i64>) {
        self.0.register(name, help, ConstGauge::new(to_i64(value)));
    }

    /// A gauge with labels.
    fn by<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = ([(&'static str, &'l str); N], impl TryInto<i64>)>,
    ) {
        let family = Family::<Vec<(&'static str, String)>, Gauge>::default();
        for (labels, value) in values {
            let labels = labels.map(|(name, value)| (name, value.to_owned())).to_vec();
            family.get_or_create(&labels).set(to_i64(value));
        }
        self.0.register(name, help, family);
    }
}

fn to_i64(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// `VmRSS` of this process; `None` without `/proc`.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
