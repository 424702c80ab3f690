//! The webhooks that a change reaches: sensors, filters, and changes that are not written at all.

use lyceum_webhooks::limits::{WEBHOOK_BATCH_MAX_RECORDS, WEBHOOK_TOPIC_SENSORS_MAX_COUNT};
use lyceum_webhooks::{filter, topics, webhook};
use serde_json::{Value, json};

use crate::kit::{ALL, Webhooks, both, condition, now};

/// The names of the webhooks that get a delivery in the next step, in order.
fn receivers(webhooks: &Webhooks) -> Vec<String> {
    let ids = webhooks.step(now(), &[]).receivers;
    let name = |id: &String| webhooks.write(|tx| webhook::find(tx, ALL, id)).name;
    let mut names: Vec<String> = ids.iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn a_change_reaches_the_webhooks_whose_sensor_and_filters_all_agree() {
    both(|webhooks| {
        let named = |name: &str, more: Value| {
            let mut changes = json!({ "name": name });
            changes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            webhooks.webhook(&changes)
        };
        named("all", json!({ "sensor": "" }));
        named("inactive", json!({ "active": false }));
        let north = named("north", json!({}));
        webhooks.filter(&north, ("$type", "startsWith", "org."));
        webhooks.filter(&north, ("name", "regexp", "^North"));
        webhooks.filter(&north, ("name", "endsWith", "School"));
        let off = webhooks.filter(&north, ("name", "eq", "never"));
        webhooks.write(|tx| {
            let mut values = condition(&north, ("name", "eq", "never"));
            values.active = false;
            filter::replace(tx, now(), (ALL, &off), values)
        });
        let users = named("users", json!({}));
        webhooks.filter(&users, ("$type", "in", "user.created,user.updated"));
        named("one", json!({ "sensor": "https://app.test/one" }));
        let no_events = named("no events", json!({ "sensor": "https://app.test/one" }));
        webhooks.filter(&no_events, ("$type", "eq", "user.created"));

        for (topic, data, expected) in [
            ("org.created", json!({ "name": "North School" }), vec!["all", "north"]),
            ("org.created", json!({ "name": "South School" }), vec!["all"]),
            ("org.created", json!({ "name": "North Pole" }), vec!["all"]),
            ("user.created", json!({ "name": "North" }), vec!["all", "users"]),
            ("user.deleted", json!({ "name": "North" }), vec!["all"]),
        ] {
            webhooks.announce(topic, "x", &data);
            assert_eq!(receivers(webhooks), expected, "{topic} {data}");
        }
        for (sensor, expected) in
            [("https://app.test/one", vec!["all", "one"]), ("https://app.test/two", vec!["all"])]
        {
            webhooks.event(sensor, "e");
            assert_eq!(receivers(webhooks), expected, "{sensor}");
        }
    });
}

#[test]
fn a_message_has_its_id_topic_time_object_and_the_data_as_it_was_written() {
    both(|webhooks| {
        let id = webhooks.webhook(&json!({}));
        webhooks.announce("org.created", "a \"b\"", &json!({ "z": 1, "a": [null] }));
        webhooks.event("https://app.test/one", "e");
        webhooks.step(now(), &[]);
        let due = webhooks.due(now(), &id);
        let message = &due[0].message;
        assert!(message.starts_with("msg_") && *message != due[1].message);
        let expected = format!(
            r#"{{"id":"{message}","type":"org.created","timestamp":"2026-03-14T12:00:00.000Z","object":"a \"b\"","sensor":null,"data":{}}}"#,
            json!({ "z": 1, "a": [null] })
        );
        assert_eq!(due[0].body, expected);
        let event: Value = serde_json::from_str(&due[1].body).unwrap();
        assert_eq!(event["sensor"], "https://app.test/one");
    });
}

#[test]
fn only_changes_that_an_active_webhook_wants_are_written() {
    both(|webhooks| {
        let written = |topic: &str| {
            webhooks.announce(topic, "x", &json!({}));
            webhooks.write(|tx| tx.execute("DELETE FROM outbox", &[])) == 1
        };
        let is_written =
            |topic: &str, expected: bool| assert_eq!(written(topic), expected, "{topic}");
        is_written("org.created", false);
        let first = webhooks.webhook(&json!({}));
        is_written("org.created", true);
        let filter = webhooks.filter(&first, ("$type", "eq", "org.updated"));
        for (topic, expected) in
            [("org.created", false), ("org.updated", true), ("no.topic", false)]
        {
            is_written(topic, expected);
        }
        webhooks.set_active(&first, false);
        is_written("org.updated", false);
        webhooks.set_active(&first, true);
        is_written("org.updated", true);
        webhooks.write(|tx| filter::delete(tx, ALL, &filter));
        is_written("org.created", true);
        webhooks.write(|tx| webhook::delete(tx, ALL, &first));
        is_written("org.created", false);
    });
}

#[test]
fn events_of_other_sensors_are_written_only_for_many_sensors() {
    both(|webhooks| {
        let wants_other = || {
            webhooks.event("https://app.test/other", "e");
            webhooks.write(|tx| tx.execute("DELETE FROM outbox", &[])) == 1
        };
        for number in 0..WEBHOOK_TOPIC_SENSORS_MAX_COUNT {
            webhooks.webhook(&json!({ "sensor": format!("https://app.test/{number}") }));
        }
        assert!(!wants_other());
        webhooks.event("https://app.test/3", "e");
        assert_eq!(webhooks.step(now(), &[]).receivers.len(), 1);
        webhooks.webhook(&json!({ "sensor": "https://app.test/last" }));
        assert!(wants_other());
    });
}

#[test]
fn a_step_takes_a_limited_number_of_changes_and_each_once() {
    both(|webhooks| {
        let id = webhooks.webhook(&json!({}));
        let count = WEBHOOK_BATCH_MAX_RECORDS + 1;
        webhooks.write(|tx| {
            (0..count).try_for_each(|number| {
                let object = number.to_string();
                let data = || Ok("{}".into());
                lyceum_store::outbox::announce(tx, "org.created", &object, now(), data)
            })
        });
        let more: Vec<bool> = (0..3).map(|_| webhooks.step(now(), &[]).has_more).collect();
        assert_eq!(more, [true, false, false]);
        assert_eq!((webhooks.count("webhook_deliveries"), webhooks.count("outbox")), (count, 0));
        let first: Vec<String> =
            webhooks.due(now(), &id).into_iter().map(|due| due.object).collect();
        assert_eq!(first, (0..16).map(|number| number.to_string()).collect::<Vec<_>>());
    });
}

#[test]
fn the_guide_has_every_topic() {
    let guide = include_str!("../../../../docs/guides/integrators.md");
    for group in topics::TOPICS.iter().filter(|group| group.actions.len() != 3) {
        let names: Vec<String> =
            group.actions.iter().map(|action| format!("`{}.{action}`", group.subject)).collect();
        let row = format!("| {} | {} | {} |", names.join(", "), group.object, group.data);
        assert!(guide.contains(&row), "{row}");
    }
    for group in topics::TOPICS.iter().filter(|group| group.actions.len() == 3) {
        assert!(guide.contains(&format!("`{}`", group.subject)), "{}", group.subject);
    }
}
