//! Tells open pages that a student did something. One task of the server looks into the store for all of them, as long as
//! a page is open.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lyceum_adaptive::live::LiveActivity;
use lyceum_core::{Reach, Result};
use lyceum_http::sse;
use lyceum_store::{Signal, Tx};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::{App, limits};

/// The open pages by what their viewers reach; `None` while no task looks.
#[derive(Default)]
pub struct ActivityWatch(Mutex<Option<Viewers>>);

type Viewers = HashMap<Reach, watch::Sender<()>>;

impl ActivityWatch {
    fn viewers(&self) -> MutexGuard<'_, Option<Viewers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a page. `None` while no task looks.
    fn join(&self, reach: &Reach) -> Option<watch::Receiver<()>> {
        self.viewers().as_mut().map(|viewers| subscribe(viewers, reach))
    }

    /// Adds a page, and returns whether a task has to begin looking for it.
    fn add_viewer(&self, reach: &Reach) -> (watch::Receiver<()>, bool) {
        let mut viewers = self.viewers();
        let is_first = viewers.is_none();
        (subscribe(viewers.get_or_insert_default(), reach), is_first)
    }

    /// The reaches of open pages, after pages that were closed are left out. `None` if no page is open; the task then
    /// ends.
    fn reaches(&self) -> Option<Vec<Reach>> {
        let mut guard = self.viewers();
        let viewers = guard.as_mut()?;
        viewers.retain(|_, sender| sender.receiver_count() > 0);
        if viewers.is_empty() {
            *guard = None;
            return None;
        }
        Some(viewers.keys().cloned().collect())
    }

    /// Tells the pages for which a look found something. A page with another reach, which was opened during the look, may
    /// have missed it and is told as well.
    fn notify(&self, is_new: &HashMap<Reach, bool>) {
        for (reach, sender) in self.viewers().iter().flatten() {
            if is_new.get(reach).unwrap_or(&is_new[&Reach::Everything]) == &true {
                sender.send_replace(());
            }
        }
    }
}

fn subscribe(viewers: &mut Viewers, reach: &Reach) -> watch::Receiver<()> {
    viewers.entry(reach.clone()).or_insert_with(|| watch::Sender::new(())).subscribe()
}

/// A receiver that changes whenever a student within the reach does something from now on. It is closed when the server
/// stops or cannot read the store.
pub async fn follow(app: &App, reach: Reach) -> Result<watch::Receiver<()>> {
    if let Some(receiver) = app.activity.join(&reach) {
        return Ok(receiver);
    }
    let now = app.clock.now();
    let activity = app.db.read(move |tx| LiveActivity::start(tx, now)).await?;
    let (receiver, is_first) = app.activity.add_viewer(&reach);
    if is_first {
        tokio::spawn(look_for_viewers(App::clone(app), activity));
    }
    Ok(receiver)
}

async fn look_for_viewers(app: App, mut activity: LiveActivity) {
    let (mut log, mut answers) =
        (app.live.subscribe(), app.db.signals().subscribe(Signal::Answers));
    while !app.draining.load(Relaxed) {
        let wait = if activity.waits() { sse::POLL } else { app.db.signals().wait() };
        tokio::select! {
            _ = log.changed() => {}
            _ = answers.changed() => {}
            () = sleep(wait) => {}
        }
        let Some(mut reaches) = app.activity.reaches() else { return };
        reaches.push(Reach::Everything);
        let (seen, now, looked) = (activity.clone(), app.clock.now(), reaches.clone());
        let update = move |tx: &mut Tx<'_>| seen.clone().update(tx, now, &looked);
        let Ok((next, is_new)) = app.db.read(update).await else { break };
        activity = next;
        app.activity.notify(&reaches.into_iter().zip(is_new).collect());
        sleep(Duration::from_millis(limits::EVENT_STREAM_PAUSE_MS)).await;
    }
    *app.activity.viewers() = None;
}
