//! Wakes the live streams of this server when the event log grows. One task looks into the log for all of them, so a
//! stream reads only what may be new.

use std::time::Duration;

use lyceum_events::repository;
use lyceum_store::Signal;
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use crate::{App, limits};

/// The last number of the event log, for the streams that follow it.
pub struct LiveLog {
    newest: watch::Sender<i64>,
    opened: Notify,
}

impl Default for LiveLog {
    fn default() -> Self {
        Self { newest: watch::Sender::new(0), opened: Notify::new() }
    }
}

impl LiveLog {
    /// A receiver that changes when the log has grown, and when the server begins to stop.
    pub fn subscribe(&self) -> watch::Receiver<i64> {
        self.opened.notify_one();
        self.newest.subscribe()
    }

    /// Waits until a stream is open.
    async fn wait_for_stream(&self) {
        while self.newest.receiver_count() == 0 {
            self.opened.notified().await;
        }
    }

    /// Wakes all streams.
    pub fn wake(&self) {
        self.newest.send_modify(|_| {});
    }
}

/// Delivers signals, and looks for new events while streams are open. Never returns.
pub async fn watch(app: App) {
    tokio::join!(app.db.deliver_signals(), watch_log(&app));
}

async fn watch_log(app: &App) {
    let signals = app.db.signals();
    let mut events = signals.subscribe(Signal::Events);
    loop {
        app.live.wait_for_stream().await;
        tokio::select! {
            _ = events.changed() => {}
            () = sleep(signals.wait()) => {}
        }
        // A failed read wakes the streams, which end if the store does not answer.
        let newest = app.db.read(repository::newest).await;
        app.live.newest.send_if_modified(|seen| match newest {
            Ok(newest) => std::mem::replace(seen, newest) != newest,
            Err(_) => true,
        });
        sleep(Duration::from_millis(limits::EVENT_STREAM_PAUSE_MS)).await;
    }
}
