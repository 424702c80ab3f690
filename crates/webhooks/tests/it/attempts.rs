//! The consequences of an attempt's outcome: repetitions in order, the end, and who sends.

use lyceum_core::message;
use lyceum_core::time::Timestamp;
use lyceum_webhooks::limits::WEBHOOK_SENDER_LEASE_S;
use lyceum_webhooks::log::{self, DeliveryState};
use lyceum_webhooks::queue::{self, AttemptOutcome};
use lyceum_webhooks::registry::Registry;
use lyceum_webhooks::schedule::RETRY_DELAYS_S;
use lyceum_webhooks::webhook;
use serde_json::json;

use crate::kit::{ALL, SENDER, Webhooks, are_within, both, now, outcome};

/// The objects and versions that are due.
fn due(webhooks: &Webhooks, now: Timestamp, webhook: &str) -> Vec<(String, i64)> {
    let version = |body: &str| {
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        body["data"]["version"].as_i64().unwrap()
    };
    let due = webhooks.due(now, webhook).into_iter();
    due.map(|due| (due.object, version(&due.body))).collect()
}

#[test]
fn a_failed_delivery_is_repeated_until_it_is_dead_and_blocks_only_its_object() {
    both(|webhooks| {
        let id = webhooks.webhook(&json!({}));
        for (object, version) in [("bad", 1), ("bad", 2), ("good", 1)] {
            webhooks.announce("org.updated", object, &json!({ "version": version }));
        }
        webhooks.step(now(), &[]);
        assert_eq!(due(webhooks, now(), &id), [("bad".into(), 1), ("good".into(), 1)]);
        let first = webhooks.due(now(), &id)[0].clone();
        webhooks.ended(now(), &id, &webhooks.due(now(), &id)[1], 204);
        let mut at = now();
        for (number, delay_s) in (0..).zip(RETRY_DELAYS_S) {
            let attempt = webhooks.due(at, &id).remove(0);
            assert_eq!((attempt.attempts, &attempt.message), (number, &first.message));
            webhooks.ended(at, &id, &attempt, 500);
            let waits = &webhooks.log(&id)[0];
            assert_eq!(
                (waits.state, waits.attempts, waits.status, waits.error.clone()),
                (
                    DeliveryState::Waiting,
                    number + 1,
                    Some(500),
                    Some(message!("the target answered {status}", status = 500))
                )
            );
            let next = at.plus_seconds(delay_s);
            assert_eq!((waits.due_at, waits.ended_at), (next, None));
            let before = Timestamp::from_milliseconds(next.milliseconds() - 1);
            assert_eq!(due(webhooks, before, &id), [], "nothing overtakes it before its time");
            let told = webhooks.db.read_blocking(|tx| queue::next_due(tx, &id)).unwrap();
            assert_eq!(told, Some(next));
            at = next;
        }
        webhooks.ended(at, &id, &webhooks.due(at, &id)[0], 500);
        let dead = &webhooks.log(&id)[0];
        assert_eq!((dead.state, dead.attempts, dead.ended_at), (DeliveryState::Dead, 8, Some(at)));
        // Now the next change of the object is sent, and the dead one stays until somebody replays it.
        assert_eq!(due(webhooks, at, &id), [("bad".into(), 2)]);
        webhooks.ended(at, &id, &webhooks.due(at, &id)[0], 200);
        assert_eq!(due(webhooks, at.plus_seconds(100_000), &id), []);
        webhooks.write(|tx| log::replay(tx, at, (ALL, &id), dead.id).map(drop));
        let replayed = webhooks.due(at, &id).remove(0);
        assert_eq!((replayed.attempts, &replayed.body), (0, &first.body), "the same message");
        webhooks.ended(at, &id, &replayed, 200);
        assert_eq!(webhooks.in_state(&id, DeliveryState::Delivered), ["bad", "bad", "good"]);
    });
}

#[test]
fn a_target_that_is_gone_gets_nothing_more_until_its_webhook_is_activated() {
    both(|webhooks| {
        let id = webhooks.webhook(&json!({}));
        let waits = || webhooks.db.read_blocking(queue::waiting).unwrap();
        for object in ["a", "b"] {
            webhooks.announce("org.updated", object, &json!({}));
        }
        webhooks.step(now(), &[]);
        assert_eq!(waits(), [id.as_str()]);
        webhooks.ended(now(), &id, &webhooks.due(now(), &id)[0], 410);
        assert_eq!(webhooks.in_state(&id, DeliveryState::Dead), ["a"]);
        assert!(!webhooks.write(|tx| webhook::find(tx, ALL, &id)).active);
        webhooks.announce("org.updated", "c", &json!({}));
        assert!(webhooks.step(now(), &[]).registry.is_empty(), "the sender knows of it");
        let target = || webhooks.db.read_blocking(|tx| queue::target(tx, &webhooks.master, &id));
        assert!(target().unwrap().is_none() && waits().is_empty());
        assert!(!webhooks.db.read_blocking(queue::has_work).unwrap());
        webhooks.set_active(&id, true);
        assert!(target().unwrap().is_some() && webhooks.db.read_blocking(queue::has_work).unwrap());
        assert_eq!(
            (waits(), webhooks.in_state(&id, DeliveryState::Waiting)),
            (vec![id.clone()], vec!["b".into()])
        );
    });
}

#[test]
fn a_refused_delivery_is_dead_without_an_attempt() {
    both(|webhooks| {
        let id = webhooks.webhook(&json!({}));
        webhooks.announce("org.updated", "a", &json!({}));
        webhooks.step(now(), &[]);
        let due = webhooks.due(now(), &id).remove(0);
        let error = Some("the owner has no access".into());
        let refused =
            AttemptOutcome { status: None, error, is_refused: true, ..outcome(&id, &due, 500) };
        webhooks.step(now(), &[refused]);
        let dead = webhooks.log(&id).remove(0);
        assert_eq!((dead.state, dead.attempts, dead.status), (DeliveryState::Dead, 0, None));
        assert_eq!(dead.error, Some("the owner has no access".into()));
    });
}

#[test]
fn the_outcome_of_an_attempt_counts_once_and_not_after_a_replay() {
    both(|webhooks| {
        let id = webhooks.webhook(&json!({}));
        webhooks.announce("org.updated", "a", &json!({}));
        webhooks.step(now(), &[]);
        let due = webhooks.due(now(), &id).remove(0);
        webhooks.ended(now(), &id, &due, 500);
        let second = webhooks.due(now().plus_seconds(10), &id).remove(0);
        for outcome_of in [&second, &second, &due] {
            webhooks.ended(now().plus_seconds(10), &id, outcome_of, 500);
            assert_eq!(webhooks.log(&id)[0].attempts, 2);
        }
        let later = now().plus_seconds(60);
        let late = outcome(&id, &webhooks.due(later, &id)[0], 500);
        webhooks.write(|tx| log::replay(tx, later, (ALL, &id), due.seq).map(drop));
        webhooks.step(later, &[late]);
        assert_eq!((webhooks.log(&id)[0].attempts, webhooks.log(&id)[0].status), (0, None));
    });
}

#[test]
fn one_server_has_the_turn_until_it_releases_it_or_the_lease_ends_by_the_databases_clock() {
    both(|webhooks| {
        let id = webhooks.webhook(&json!({}));
        let takes = |holder: &str| {
            let may = webhooks.db.read_blocking(|tx| queue::may_become_sender(tx, holder)).unwrap();
            assert_eq!(webhooks.write(|tx| queue::become_sender(tx, holder)), may);
            let is = webhooks.db.read_blocking(|tx| queue::is_sender(tx, holder)).unwrap();
            assert_eq!(is, may);
            may
        };
        let pass_s = |seconds: i64| {
            let sql = "UPDATE webhook_sender SET until_ms = until_ms - $1";
            webhooks.write(|tx| tx.send(sql, &[(seconds * 1000).into()]));
        };
        assert!(takes("died") && takes("died") && !takes("other"));
        pass_s(WEBHOOK_SENDER_LEASE_S - 5);
        assert!(!takes("other"), "the turn has not ended");
        pass_s(5);
        assert!(takes("other") && !takes("died"));
        webhooks.write(|tx| queue::release(tx, "died"));
        assert!(!takes("died"), "it has no turn to give back");
        webhooks.write(|tx| queue::release(tx, "other"));
        assert!(takes(SENDER));
        // A server without the turn changes nothing.
        webhooks.announce("org.updated", "a", &json!({}));
        let step = |holder: &str| {
            let known = std::sync::Arc::new(Registry::default());
            webhooks.write(|tx| queue::step(tx, (now(), holder), &known, are_within, &[]))
        };
        assert!(step("other").is_none() && webhooks.log(&id).is_empty());
        assert_eq!(step(SENDER).unwrap().receivers, [id.as_str()]);
    });
}
