//! Wakes the live streams of this server when the event log grows. One task looks into the log for all of them, so a
//! stream reads only what may be new.

use std::time::Duration;

use lyceum_events::repository;
use lyceum_store::Signal;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::limits;
use crate::state::App;

/// The last number of the event log, for the streams that follow it.
pub(crate) struct LiveLog(watch::Sender<i64>);

impl LiveLog {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// A receiver that changes when the log has grown, and when the server begins to stop.
    pub(crate) fn subscribe(&self) -> watch::Receiver<i64> {
        self.0.subscribe()
    }

    /// Wakes all streams.
    pub(crate) fn wake(&self) {
        self.0.send_modify(|_| {});
    }
}

/// Delivers signals, and looks for new events while streams are open. Never returns.
pub(crate) async fn watch(app: App) {
    tokio::join!(app.db.deliver_signals(), watch_log(&app));
}

async fn watch_log(app: &App) {
    let signals = app.db.signals();
    let mut events = signals.subscribe(Signal::Events);
    loop {
        tokio::select! {
            _ = events.changed() => {}
            () = sleep(signals.wait()) => {}
        }
        if app.live.0.receiver_count() == 0 {
            continue;
        }
        // A failed read wakes the streams, which end if the store does not answer.
        let newest = app.db.read(repository::newest).await;
        app.live.0.send_if_modified(|seen| match newest {
            Ok(newest) => std::mem::replace(seen, newest) != newest,
            Err(_) => true,
        });
        sleep(Duration::from_millis(limits::EVENT_STREAM_PAUSE_MS)).await;
    }
}
