//! Sends the messages of webhooks. Of several servers on one database, one is the sender; the others wait until it
//! stops or its turn runs out. What it had not recorded by then is sent again, with the same message id.
//!
//! The sender holds no lock while it sends. Each target has a limit of messages at once, and all targets together have
//! one. Targets whose last answer was a failure share a small part of it, so that they cannot delay the others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use lyceum_core::random::secret_id;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, Result, message};
use lyceum_http::guarded::{WebhookClient, host};
use lyceum_http::trace;
use lyceum_store::{Tx, outbox};
use lyceum_webhooks::limits::{WEBHOOK_AT_ONCE_MAX_COUNT, WEBHOOK_ERROR_MAX_BYTES};
use lyceum_webhooks::queue::{self, AttemptOutcome, DueDelivery, QueueStep, Target};
use lyceum_webhooks::registry::Registry;
use lyceum_webhooks::{log, signature};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use crate::work::webhook_reach::are_within;
use crate::{App, limits};

/// The parts of a server that send messages.
pub struct WebhookSender {
    client: WebhookClient,
    /// The name of this server process among those that send.
    holder: String,
}

impl WebhookSender {
    /// Sends to public addresses, and to the hosts that the settings name.
    pub fn new(allow: &[String], allows_loopback: bool) -> Self {
        Self { client: WebhookClient::new(allow, allows_loopback), holder: secret_id() }
    }

    /// Checks the form of a target's address. Errors: `Invalid`.
    pub fn check(&self, address: &str) -> Result<()> {
        self.client.check(address).map_err(|message| Problem::invalid("targetUrl", message))
    }
}

/// The server whose turn it is to send.
enum SenderTurn {
    Own,
    OfOther,
    /// There is nothing to send.
    OfNobody,
}

/// Sends messages until the server stops.
pub async fn send(app: App) {
    let mut changes = app.db.changes();
    let pause = Duration::from_millis(limits::WEBHOOK_IDLE_POLL_MS);
    loop {
        // The turn of another server that has stopped ends without a change.
        let mut due = Some(pause);
        match become_sender(&app).await {
            Ok(SenderTurn::Own) => {
                if let Err(problem) = Sending::new(Arc::clone(&app)).run().await {
                    tracing::warn!(%problem, "sending webhooks was interrupted; trying again");
                }
            }
            Ok(SenderTurn::OfOther) => {}
            Ok(SenderTurn::OfNobody) => due = None,
            Err(problem) => tracing::warn!(%problem, "webhooks cannot be sent now; trying again"),
        }
        changes.wait(pause, due).await;
    }
}

/// Takes the turn to send if there is anything to send. Writes nothing otherwise.
async fn become_sender(app: &App) -> Result<SenderTurn> {
    let holder = app.webhooks.holder.clone();
    let looked = app.db.read(move |tx| {
        let has_work = queue::has_work(tx)?;
        Ok((has_work, has_work && queue::may_become_sender(tx, &holder)?))
    });
    Ok(match looked.await? {
        (false, _) => SenderTurn::OfNobody,
        (true, true) if renew(app).await? => SenderTurn::Own,
        (true, _) => SenderTurn::OfOther,
    })
}

async fn renew(app: &App) -> Result<bool> {
    let holder = app.webhooks.holder.clone();
    app.db.write(move |tx| queue::become_sender(tx, &holder)).await
}

/// Gives the turn back when the server stops.
pub async fn release(app: &App) {
    let holder = app.webhooks.holder.clone();
    let held = holder.clone();
    let is_sender = app.db.read(move |tx| queue::is_sender(tx, &held)).await;
    if is_sender.unwrap_or(false)
        && let Err(problem) = app.db.write(move |tx| queue::release(tx, &holder)).await
    {
        tracing::warn!(%problem, "the turn to send webhooks was not given back");
    }
}

/// Removes old entries of the delivery log until the server stops.
pub async fn delete_old_periodically(app: App) {
    loop {
        sleep(Duration::from_secs(limits::WEBHOOK_FORGET_EVERY_S)).await;
        loop {
            let (holder, now) = (app.webhooks.holder.clone(), app.clock.now());
            let is_sender = app.db.read(move |tx| queue::is_sender(tx, &holder)).await;
            if !is_sender.unwrap_or(false) {
                break;
            }
            match app.db.write(move |tx| log::forget(tx, now)).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(problem) => {
                    tracing::warn!(%problem, "old deliveries of webhooks were not removed");
                    break;
                }
            }
        }
    }
}

/// The sender's knowledge about a webhook with deliveries that wait.
#[derive(Default)]
struct TargetState {
    /// Deliveries that are being sent, or whose outcome is not stored yet.
    under_way: HashSet<i64>,
    /// When to look for due deliveries; `None` if an outcome or a new delivery comes first.
    look_at: Option<Timestamp>,
    /// Until when the target is left alone, because it did not answer.
    paused_until: Option<Timestamp>,
    /// The number of failures since the last success.
    failures: u32,
}

impl TargetState {
    /// Since when due deliveries can be looked for; `None` if that is later than now.
    fn ready_since(&self, now: Timestamp) -> Option<Timestamp> {
        self.look_at
            .max(self.paused_until.filter(|_| self.look_at.is_some()))
            .filter(|at| *at <= now)
    }

    fn may_send(&self) -> usize {
        let most = if self.failures == 0 { WEBHOOK_AT_ONCE_MAX_COUNT } else { 1 };
        most.saturating_sub(self.under_way.len())
    }
}

/// Due deliveries of one webhook; without a target, the webhook is not active.
struct DueTarget {
    webhook: String,
    target: Option<Target>,
    due: Vec<DueDelivery>,
    next_due: Option<Timestamp>,
}

/// The work of the sender during its turn.
struct Sending {
    app: App,
    registry: Arc<Registry>,
    targets: HashMap<String, TargetState>,
    /// Outcomes to be stored.
    outcomes: Vec<AttemptOutcome>,
    arriving: mpsc::UnboundedReceiver<AttemptOutcome>,
    reply: mpsc::UnboundedSender<AttemptOutcome>,
}

impl Sending {
    fn new(app: App) -> Self {
        let (reply, arriving) = mpsc::unbounded_channel();
        Self {
            app,
            // Revision 0 is that of a server without webhooks.
            registry: Arc::default(),
            targets: HashMap::new(),
            outcomes: Vec::new(),
            arriving,
            reply,
        }
    }

    /// Works until another server is the sender, or nothing is left to send.
    async fn run(mut self) -> Result<()> {
        let renewed_every = Duration::from_millis(limits::WEBHOOK_RENEW_MS);
        let mut renew_at = Instant::now() + renewed_every;
        loop {
            if Instant::now() >= renew_at {
                if !renew(&self.app).await? {
                    return Ok(());
                }
                renew_at = Instant::now() + renewed_every;
            }
            let revision = self.registry.revision;
            let (has_rows, is_changed) = self
                .app
                .db
                .read(move |tx| Ok((outbox::has_rows(tx)?, queue::revision(tx)? != revision)))
                .await?;
            let mut has_more = false;
            if has_rows || is_changed || !self.outcomes.is_empty() {
                let Some(more) = self.step().await? else { return Ok(()) };
                has_more = more;
            }
            self.start_due().await?;
            if self.is_idle() {
                release(&self.app).await;
                return Ok(());
            }
            self.wait(has_more).await;
        }
    }

    fn is_idle(&self) -> bool {
        self.registry.is_empty() && self.targets.values().all(|target| target.under_way.is_empty())
    }

    /// Stores outcomes and new deliveries. Answers whether the outbox has more rows; `None` if this server is not the
    /// sender any more.
    async fn step(&mut self) -> Result<Option<bool>> {
        let outcomes: Arc<[AttemptOutcome]> = self.outcomes.clone().into();
        let (now, holder) = (self.app.clock.now(), self.app.webhooks.holder.clone());
        let (known, stored) = (Arc::clone(&self.registry), Arc::clone(&outcomes));
        let step =
            move |tx: &mut Tx<'_>| queue::step(tx, (now, &holder), &known, are_within, &stored);
        let step = self.app.db.write(step).await?;
        let Some(QueueStep { registry, receivers, has_more }) = step else { return Ok(None) };
        self.outcomes.clear();
        for outcome in outcomes.iter() {
            self.ended(outcome, now);
        }
        for webhook in receivers {
            let target = self.targets.entry(webhook).or_default();
            target.look_at = Some(now);
        }
        if registry.revision != self.registry.revision {
            self.registry = registry;
            for webhook in self.app.db.read(queue::waiting).await? {
                self.targets.entry(webhook).or_default().look_at = Some(now);
            }
        }
        Ok(Some(has_more))
    }

    /// Notes an outcome that was stored.
    fn ended(&mut self, outcome: &AttemptOutcome, now: Timestamp) {
        let Some(target) = self.targets.get_mut(&outcome.webhook) else { return };
        target.under_way.remove(&outcome.seq);
        target.look_at = Some(now);
        if outcome.is_refused {
            return;
        }
        target.failures = if outcome.error.is_none() { 0 } else { target.failures + 1 };
        target.paused_until = outcome.status.is_none().then(|| {
            let doubled_s = limits::WEBHOOK_PAUSE_MIN_S << (target.failures - 1).min(10);
            now.plus_seconds(doubled_s.min(limits::WEBHOOK_PAUSE_MAX_S))
        });
    }

    /// Sends due deliveries as far as the limits allow.
    async fn start_due(&mut self) -> Result<()> {
        let now = self.app.clock.now();
        let ready = self.ready_webhooks(now);
        if ready.is_empty() {
            return Ok(());
        }
        let keyring = self.app.gate.keyring();
        let read = move |tx: &mut Tx<'_>| {
            let due_target = |webhook: &String| {
                let target = queue::target(tx, keyring.master(), webhook)?;
                let due = queue::due_deliveries(tx, now, webhook, WEBHOOK_AT_ONCE_MAX_COUNT)?;
                let next_due = match due.is_empty() {
                    true => queue::next_due(tx, webhook)?,
                    false => None,
                };
                Ok(DueTarget { webhook: webhook.clone(), target, due, next_due })
            };
            let found: Vec<DueTarget> = ready.iter().map(due_target).collect::<Result<_>>()?;
            let due = found
                .iter()
                .flat_map(|one| one.due.iter().map(move |due| (one.webhook.as_str(), due)));
            let due: Vec<(&str, &DueDelivery)> = due.collect();
            let refusals = queue::refusals(tx, are_within, &due)?;
            Ok((found, refusals))
        };
        let (found, refusals) = self.app.db.read(read).await?;
        for target in found {
            self.start(target, &refusals);
        }
        Ok(())
    }

    /// The number of messages under way, and how many of them go to targets whose last answer was a failure.
    fn under_way(&self) -> (usize, usize) {
        self.targets.values().fold((0, 0), |(all, failing), target| {
            let count = target.under_way.len();
            (all + count, failing + if target.failures > 0 { count } else { 0 })
        })
    }

    /// The webhooks to look at now, those that wait longest first.
    fn ready_webhooks(&self, now: Timestamp) -> Vec<String> {
        let (all, failing) = self.under_way();
        let room = lyceum_http::limits::WEBHOOK_SENDS_MAX_COUNT.saturating_sub(all);
        let mut room_of_failing = limits::WEBHOOK_FAILING_SENDS_MAX_COUNT.saturating_sub(failing);
        let mut ready: Vec<_> = self
            .targets
            .iter()
            .filter_map(|(webhook, target)| Some((target.ready_since(now)?, webhook, target)))
            .filter(|(_, _, target)| target.may_send() > 0)
            .collect();
        ready.sort_by_key(|(at, ..)| *at);
        let mut has_room = |target: &TargetState| {
            let is_failing = target.failures > 0;
            let has_room = !is_failing || room_of_failing > 0;
            room_of_failing -= usize::from(is_failing && has_room);
            has_room
        };
        let chosen = ready.into_iter().filter(|(_, _, target)| has_room(target));
        chosen.take(room).map(|(_, webhook, _)| webhook.clone()).collect()
    }

    fn start(&mut self, found: DueTarget, refusals: &HashMap<i64, &'static str>) {
        let (all, _) = self.under_way();
        let room = lyceum_http::limits::WEBHOOK_SENDS_MAX_COUNT.saturating_sub(all);
        let state = self.targets.entry(found.webhook.clone()).or_default();
        let Some(target) = found.target else {
            state.look_at = None;
            return;
        };
        let is_new = |due: &DueDelivery| !state.under_way.contains(&due.seq);
        let new: Vec<DueDelivery> = found.due.into_iter().filter(is_new).collect();
        if !new.is_empty() && room == 0 {
            return;
        }
        // What is under way sets the time again when it ends.
        let is_idle = state.under_way.is_empty() && new.is_empty();
        state.look_at = if is_idle { found.next_due } else { None };
        for due in new.into_iter().take(room.min(state.may_send())) {
            state.under_way.insert(due.seq);
            if let Some(reason) = refusals.get(&due.seq) {
                let _ = self.reply.send(refused(found.webhook.clone(), &due, reason)); // an error: the turn ended
                continue;
            }
            let (client, reply) = (self.app.webhooks.client.clone(), self.reply.clone());
            let (target, webhook, now) =
                (target.clone(), found.webhook.clone(), self.app.clock.now());
            tokio::task::spawn_blocking(move || {
                let _ = reply.send(attempt(&client, &target, webhook, &due, now)); // an error: the turn ended
            });
        }
    }

    /// Waits until there may be something to do.
    async fn wait(&mut self, has_more: bool) {
        let gather = Duration::from_millis(limits::WEBHOOK_GATHER_MS);
        let until = Instant::now() + Duration::from_millis(limits::WEBHOOK_POLL_MS);
        if !has_more {
            tokio::select! {
                () = sleep_until(until) => {}
                Some(outcome) = self.arriving.recv() => {
                    self.outcomes.push(outcome);
                    sleep(gather).await;
                }
            }
        }
        while let Ok(outcome) = self.arriving.try_recv() {
            self.outcomes.push(outcome);
        }
    }
}

/// The outcome of a delivery that must not be sent.
fn refused(webhook: String, due: &DueDelivery, reason: &'static str) -> AttemptOutcome {
    AttemptOutcome {
        webhook,
        seq: due.seq,
        attempts: due.attempts,
        status: None,
        error: Some(reason.into()),
        is_refused: true,
        jitter: 0.0,
    }
}

/// Sends one message. Blocks.
fn attempt(
    client: &WebhookClient,
    target: &Target,
    webhook: String,
    due: &DueDelivery,
    now: Timestamp,
) -> AttemptOutcome {
    let signature = signature::sign(&target.secret, &due.message, now, &due.body);
    let seconds = now.seconds().to_string();
    let span = trace::outgoing("webhook", "POST", host(&target.url).as_deref());
    let named = trace::headers(&span);
    let mut headers = vec![
        ("webhook-id", due.message.as_str()),
        ("webhook-timestamp", &seconds),
        ("webhook-signature", &signature),
    ];
    headers.extend(named.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let answered = span.in_scope(|| client.post(&target.url, &headers, &due.body));
    trace::ended(&span, answered.as_ref().ok().copied());
    let (status, error) = match answered {
        Ok(status @ 200..300) => (Some(status), None),
        Ok(status) => (Some(status), Some(message!("the target answered {status}"))),
        Err(reason) => {
            let text = reason.to_string();
            let cut = text.floor_char_boundary(WEBHOOK_ERROR_MAX_BYTES);
            let reason = match cut < text.len() {
                true => Message::untranslated(&text[..cut]),
                false => reason,
            };
            (None, Some(message!("the target did not answer: {reason}")))
        }
    };
    let (seq, attempts, jitter) = (due.seq, due.attempts, fastrand::f64());
    AttemptOutcome { webhook, seq, attempts, status, error, is_refused: false, jitter }
}
