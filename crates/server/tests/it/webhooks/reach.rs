//! The owner of a webhook receives changes of what the owner has access to at this moment, and a caller with a limit sees
//! no webhooks of others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_access::{NewApiKey, Role, Scope, api_key, person};
use lyceum_core::random::RandomStream;
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_core::{PayloadDialect, Reach};
use lyceum_roster::kinds;
use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testkit::random_roster::{move_organization, populate, reach};
use lyceum_testkit::records;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::receiver::{ReceivedMessage, Receiver};
use lyceum_testserver::server::{TestServer, both_as};
use serde_json::{Value, json};

use super::{
    PATIENCE, ROSTERING, areas, create, filter, limit, log, put_org, register, setup, wait_for_log,
    wait_until_all_is_sent,
};
use crate::limited::{FAR, NEAR, plant};
use crate::people::let_in;
use crate::{lessons, projects};

/// Lets the server send nothing (`is_held`), or send again. What changes meanwhile stays in the outbox.
fn hold(server: &TestServer, is_held: bool) {
    let (holder, until) = if is_held { ("test", i64::MAX) } else { ("", 0) };
    let sql = "UPDATE webhook_sender SET holder = $1, until_ms = $2";
    // The sender changes the same row.
    let held = || server.db().write_blocking(|tx| tx.send(sql, &[holder.into(), until.into()]));
    while held().is_err() {}
}

/// Changes every record.
fn change_all(server: &TestServer, round: usize) {
    let whole = WholeRoster::read(server.db());
    for kind in kinds::ALL {
        for id in whole.seen(kind.one, &Reach::Everything) {
            let changes = json!({ "metadata": { "round": round } });
            records::patch(server.db(), kind.path, &id, &changes).unwrap();
        }
    }
}

/// Whether the naive rule lets the reach see the record that the message is about.
fn sees(whole: &WholeRoster, reach: &Reach, message: &ReceivedMessage) -> bool {
    let body = message.json();
    let kind = body["type"].as_str().unwrap().split('.').next().unwrap();
    let record = whole.record(kind, body["object"].as_str().unwrap());
    record.is_some_and(|record| whole.sees(reach, kind, record))
}

#[test]
fn the_deliveries_of_each_webhook_agree_with_a_naive_filter() {
    both_as(&setup(), |server| {
        let mut random = RandomStream::seeded(11);
        let receiver = Receiver::start(|_| 200);
        let all = server.client();
        create(&all, &receiver.url("/all"), &json!({}));
        let owners: Vec<String> = (0..6)
            .map(|number| {
                let (id, client) = register(server);
                create(&client, &receiver.url(&format!("/{number}")), &json!({}));
                id
            })
            .collect();
        let mut known = 0;
        for round in 0..3 {
            hold(server, true);
            if round == 0 {
                populate(server.db(), &mut random);
            } else {
                change_all(server, round);
                for _ in 0..4 {
                    move_organization(server.db(), &mut random);
                }
                all.delete(&format!("{ROSTERING}/enrollments/e-{round}-1")).expect(204);
                all.delete(&format!("{ROSTERING}/enrollments/e-{round}-0")).expect(204);
            }
            let reaches: Vec<Reach> = owners.iter().map(|_| reach(&mut random)).collect();
            for (owner, reach) in owners.iter().zip(&reaches) {
                limit(server, owner, reach);
            }
            hold(server, false);
            wait_until_all_is_sent(server);
            let messages = receiver.messages().split_off(known);
            known += messages.len();
            let ids = |path: &str, is_due: &dyn Fn(&ReceivedMessage) -> bool| {
                let of_path = messages.iter().filter(|one| one.path == path && is_due(one));
                of_path.map(|message| message.id.clone()).collect::<BTreeSet<_>>()
            };
            let whole = WholeRoster::read(server.db());
            let count = ids("/all", &|_| true).len();
            assert!(count > 100, "{count} messages");
            for (number, reach) in reaches.iter().enumerate() {
                let expected = ids("/all", &|message| sees(&whole, reach, message));
                assert_eq!(ids(&format!("/{number}"), &|_| true), expected, "{round} {reach:?}");
                assert!(
                    !expected.is_empty() && expected.len() < count,
                    "{reach:?}: {} of {count}",
                    expected.len()
                );
            }
        }
    });
}

#[test]
fn waiting_deliveries_use_the_current_reach() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let mut setup = setup();
    setup.clock = clock.clone();
    both_as(&setup, |server| {
        let receiver = Receiver::start(|_| 500);
        let all = server.client();
        let (owner, client) = register(server);
        let webhook = create(&client, &receiver.url("/"), &json!({}));
        let arrived = |object: &str| {
            let messages = receiver.messages().into_iter();
            messages.filter(|message| message.json()["object"] == object).count()
        };
        put_org(&all, "near", "Near");
        put_org(&all, "far", "Far");
        receiver.wait_for(2, PATIENCE);
        while log(&all, &webhook, "waiting").iter().any(|one| one["attempts"] != 1) {
            sleep(Duration::from_millis(20));
        }
        limit(server, &owner, &Reach::organizations(["near"]).unwrap());
        server.restart();
        clock.advance_milliseconds(10_000);
        let dead = wait_for_log(&all, &webhook, "dead", 1);
        assert_eq!((&dead[0]["object"], &dead[0]["attempts"]), (&json!("far"), &json!(1)));
        let outside = "outside of the part of the roster";
        assert!(dead[0]["error"].as_str().unwrap().contains(outside), "{dead:?}");
        receiver.wait_for(3, PATIENCE);
        assert_eq!((arrived("near"), arrived("far")), (2, 1));
    });
}

#[test]
fn webhooks_belong_to_the_person_or_key_that_creates_them() {
    both_as(&setup(), |server| {
        let receiver = Receiver::start(|_| 200);
        let all = server.client();
        create(&all, &receiver.url("/all"), &json!({}));
        let ada = let_in(server, "ada@example.org", Role::Administrator);
        let eve = let_in(server, "eve@example.org", Role::Administrator);
        let (name, role) = ("key".to_owned(), Role::Administrator);
        let new = NewApiKey { name, role, project: None, maker: None };
        let (now, environment) = (server.setup().clock.now(), server.setup().config.server.env);
        let key = server.db().write_blocking(|tx| api_key::create(tx, now, environment, &new));
        let key = server.anonymous().with_token(key.unwrap().1);
        for (client, path) in [(&ada, "/ada"), (&eve, "/eve"), (&key, "/key")] {
            create(client, &receiver.url(path), &json!({}));
        }
        put_org(&all, "a", "A");
        wait_until_all_is_sent(server);
        let end = server.db().write_blocking(|tx| {
            person::disable(tx, now, "eve@example.org")?;
            api_key::revoke(tx, now, "key").map(drop)
        });
        end.unwrap();
        put_org(&all, "a", "A 2");
        wait_until_all_is_sent(server);
        let mut paths: Vec<_> = receiver.messages().into_iter().map(|one| one.path).collect();
        paths.sort();
        assert_eq!(paths, ["/ada", "/ada", "/all", "/all", "/eve", "/key"]);
    });
}

/// Waits until a message of the type about the object arrived at a path.
fn wait_for(receiver: &Receiver, path: &str, (topic, object): (&str, &str)) {
    let since = Instant::now();
    let is_meant = |message: &ReceivedMessage| {
        let body = message.json();
        message.path == path && body["type"] == topic && body["object"] == object
    };
    while !receiver.messages().iter().any(is_meant) {
        assert!(since.elapsed() < PATIENCE, "no {topic} of {object} at {path}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn only_webhooks_that_see_the_person_get_events_badges_attempts_and_erasures() {
    both_as(&setup(), |server| {
        let receiver = Receiver::start(|_| 200);
        let all = server.client();
        create(&all, &receiver.url("/all"), &json!({}));
        let (owner, client) = register(server);
        create(&client, &receiver.url("/near"), &json!({}));
        let (of_school, client) = register(server);
        create(&client, &receiver.url("/school"), &json!({}));
        limit(server, &of_school, &Reach::organizations(["s"]).unwrap());
        limit(server, &owner, &Reach::organizations([format!("{NEAR}-district")]).unwrap());
        plant(server);
        let listed = |path: &str| {
            let messages = receiver.messages().into_iter().filter(|one| one.path == path);
            let topic =
                |message: ReceivedMessage| message.json()["type"].as_str().unwrap().to_owned();
            messages.map(topic).collect::<BTreeSet<_>>()
        };
        wait_until_all_is_sent(server);
        let text = |path: &str| {
            let messages = receiver.messages().into_iter().filter(|one| one.path == path);
            // Everybody sees terms.
            let others = messages.filter(|message| !message.text.contains("academicSession."));
            others.map(|message| message.text).collect::<String>()
        };
        for topic in ["badge.issued", "caliper.event", "user.created", "class.created"] {
            assert!(listed("/near").contains(topic), "{topic}");
        }
        assert!(text("/all").contains(FAR));
        assert!(text("/near").contains(NEAR) && !text("/near").contains(FAR));
        // Of an erased person, only the pseudonym is left in the roster.
        let erase = server.client_with(&[Scope::PeopleManage], PayloadDialect::Platform);
        for word in [FAR, NEAR] {
            erase.post(&format!("/api/people/{word}-bob/erase")).expect(202);
            wait_for(&receiver, "/all", ("user.erased", &format!("{word}-bob")));
        }
        wait_for(&receiver, "/near", ("user.erased", &format!("{NEAR}-bob")));
        wait_until_all_is_sent(server);
        assert!(!text("/near").contains(FAR));
        // Another school has an attempt, and a deployment belongs to no organization.
        lessons::course(&all);
        areas::complete_a_lesson(&all);
        projects::deploy_called(&all, "Rivers", "one");
        wait_for(&receiver, "/all", ("deployment.created", "rivers"));
        wait_for(&receiver, "/all", ("attempt.completed", "amy/steps/1"));
        wait_for(&receiver, "/school", ("attempt.completed", "amy/steps/1"));
        wait_until_all_is_sent(server);
        assert!(!listed("/near").contains("attempt.completed"));
        for path in ["/near", "/school"] {
            assert!(!listed(path).contains("deployment.created"), "{path}");
        }
        assert!(!listed("/school").contains("badge.issued"));
    });
}

#[test]
fn a_client_with_the_scopes_of_webhooks_alone_receives_and_leads_elsewhere_no_data() {
    both_as(&setup(), |server| {
        let receiver = Receiver::start(|_| 200);
        let all = server.client();
        let scopes = [Scope::WebhooksRead, Scope::WebhooksWrite];
        let own = server.client_with(&scopes, PayloadDialect::Platform);
        let foreign = create(&all, &receiver.url("/all"), &json!({}));
        let webhook = create(&own, &receiver.url("/own"), &json!({}));
        put_org(&all, "near", "Near");
        wait_for_log(&all, &foreign, "delivered", 1);
        // Another target for the webhook of an owner who reads everything would receive it.
        let target = json!({ "name": "New", "targetUrl": receiver.url("/own"), "secret": "********", "active": true });
        own.put(&format!("/webhooks/{foreign}")).json(&target).expect(404);
        let listed: Value = own.get("/webhooks").expect(200).json();
        assert_eq!(listed["webhooks"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(listed["webhooks"][0]["id"], webhook.as_str());
        put_org(&all, "near", "Near 2");
        wait_for_log(&all, &foreign, "delivered", 2);
        wait_until_all_is_sent(server);
        assert!(receiver.messages().iter().all(|message| message.path == "/all"));
        assert!(
            log(&all, &webhook, "waiting").is_empty() && log(&all, &webhook, "dead").is_empty()
        );
    });
}

#[test]
fn limited_callers_manage_their_own_webhooks() {
    both_as(&setup(), |server| {
        let receiver = Receiver::start(|_| 200);
        let all = server.client();
        put_org(&all, "near", "Near");
        let (owner, own) = register(server);
        limit(server, &owner, &Reach::organizations(["near"]).unwrap());
        let foreign = create(&all, &receiver.url("/foreign"), &json!({}));
        let foreign_filter = filter(&all, &foreign, ("$type", "eq", "org.updated"));
        let webhook = create(&own, &receiver.url("/own"), &json!({}));
        let own_filter = filter(&own, &webhook, ("$type", "eq", "org.updated"));
        put_org(&all, "near", "Near 2");
        wait_for_log(&all, &webhook, "delivered", 1);
        wait_for_log(&all, &foreign, "delivered", 1);

        let ids = |client: &TestClient, path: &str, key: &str| {
            let list: Value = client.get(path).expect(200).json();
            let ids = list[key].as_array().unwrap().iter();
            ids.map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&own, "/webhooks", "webhooks"), std::slice::from_ref(&webhook));
        assert_eq!(ids(&own, "/webhook-filters", "filters"), std::slice::from_ref(&own_filter));
        assert_eq!(ids(&all, "/webhooks", "webhooks"), [foreign.clone(), webhook.clone()]);
        assert_eq!(ids(&all, "/webhook-filters", "filters").len(), 2);

        let delivery = |id: &str| log(&all, id, "delivered")[0]["id"].as_i64().unwrap();
        let values = json!({ "name": "New", "targetUrl": receiver.url("/own"), "secret": "********", "active": true });
        let condition = |webhook: &str| {
            json!({ "webhookId": webhook, "filterKey": "$type", "filterOperator": "eq",
                "filterValue": "org.created", "filterType": "string", "active": true })
        };
        let statuses = |id: &str, filter: &str| {
            let path = format!("/webhooks/{id}");
            let of_filter = format!("/webhook-filters/{filter}");
            let number = delivery(id);
            vec![
                own.get(&path).send().status,
                own.put(&path).json(&values).send().status,
                own.put(&format!("{path}/deactivate")).send().status,
                own.put(&format!("{path}/activate")).send().status,
                own.get(&format!("{path}/deliveries")).send().status,
                own.post(&format!("{path}/deliveries/replay")).send().status,
                own.post(&format!("{path}/deliveries/{number}/replay")).send().status,
                own.get(&format!("/webhook-filters/webhook/{id}")).send().status,
                own.get(&of_filter).send().status,
                own.put(&of_filter).json(&condition(id)).send().status,
                own.delete(&of_filter).send().status,
                own.delete(&path).send().status,
            ]
        };
        assert_eq!(statuses(&foreign, &foreign_filter), [404; 12]);
        own.post("/webhook-filters").json(&condition(&foreign)).expect(422);
        let moved = own.put(&format!("/webhook-filters/{own_filter}"));
        moved.json(&condition(&foreign)).expect(422);
        assert!(statuses(&webhook, &own_filter).iter().all(|status| *status == 200));
    });
}
