//! Tells open pages that a student did something. One task of the server looks into the store for all of them, as long as
//! a page is open.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use lyceum_adaptive::live::LiveActivity;
use lyceum_core::{Reach, Result};
use lyceum_store::Tx;
use tokio::sync::{Mutex, watch};

use crate::limits;
use crate::state::App;

/// The open pages by what their viewers reach; `None` while no task looks.
#[derive(Default)]
pub(crate) struct ActivityWatch(Mutex<Option<Viewers>>);

type Viewers = HashMap<Reach, watch::Sender<()>>;

/// A receiver that changes whenever a student within the reach does something from now on. It is closed when the server
/// stops or cannot read the store.
pub(crate) async fn follow(app: &App, reach: Reach) -> Result<watch::Receiver<()>> {
    let mut viewers = app.activity.0.lock().await;
    if let Some(viewers) = viewers.as_mut() {
        return Ok(viewers.entry(reach).or_insert_with(|| watch::Sender::new(())).subscribe());
    }
    let now = app.clock.now();
    let activity = app.db.read(move |tx| LiveActivity::begin(tx, now)).await?;
    let (sender, receiver) = watch::channel(());
    *viewers = Some(HashMap::from([(reach, sender)]));
    tokio::spawn(look_for_viewers(App::clone(app), activity));
    Ok(receiver)
}

async fn look_for_viewers(app: App, mut activity: LiveActivity) {
    while !app.draining.load(Relaxed) {
        tokio::time::sleep(Duration::from_millis(limits::EVENT_STREAM_POLL_MS)).await;
        // A page that opens meanwhile waits, so that it misses nothing.
        let mut guard = app.activity.0.lock().await;
        let Some(viewers) = guard.as_mut() else { return };
        viewers.retain(|_, sender| sender.receiver_count() > 0);
        if viewers.is_empty() {
            *guard = None;
            return;
        }
        let reaches: Vec<Reach> = viewers.keys().cloned().collect();
        let (seen, now, looked) = (activity.clone(), app.clock.now(), reaches.clone());
        let look = move |tx: &mut Tx<'_>| seen.clone().look(tx, now, &looked);
        let Ok((next, is_new)) = app.db.read(look).await else {
            *guard = None;
            return;
        };
        activity = next;
        for (reach, _) in reaches.iter().zip(is_new).filter(|(_, is_new)| *is_new) {
            if let Some(sender) = viewers.get(reach) {
                sender.send_replace(());
            }
        }
    }
    *app.activity.0.lock().await = None;
}
