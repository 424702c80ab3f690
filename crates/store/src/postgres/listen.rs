//! Signals between the servers of a database, by `LISTEN` and `NOTIFY` on a connection of their own.

use std::future::poll_fn;
use std::time::Duration;

use lyceum_core::Result;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Notification};

use super::PostgresAddress;
use crate::limits::{SIGNAL_ECHO_MAX_MS, SIGNAL_RECONNECT_MS};
use crate::problem::unavailable;
use crate::signals::{SignalSet, Signals, WaitingSignals};

const CHANNEL: &str = "lyceum_signals";

/// The statement that sends signals to all servers.
pub(super) fn notify(signals: SignalSet) -> String {
    format!("NOTIFY {CHANNEL}, '{}'", signals.payload())
}

/// Sends and receives signals for ever. While that is impossible, readers are told that they hear only this server.
pub(crate) async fn exchange(
    address: &PostgresAddress,
    signals: &Signals,
    outgoing: &WaitingSignals,
) {
    let mut was_refused = false;
    loop {
        let Err(problem) = exchange_once(address, signals, outgoing).await;
        signals.set_hears_all(false);
        if !was_refused {
            tracing::warn!(
                cause = ?problem.cause,
                "signals of other servers do not arrive; this server looks for new events four times a second"
            );
        }
        was_refused = true;
        sleep(Duration::from_millis(SIGNAL_RECONNECT_MS)).await;
    }
}

/// Sends and receives signals until the connection fails.
async fn exchange_once(
    address: &PostgresAddress,
    signals: &Signals,
    outgoing: &WaitingSignals,
) -> Result<std::convert::Infallible> {
    let failed = |cause: String| unavailable("signals do not arrive", 1).because(cause);
    let (client, mut connection) = address.connect().await.map_err(failed)?;
    let (arrived, mut arriving) = unbounded_channel();
    let drive = async move {
        while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(notification) = message? {
                let _ = arrived.send(notification); // the receiver ends with this task
            }
        }
        Ok::<(), tokio_postgres::Error>(())
    };
    let talk = async {
        let sql = format!("LISTEN {CHANNEL}; NOTIFY {CHANNEL}, ''");
        client.batch_execute(&sql).await.map_err(|error| failed(error.to_string()))?;
        // A pooler may take the statement and keep what it should bring.
        let echo = timeout(Duration::from_millis(SIGNAL_ECHO_MAX_MS), arriving.recv()).await;
        if !matches!(echo, Ok(Some(_))) {
            return Err(failed("a LISTEN has no effect on this connection".into()));
        }
        signals.set_hears_all(true);
        loop {
            tokio::select! {
                signals = outgoing.wait() => {
                    let sql = notify(signals);
                    client.batch_execute(&sql).await.map_err(|error| failed(error.to_string()))?;
                }
                notification = next(&mut arriving) => {
                    signals.receive(SignalSet::parse(notification.payload()));
                }
            }
        }
    };
    tokio::select! {
        ended = drive => Err(failed(match ended {
            Ok(()) => "the connection was closed".into(),
            Err(error) => error.to_string(),
        })),
        failure = talk => failure,
    }
}

async fn next(arriving: &mut UnboundedReceiver<Notification>) -> Notification {
    match arriving.recv().await {
        Some(notification) => notification,
        None => std::future::pending().await,
    }
}
