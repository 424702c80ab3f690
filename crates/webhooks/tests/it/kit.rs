//! A database with webhooks, and the sender's steps as a server takes them.

use std::sync::Arc;

use lyceum_access::{MasterKey, NewClient, Scope, client};
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result, message};
use lyceum_store::outbox::{self, Change};
use lyceum_store::{Db, Migration, Tx};
use lyceum_testkit::both_stores;
use lyceum_webhooks::MIGRATIONS;
use lyceum_webhooks::filter::{self, FilterInput};
use lyceum_webhooks::log::{self, Delivery, DeliveryState};
use lyceum_webhooks::queue::{self, AttemptOutcome, DueDelivery, QueueStep};
use lyceum_webhooks::reach::ChangedObject;
use lyceum_webhooks::registry::Registry;
use lyceum_webhooks::webhook::{self, VisibleWebhooks, Webhook, WebhookInput, WebhookOwner};
use serde_json::{Value, json};

pub(crate) const ALL: &VisibleWebhooks = &VisibleWebhooks::All;
/// The server that sends.
pub(crate) const SENDER: &str = "sender";

pub(crate) struct Webhooks {
    pub(crate) db: Db,
    pub(crate) master: MasterKey,
}

/// Runs the test on both stores. The client `owner` has access to everything.
pub(crate) fn both(test: impl Fn(&Webhooks)) {
    let migrations: Vec<Migration> = [lyceum_access::MIGRATIONS, MIGRATIONS].concat();
    both_stores(&migrations, |target| {
        let webhooks = Webhooks {
            db: Db::open(target, &migrations).expect("a fresh database opens"),
            master: MasterKey::random(),
        };
        webhooks.client("owner");
        test(&webhooks);
    });
}

pub(crate) fn now() -> Timestamp {
    "2026-03-14T12:00:00Z".parse().unwrap()
}

/// Objects whose ids are those of the reach's organizations lie within it.
#[expect(clippy::unnecessary_wraps, reason = "its type is that of the server's function")]
pub(crate) fn are_within(
    _: &mut Tx<'_>,
    reach: &Reach,
    objects: &[ChangedObject<'_>],
) -> Result<Vec<bool>> {
    let Reach::Organizations(ids) = reach else { panic!("{reach:?} is asked about") };
    Ok(objects.iter().map(|object| ids.contains(object.id)).collect())
}

/// The values of a webhook.
pub(crate) fn input(changes: &Value) -> WebhookInput {
    let mut input = json!({
        "name": "Test", "targetUrl": "https://target.test/", "secret": "s", "active": true,
    });
    let changes = changes.as_object().unwrap().clone();
    input.as_object_mut().unwrap().extend(changes);
    serde_json::from_value(input).unwrap()
}

/// The values of an active filter that compares texts.
pub(crate) fn condition(webhook: &str, (key, operator, value): (&str, &str, &str)) -> FilterInput {
    let input = json!({
        "webhookId": webhook, "filterKey": key, "filterOperator": operator, "filterValue": value,
        "filterType": "string", "active": true,
    });
    serde_json::from_value(input).unwrap()
}

impl Webhooks {
    pub(crate) fn write<T>(&self, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> T {
        self.db.write_blocking(work).unwrap()
    }

    /// A client with all scopes.
    pub(crate) fn client(&self, id: &str) {
        self.client_with(id, &[]);
    }

    /// A client with these scopes; with all of them if the list is empty.
    pub(crate) fn client_with(&self, id: &str, scopes: &[Scope]) {
        let scopes = scopes.iter().copied().collect();
        let new = NewClient { id: Some(id.to_owned()), scopes, ..NewClient::named(id) };
        self.write(|tx| client::create(tx, now(), &new).map(drop));
    }

    pub(crate) fn webhook_of(&self, owner: &str, changes: &Value) -> Webhook {
        let owner = WebhookOwner { id: owner.to_owned(), name: owner.to_owned() };
        self.write(|tx| webhook::create(tx, (&self.master, now()), owner, input(changes)))
    }

    pub(crate) fn webhook(&self, changes: &Value) -> String {
        self.webhook_of("owner", changes).id
    }

    pub(crate) fn filter(&self, webhook: &str, filter: (&str, &str, &str)) -> String {
        self.write(|tx| filter::create(tx, now(), ALL, condition(webhook, filter))).id
    }

    pub(crate) fn set_active(&self, webhook: &str, is_active: bool) {
        self.write(|tx| webhook::set_active(tx, now(), (ALL, webhook), is_active).map(drop));
    }

    /// Writes a change to the outbox, if a webhook wants it.
    pub(crate) fn announce(&self, topic: &str, object: &str, data: &Value) {
        self.write(|tx| outbox::announce(tx, topic, object, now(), || Ok(data.to_string().into())));
    }

    /// Writes a Caliper event to the outbox as the event log does: if a webhook wants those of the sensor.
    pub(crate) fn event(&self, sensor: &str, id: &str) {
        self.write(|tx| {
            let topic = "caliper.event".into();
            let event = Change { topic, object: id, sensor, at: now(), data: "{}".into() };
            let is_wanted = outbox::wanted(tx)?.contains("caliper.event", sensor);
            if is_wanted { outbox::write(tx, &[event]) } else { Ok(()) }
        });
    }

    /// A step of the sender, which reads the webhooks again.
    pub(crate) fn step(&self, now: Timestamp, outcomes: &[AttemptOutcome]) -> QueueStep {
        self.write(|tx| {
            assert!(queue::become_sender(tx, SENDER)?);
            let mut unknown = Registry::default();
            unknown.revision = -1;
            queue::step(tx, (now, SENDER), &Arc::new(unknown), are_within, outcomes)
        })
        .unwrap()
    }

    /// The deliveries of a webhook that are due.
    pub(crate) fn due(&self, now: Timestamp, webhook: &str) -> Vec<DueDelivery> {
        self.db.read_blocking(|tx| queue::due_deliveries(tx, now, webhook, 16)).unwrap()
    }

    /// Records that the target answered with the status.
    pub(crate) fn ended(&self, now: Timestamp, webhook: &str, due: &DueDelivery, status: u16) {
        self.step(now, &[outcome(webhook, due, status)]);
    }

    /// The deliveries of a webhook, the oldest first.
    pub(crate) fn log(&self, webhook: &str) -> Vec<Delivery> {
        let read = self.db.read_blocking(|tx| log::list(tx, (ALL, webhook), None, None, 500));
        let mut log = read.unwrap();
        log.reverse();
        log
    }

    /// The objects of the deliveries in a state, the oldest first.
    pub(crate) fn in_state(&self, webhook: &str, state: DeliveryState) -> Vec<String> {
        let log = self.log(webhook).into_iter().filter(|delivery| delivery.state == state);
        log.map(|delivery| delivery.object).collect()
    }

    pub(crate) fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        self.db.read_blocking(|tx| tx.row(&sql, &[])).unwrap().unwrap()
    }
}

/// An answer of the target.
pub(crate) fn outcome(webhook: &str, due: &DueDelivery, status: u16) -> AttemptOutcome {
    AttemptOutcome {
        webhook: webhook.to_owned(),
        seq: due.seq,
        attempts: due.attempts,
        status: Some(status),
        error: (status >= 300).then(|| message!("the target answered {status}")),
        is_refused: false,
        jitter: 0.5,
    }
}
