//! The faults of the cluster.

use std::thread::sleep;
use std::time::Duration;

use lyceum_core::random::RandomStream;
use lyceum_testkit::full_size;
use rustix::process::Signal;

use super::clock::Clock;
use super::cluster::{Cluster, NAMES};
use super::history::LossWindow;
use super::traffic::Traffic;

/// How long a fault lasts: longer than a lease.
const AWAY: Duration = Duration::from_secs(14);
/// How long it lasts if nobody waits for a lease.
const SHORT: Duration = Duration::from_secs(8);
/// A lost node may take what it acknowledged in the last second; on a busy machine in a little more.
const REPLICATED_WITHIN: Duration = Duration::from_secs(2);
/// The same in the gate, which shares its cores with other tests.
const REPLICATED_WITHIN_IN_GATE: Duration = Duration::from_secs(10);
/// Seconds by which a clock is stepped. Clocks of servers may differ by less than a minute.
const STEP_S: i32 = 40;

/// A fault. The holder is the server that holds the project with a backend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    HolderKilled,
    HolderKilledAndRestarted,
    OtherServerKilled,
    HolderPaused,
    HolderCutOff,
    HolderCutOffFromPostgres,
    HolderCutOffFromObjects,
    HolderDiskFull,
    HolderDiskReadOnly,
    HolderClockAhead,
    HolderClockBehind,
    PostgresClockAhead,
    PostgresFailedOver,
    StandbyKilled,
    ObjectsKilled,
    ObjectsFailing,
    ObjectsSlow,
    BackendKilled,
    BalancerKilled,
}

impl Fault {
    pub(super) const ALL: [Self; 19] = [
        Self::HolderKilled,
        Self::HolderKilledAndRestarted,
        Self::OtherServerKilled,
        Self::HolderPaused,
        Self::HolderCutOff,
        Self::HolderCutOffFromPostgres,
        Self::HolderCutOffFromObjects,
        Self::HolderDiskFull,
        Self::HolderDiskReadOnly,
        Self::HolderClockAhead,
        Self::HolderClockBehind,
        Self::PostgresClockAhead,
        Self::PostgresFailedOver,
        Self::StandbyKilled,
        Self::ObjectsKilled,
        Self::ObjectsFailing,
        Self::ObjectsSlow,
        Self::BackendKilled,
        Self::BalancerKilled,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::HolderKilled => "holder killed",
            Self::HolderKilledAndRestarted => "holder killed and restarted",
            Self::OtherServerKilled => "another server killed",
            Self::HolderPaused => "holder paused",
            Self::HolderCutOff => "holder cut off",
            Self::HolderCutOffFromPostgres => "holder cut off from PostgreSQL",
            Self::HolderCutOffFromObjects => "holder cut off from S3",
            Self::HolderDiskFull => "disk of the holder full",
            Self::HolderDiskReadOnly => "disk of the holder read-only",
            Self::HolderClockAhead => "clock of the holder 40 s ahead",
            Self::HolderClockBehind => "clock of the holder 40 s behind",
            Self::PostgresClockAhead => "clock of PostgreSQL 40 s ahead",
            Self::PostgresFailedOver => "PostgreSQL fails over",
            Self::StandbyKilled => "standby of PostgreSQL killed",
            Self::ObjectsKilled => "S3 killed",
            Self::ObjectsFailing => "S3 answers 503",
            Self::ObjectsSlow => "S3 slow",
            Self::BackendKilled => "workerd killed",
            Self::BalancerKilled => "HAProxy killed",
        }
    }

    /// Whether it can happen here.
    pub(super) fn is_possible(self) -> bool {
        match self {
            Self::HolderClockAhead | Self::HolderClockBehind | Self::PostgresClockAhead => {
                Clock::can_step()
            }
            _ => true,
        }
    }

    /// Makes the fault happen and ends it.
    pub(super) fn happen(
        self,
        cluster: &mut Cluster,
        traffic: &Traffic,
        random: &mut RandomStream,
    ) {
        let holder = cluster.holder();
        // At another time between two renewals of leases in each round.
        sleep(Duration::from_millis(random.below(3000)));
        let server = &mut cluster.servers[holder];
        match self {
            Self::HolderKilled => {
                server.kill();
                note_loss(traffic);
                sleep(AWAY);
                server.start();
            }
            Self::HolderKilledAndRestarted => {
                server.kill();
                server.start();
            }
            Self::OtherServerKilled => {
                let step = 1 + usize::try_from(random.below(2)).unwrap();
                let other = &mut cluster.servers[(holder + step) % NAMES.len()];
                other.kill();
                sleep(SHORT);
                other.start();
            }
            Self::HolderPaused => {
                server.signal(Signal::STOP);
                note_loss(traffic);
                sleep(AWAY);
                server.signal(Signal::CONT);
            }
            Self::HolderCutOff => {
                server.machine.disconnect();
                note_loss(traffic);
                sleep(AWAY);
                server.machine.reconnect();
            }
            Self::HolderCutOffFromPostgres => {
                for machine in cluster.postgres.machines() {
                    server.machine.disconnect_from(machine.address);
                }
                sleep(AWAY);
                server.machine.reconnect();
            }
            Self::HolderCutOffFromObjects => {
                server.machine.disconnect_from(cluster.objects.machine.address);
                sleep(SHORT);
                server.machine.reconnect();
            }
            Self::HolderDiskFull => {
                server.fill_disk();
                sleep(SHORT);
                server.empty_disk();
            }
            Self::HolderDiskReadOnly => {
                server.break_disk();
                sleep(SHORT);
                server.repair_disk();
                server.start();
            }
            Self::HolderClockAhead => step(&server.clock, STEP_S),
            Self::HolderClockBehind => step(&server.clock, -STEP_S),
            Self::PostgresClockAhead => step(cluster.postgres.clock(), STEP_S),
            Self::PostgresFailedOver => {
                cluster.postgres.fail_over();
                sleep(SHORT);
                cluster.postgres.add_standby();
            }
            Self::StandbyKilled => {
                cluster.postgres.kill_standby();
                sleep(SHORT);
                cluster.postgres.start_standby();
            }
            Self::ObjectsKilled => {
                cluster.objects.kill();
                sleep(SHORT);
                cluster.objects.start_again();
            }
            Self::ObjectsFailing => tell(cluster, "down"),
            Self::ObjectsSlow => tell(cluster, "slow"),
            Self::BackendKilled => {
                assert!(server.kill_workers() > 0, "a backend runs on {}", server.name);
                sleep(Duration::from_secs(3));
            }
            Self::BalancerKilled => {
                cluster.kill_haproxy();
                sleep(Duration::from_secs(2));
                cluster.start_haproxy();
            }
        }
    }
}

fn step(clock: &Clock, seconds: i32) {
    clock.step(seconds);
    sleep(AWAY);
    clock.step(0);
}

fn tell(cluster: &mut Cluster, word: &str) {
    cluster.objects.tell(word);
    sleep(SHORT);
    cluster.objects.tell("well");
}

/// A node is lost at this moment.
fn note_loss(traffic: &Traffic) {
    let until = traffic.now();
    let within = if full_size() { REPLICATED_WITHIN } else { REPLICATED_WITHIN_IN_GATE };
    let from = until.saturating_sub(within);
    traffic.history.lock().unwrap().loss_windows.push(LossWindow { from, until });
}
