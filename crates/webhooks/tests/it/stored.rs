//! Webhooks as they are stored: secrets, limits, the delivery log, and what ends with time.

use lyceum_core::ProblemKind;
use lyceum_core::time::Timestamp;
use lyceum_webhooks::limits::{WEBHOOK_FILTERS_MAX_COUNT, WEBHOOKS_MAX_COUNT};
use lyceum_webhooks::log::{self, DeliveryState};
use lyceum_webhooks::webhook::{self, HIDDEN_SECRET, WebhookOwner};
use lyceum_webhooks::{filter, queue, screens};
use serde_json::json;

use crate::kit::{ALL, Webhooks, both, condition, input, now};

fn owner() -> WebhookOwner {
    WebhookOwner { id: "owner".to_owned(), name: "owner".to_owned() }
}

#[test]
fn only_the_answer_to_a_change_has_the_secret_which_an_update_keeps_or_replaces() {
    both(|webhooks| {
        let created = webhooks.webhook_of("owner", &json!({ "secret": "first" }));
        let id = created.id.as_str();
        assert_eq!(created.secret, "first");
        assert_eq!(webhooks.write(|tx| webhook::find(tx, ALL, id)).secret, HIDDEN_SECRET);
        let replace = |secret: &str| {
            let changed = input(&json!({ "secret": secret, "name": secret }));
            let key = (&webhooks.master, now().plus_seconds(1));
            webhooks.write(|tx| webhook::replace(tx, key, (ALL, id), changed))
        };
        let signing = || {
            let target = webhooks.db.read_blocking(|tx| queue::target(tx, &webhooks.master, id));
            target.unwrap().unwrap().secret
        };
        let kept = replace(HIDDEN_SECRET);
        assert_eq!((kept.created, kept.updated), (now(), now().plus_seconds(1)));
        assert_eq!((kept.name.as_str(), signing().as_str()), (HIDDEN_SECRET, "first"));
        assert_eq!((replace("second").secret.as_str(), signing().as_str()), ("second", "second"));
        let sealed: Vec<u8> =
            webhooks.write(|tx| tx.row("SELECT secret FROM webhooks", &[])).unwrap();
        assert!(!sealed.windows(6).any(|bytes| bytes == b"second"), "it is sealed");
        let refused = webhooks.db.write_blocking(|tx| {
            let hidden = input(&json!({ "secret": HIDDEN_SECRET }));
            webhook::create(tx, (&webhooks.master, now()), owner(), hidden)
        });
        assert_eq!(refused.unwrap_err().kind, ProblemKind::Invalid);
    });
}

#[test]
fn the_numbers_of_webhooks_and_filters_are_limited() {
    both(|webhooks| {
        let id = webhooks.webhook(&json!({}));
        for _ in 0..WEBHOOK_FILTERS_MAX_COUNT {
            webhooks.filter(&id, ("$type", "neq", "x"));
        }
        let filter = condition(&id, ("$type", "neq", "x"));
        let one_more = webhooks.db.write_blocking(|tx| filter::create(tx, now(), ALL, filter));
        assert_eq!(one_more.unwrap_err().kind, ProblemKind::Conflict);
        let copies = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < $1) \
                      INSERT INTO webhooks (id, name, target_url, secret, active, owner, created_ms, updated_ms) \
                      SELECT 'w-' || i, '', '', secret, 0, '', 0, 0 FROM n, webhooks";
        webhooks.write(|tx| tx.execute(copies, &[WEBHOOKS_MAX_COUNT.into()]));
        let key = (&webhooks.master, now());
        let one_more =
            webhooks.db.write_blocking(|tx| webhook::create(tx, key, owner(), input(&json!({}))));
        assert_eq!(one_more.unwrap_err().kind, ProblemKind::Conflict);
    });
}

/// Three deliveries of a webhook: one that was delivered, one that is dead and one that waits.
fn three(webhooks: &Webhooks) -> String {
    let id = webhooks.webhook(&json!({}));
    for object in ["delivered", "dead", "waiting"] {
        webhooks.announce("org.updated", object, &json!({}));
    }
    webhooks.step(now(), &[]);
    let due = webhooks.due(now(), &id);
    webhooks.ended(now(), &id, &due[0], 200);
    webhooks.ended(now(), &id, &due[1], 410);
    webhooks.set_active(&id, true);
    id
}

#[test]
fn the_log_has_pages_and_states_and_the_console_counts_what_did_not_arrive() {
    both(|webhooks| {
        let id = three(webhooks);
        let list = |state, before, limit| {
            let listed = webhooks.write(|tx| log::list(tx, (ALL, &id), state, before, limit));
            listed.into_iter().map(|delivery| delivery.object).collect::<Vec<_>>()
        };
        assert_eq!(list(None, None, 500), ["waiting", "dead", "delivered"], "the newest first");
        assert_eq!(list(None, None, 0), ["waiting"], "a page has at least one");
        let first = webhooks.log(&id)[2].id;
        assert_eq!(list(None, Some(first), 1), ["dead"]);
        for state in DeliveryState::ALL {
            assert_eq!(list(Some(state), None, 500), [state.name()]);
        }
        let listed = webhooks.write(screens::list);
        assert_eq!((listed[0].waiting_count, listed[0].dead_count), (1, 1));
        let backlog = webhooks.write(log::backlog);
        assert_eq!((backlog.waiting, backlog.oldest_waiting, backlog.dead), (1, Some(now()), 1));
        let unknown = webhooks.db.write_blocking(|tx| log::replay(tx, now(), (ALL, &id), 999_999));
        assert_eq!(unknown.unwrap_err().kind, ProblemKind::NotFound);
        let revision = || webhooks.write(queue::revision);
        let before = revision();
        assert_eq!(webhooks.write(|tx| log::replay_dead(tx, now(), (ALL, &id))), 1);
        assert!(revision() > before, "the sender looks for what waits");
        assert_eq!(webhooks.in_state(&id, DeliveryState::Waiting), ["dead", "waiting"]);
        assert_eq!(webhooks.write(|tx| log::replay_dead(tx, now(), (ALL, &id))), 0);
    });
}

#[test]
fn a_deleted_webhook_has_no_filters_and_deliveries() {
    both(|webhooks| {
        let (id, other) = (three(webhooks), webhooks.webhook(&json!({})));
        for webhook in [&id, &other] {
            webhooks.filter(webhook, ("$type", "neq", "x"));
        }
        webhooks.write(|tx| webhook::delete(tx, ALL, &id));
        let tables = ["webhooks", "webhook_filters", "webhook_deliveries"];
        assert_eq!(tables.map(|table| webhooks.count(table)), [1, 1, 0]);
        let gone = webhooks.db.write_blocking(|tx| webhook::delete(tx, ALL, &id));
        assert_eq!(gone.unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn deliveries_end_after_three_days_and_leave_the_log_a_day_or_a_month_after_their_end() {
    both(|webhooks| {
        let id = three(webhooks);
        let after = |hours: i64| -> Vec<(String, &str)> {
            let now: Timestamp = now().plus_seconds(hours * 3600);
            assert!(!webhooks.write(|tx| log::forget(tx, now)));
            let log = webhooks.log(&id).into_iter();
            log.map(|delivery| (delivery.object, delivery.state.name())).collect()
        };
        let (delivered, dead) = (("delivered".into(), "delivered"), ("dead".into(), "dead"));
        let waiting = |state| ("waiting".to_owned(), state);
        assert_eq!(after(24), [delivered, dead.clone(), waiting("waiting")]);
        assert_eq!(after(25), [dead.clone(), waiting("waiting")]);
        assert_eq!(webhooks.count("webhook_messages"), 2);
        assert_eq!(after(72), [dead.clone(), waiting("waiting")]);
        assert_eq!(after(73), [dead, waiting("dead")]);
        let expired = webhooks.log(&id)[1].error.clone();
        assert_eq!(expired, Some("the target was not reached in time".into()));
        assert_eq!(after(30 * 24 + 1), [waiting("dead")]);
        assert_eq!(after(33 * 24 + 2), []);
        assert_eq!(webhooks.count("webhook_messages"), 0);
    });
}
