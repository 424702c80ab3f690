//! The messages that owners of webhooks receive, and the webhooks that callers see.

use lyceum_access::{NewApiKey, NewPerson, Role, Scope, Scopes, api_key, client, person};
use lyceum_core::config::Environment;
use lyceum_core::{ProblemKind, Reach};
use lyceum_webhooks::log::DeliveryState;
use lyceum_webhooks::queue;
use lyceum_webhooks::webhook::{self, VisibleWebhooks};
use lyceum_webhooks::{filter, log};
use serde_json::json;

use crate::kit::{ALL, Webhooks, are_within, both, condition, input, now};

fn limit(webhooks: &Webhooks, client: &str, reach: &Reach) {
    webhooks.write(|tx| client::limit(tx, client, reach).map(drop));
}

/// The due deliveries of a webhook with the reasons why they must not be sent.
fn refusals(webhooks: &Webhooks, webhook: &str) -> Vec<(String, Option<&'static str>)> {
    let due = webhooks.due(now(), webhook);
    let pairs: Vec<_> = due.iter().map(|due| (webhook, due)).collect();
    let refused = webhooks.db.read_blocking(|tx| queue::refusals(tx, are_within, &pairs)).unwrap();
    due.iter().map(|due| (due.object.clone(), refused.get(&due.seq).copied())).collect()
}

#[test]
fn owners_with_a_limit_receive_what_lies_within_it_when_it_is_sent() {
    both(|webhooks| {
        let all = webhooks.webhook(&json!({}));
        webhooks.client("near");
        limit(webhooks, "near", &Reach::organizations(["near"]).unwrap());
        let near = webhooks.webhook_of("near", &json!({})).id;
        let change_both = || {
            for object in ["near", "far"] {
                webhooks.announce("org.updated", object, &json!({}));
            }
            webhooks.step(now(), &[]);
        };
        change_both();
        assert_eq!(webhooks.in_state(&all, DeliveryState::Waiting), ["near", "far"]);
        assert_eq!(webhooks.in_state(&near, DeliveryState::Waiting), ["near"]);

        limit(webhooks, "near", &Reach::Everything);
        change_both();
        assert_eq!(webhooks.in_state(&near, DeliveryState::Waiting), ["near", "near", "far"]);
        let is_refused = || {
            refusals(webhooks, &near).into_iter().map(|(object, reason)| (object, reason.is_some()))
        };
        let sent = |far: bool| vec![("near".to_owned(), false), ("far".to_owned(), far)];
        assert_eq!(is_refused().collect::<Vec<_>>(), sent(false));
        limit(webhooks, "near", &Reach::organizations(["near"]).unwrap());
        assert_eq!(is_refused().collect::<Vec<_>>(), sent(true));
        let reason = refusals(webhooks, &near)[1].1.unwrap();
        assert!(reason.contains("outside of the part of the roster"), "{reason}");
        webhooks.write(|tx| client::revoke(tx, now(), "near").map(drop));
        let ended = Some("the owner of the webhook no longer has access");
        assert_eq!(refusals(webhooks, &near), [("near".into(), ended), ("far".into(), ended)]);
        assert_eq!(refusals(webhooks, &all)[0].1, None);
    });
}

/// Leaves a client these scopes.
fn narrow(webhooks: &Webhooks, client: &str, scopes: &[Scope]) {
    let scopes: Scopes = scopes.iter().copied().collect();
    let sql = "UPDATE clients SET scopes = $1 WHERE id = $2";
    webhooks.write(|tx| tx.send(sql, &[scopes.to_string().as_str().into(), client.into()]));
}

#[test]
fn owners_receive_only_what_their_scopes_read_when_it_is_sent() {
    use Scope::{DemographicsRead, EventsRead, OrRosterCoreReadonly, WebhooksWrite};
    both(|webhooks| {
        let owners: [(&str, &[Scope], &[&str]); 5] = [
            ("all", &[], &["u", "d", "e"]),
            ("webhooks", &[WebhooksWrite], &[]),
            ("roster", &[WebhooksWrite, OrRosterCoreReadonly], &["u"]),
            ("demographics", &[WebhooksWrite, DemographicsRead], &["d"]),
            ("events", &[WebhooksWrite, EventsRead], &["e"]),
        ];
        let ids = owners.map(|(owner, scopes, _)| {
            webhooks.client_with(owner, scopes);
            webhooks.webhook_of(owner, &json!({})).id
        });
        webhooks.announce("user.updated", "u", &json!({}));
        webhooks.announce("demographics.updated", "d", &json!({}));
        webhooks.event("https://app.test/1", "e");
        webhooks.step(now(), &[]);
        for ((owner, _, expected), id) in owners.iter().zip(&ids) {
            assert_eq!(webhooks.in_state(id, DeliveryState::Waiting), *expected, "{owner}");
        }

        // What waits or is sent again follows the scopes that the owner has by then.
        let all = &ids[0];
        let first = &webhooks.due(now(), all)[0];
        webhooks.ended(now(), all, first, 200);
        narrow(webhooks, "all", &[WebhooksWrite, EventsRead]);
        let number = webhooks.log(all)[0].id;
        webhooks.write(|tx| log::replay(tx, now(), (ALL, all), number).map(drop));
        let unreadable = Some("the webhook's owner has no scope that reads the object");
        let expected = [("u", unreadable), ("d", unreadable), ("e", None)];
        let expected = expected.map(|(object, reason)| (object.to_owned(), reason));
        assert_eq!(refusals(webhooks, all), expected);
    });
}

#[test]
fn webhooks_of_revoked_clients_disabled_people_and_revoked_keys_receive_nothing() {
    both(|webhooks| {
        webhooks.client("app");
        let (eve, second) = webhooks.write(|tx| {
            let mut ids = Vec::new();
            for name in ["ada", "eve"] {
                let new = NewPerson {
                    email: format!("{name}@example.org"),
                    name: name.to_owned(),
                    role: Role::Administrator,
                    password: None,
                };
                ids.push(person::create(tx, now(), &new)?.id);
            }
            let new = NewApiKey {
                name: "second".to_owned(),
                role: Role::Administrator,
                project: None,
                maker: None,
            };
            let key = api_key::create(tx, now(), Environment::Staging, &new)?.0;
            Ok((ids.pop().unwrap(), key.id))
        });
        let ids = ["owner", "app", &eve, &second, "gone"]
            .map(|owner| webhooks.webhook_of(owner, &json!({})).id);
        let receive = || {
            webhooks.announce("org.updated", "a", &json!({}));
            let receivers = webhooks.step(now(), &[]).receivers;
            ids.each_ref().map(|id| receivers.contains(id))
        };
        assert_eq!(receive(), [true, true, true, true, false]);
        webhooks.write(|tx| {
            client::revoke(tx, now(), "app")?;
            person::disable(tx, now(), "eve@example.org")?;
            api_key::revoke(tx, now(), "second").map(drop)
        });
        assert_eq!(receive(), [true, false, false, false, false]);
    });
}

#[test]
fn callers_see_and_change_only_their_own_webhooks() {
    both(|webhooks| {
        webhooks.client("other");
        let own = webhooks.webhook(&json!({ "name": "Own", "sensor": "https://app.test/1" }));
        let foreign = webhooks.webhook_of("other", &json!({})).id;
        let own_filter = webhooks.filter(&own, ("$type", "eq", "org.updated"));
        let foreign_filter = webhooks.filter(&foreign, ("$type", "eq", "org.updated"));
        webhooks.announce("org.updated", "a", &json!({}));
        webhooks.step(now(), &[]);
        let number = webhooks.log(&foreign)[0].id;
        let visible = &VisibleWebhooks::Of("owner".to_owned());
        let listed = |visible: &VisibleWebhooks, sensor: Option<&str>| {
            let listed = webhooks.write(|tx| webhook::list(tx, visible, sensor));
            listed.into_iter().map(|webhook| webhook.id).collect::<Vec<_>>()
        };
        assert_eq!(listed(visible, None), [own.as_str()]);
        assert_eq!(listed(ALL, None), [own.as_str(), &foreign]);
        assert_eq!(listed(ALL, Some("https://app.test/1")), [own.as_str()]);
        let filters = |visible: &VisibleWebhooks| {
            let listed = webhooks.write(|tx| filter::list(tx, visible));
            listed.into_iter().map(|filter| filter.id).collect::<Vec<_>>()
        };
        assert_eq!(filters(visible), [own_filter.as_str()]);
        assert_eq!(filters(ALL), [own_filter.as_str(), &foreign_filter]);

        let before = (webhooks.log(&foreign), filters(ALL));
        let (id, of_foreign) = (foreign.as_str(), foreign_filter.as_str());
        let values = || condition(id, ("$type", "eq", "x"));
        let master = (&webhooks.master, now());
        let result = webhooks.db.write_blocking(|tx| {
            let refusals = [
                webhook::find(tx, visible, id).map(drop),
                webhook::replace(tx, master, (visible, id), input(&json!({}))).map(drop),
                webhook::set_active(tx, now(), (visible, id), false).map(drop),
                webhook::delete(tx, visible, id),
                log::list(tx, (visible, id), None, None, 10).map(drop),
                log::replay(tx, now(), (visible, id), number).map(drop),
                log::replay_dead(tx, now(), (visible, id)).map(drop),
                filter::of_webhook(tx, visible, id).map(drop),
                filter::find(tx, visible, of_foreign).map(drop),
                filter::replace(tx, now(), (visible, of_foreign), values()).map(drop),
                filter::delete(tx, visible, of_foreign),
            ];
            let kinds = refusals.map(|refused| refused.unwrap_err().kind);
            assert!(kinds.iter().all(|kind| *kind == ProblemKind::NotFound), "{kinds:?}");
            // No filter is put on the webhook of another owner.
            let created = filter::create(tx, now(), visible, values()).unwrap_err();
            let moved = filter::replace(tx, now(), (visible, &own_filter), values()).unwrap_err();
            assert_eq!([created.kind, moved.kind], [ProblemKind::Invalid; 2]);
            Ok(())
        });
        result.unwrap();
        assert_eq!((webhooks.log(&foreign), filters(ALL)), before);
        assert_eq!(listed(ALL, None).len(), 2);
    });
}
