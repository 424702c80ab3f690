//! Signals wake readers that wait for news, on all servers of a database, after a write was committed.
//!
//! A signal has no content and may be lost, for example when a server crashes between its commit and its signal. So
//! readers also look after [`Signals::wait`] without one. PostgreSQL takes a lock of the whole cluster for each
//! transaction with a `NOTIFY`. So a server sends signals outside of its writes, a few times a second at most.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use crate::limits::{SIGNAL_ALONE_WAIT_MS, SIGNAL_EVERY_MS, SIGNAL_WAIT_MS};

/// News in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The event log has more events.
    Events,
    /// A student answered a question.
    Answers,
}

impl Signal {
    const ALL: [Self; 2] = [Self::Events, Self::Answers];
}

/// Signals of one transaction or of some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignalSet(u8);

impl SignalSet {
    pub(crate) fn add(&mut self, signal: Signal) {
        self.0 |= 1 << signal as u8;
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn has(self, signal: Signal) -> bool {
        self.0 & (1 << signal as u8) != 0
    }

    /// The payload of a `NOTIFY`.
    pub(crate) fn payload(self) -> String {
        self.0.to_string()
    }

    /// The signals of a payload; signals of a later release are left out.
    pub(crate) fn parse(payload: &str) -> Self {
        Self(payload.parse().unwrap_or_default())
    }
}

/// Signals that wait to be sent.
#[derive(Default)]
pub(crate) struct WaitingSignals {
    set: AtomicU8,
    wake: Notify,
}

impl WaitingSignals {
    pub(crate) fn add(&self, signals: SignalSet) {
        if !signals.is_empty() {
            self.set.fetch_or(signals.0, Ordering::Relaxed);
            self.wake.notify_one();
        }
    }

    /// Takes all signals. Waits until there is one.
    pub(crate) async fn wait(&self) -> SignalSet {
        loop {
            self.wake.notified().await;
            let signals = SignalSet(self.set.swap(0, Ordering::Relaxed));
            if !signals.is_empty() {
                return signals;
            }
        }
    }
}

/// The signals of a database, as this process sees them.
pub struct Signals {
    /// The signals of commits of this process.
    pub(crate) written: WaitingSignals,
    receivers: [watch::Sender<()>; Signal::ALL.len()],
    hears_all: AtomicBool,
}

impl Signals {
    /// `hears_all` says whether this process alone writes to the database.
    pub(crate) fn new(hears_all: bool) -> Self {
        Self {
            written: WaitingSignals::default(),
            receivers: Signal::ALL.map(|_| watch::Sender::new(())),
            hears_all: AtomicBool::new(hears_all),
        }
    }

    /// A receiver that changes after each signal.
    pub fn subscribe(&self, signal: Signal) -> watch::Receiver<()> {
        self.receivers[signal as usize].subscribe()
    }

    /// The time after which a reader looks although it received no signal. It is short while signals of other servers do
    /// not arrive.
    pub fn wait(&self) -> Duration {
        let hears_all = self.hears_all.load(Ordering::Relaxed);
        Duration::from_millis(if hears_all { SIGNAL_WAIT_MS } else { SIGNAL_ALONE_WAIT_MS })
    }

    pub(crate) fn set_hears_all(&self, hears_all: bool) {
        self.hears_all.store(hears_all, Ordering::Relaxed);
    }

    pub(crate) fn receive(&self, signals: SignalSet) {
        for (signal, receiver) in Signal::ALL.into_iter().zip(&self.receivers) {
            if signals.has(signal) {
                receiver.send_replace(());
            }
        }
    }

    /// Delivers what this process writes to its own readers, and to `others`. Never returns.
    pub(crate) async fn deliver(&self, others: &WaitingSignals) {
        loop {
            let signals = self.written.wait().await;
            self.receive(signals);
            others.add(signals);
            sleep(Duration::from_millis(SIGNAL_EVERY_MS)).await;
        }
    }
}
