//! Targets that fail: repetitions, dead letters, replays, and addresses that webhooks must not reach.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use lyceum_access::Player;
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_testserver::receiver::Receiver;
use lyceum_testserver::server::{Setup, both_as};
use lyceum_webhooks::schedule::RETRY_DELAYS_S;
use serde_json::{Value, json};

use super::{PATIENCE, create, log, put_org, setup, wait_for_log};

#[test]
fn a_failed_delivery_is_repeated_until_it_is_dead_and_can_be_replayed() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let mut setup = setup();
    setup.clock = clock.clone();
    both_as(&setup, |server| {
        let status = Arc::new(AtomicU16::new(500));
        let answering = Arc::clone(&status);
        let receiver = Receiver::start(move |message| {
            if message.json()["object"] == "good" { 204 } else { answering.load(Ordering::SeqCst) }
        });
        let client = server.client();
        let webhook = create(&client, &receiver.url("/hook"), &json!({}));
        put_org(&client, "bad", "first");
        put_org(&client, "bad", "second");
        put_org(&client, "good", "other");
        // The first change of the object fails, and the second waits behind it. Other objects go on.
        wait_for_log(&client, &webhook, "delivered", 1);
        let attempts = |count: usize| {
            let client = server.client(); // Tokens expire while the clock moves on.
            let since = std::time::Instant::now();
            loop {
                let waiting =
                    [log(&client, &webhook, "waiting"), log(&client, &webhook, "dead")].concat();
                let first = waiting.last().unwrap();
                if first["attempts"] == count {
                    return first.clone();
                }
                assert!(since.elapsed() < PATIENCE, "attempt {count}: {waiting:?}");
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        };
        let first = attempts(1);
        assert_eq!(
            (&first["status"], &first["error"]),
            (&json!(500), &json!("the target answered 500"))
        );
        for (number, delay_s) in RETRY_DELAYS_S.into_iter().enumerate() {
            // Before its time nothing is sent.
            clock.advance_milliseconds(delay_s * 1000 * 85 / 100);
            std::thread::sleep(std::time::Duration::from_millis(400));
            assert_eq!(attempts(number + 1)["attempts"], number + 1);
            clock.advance_milliseconds(delay_s * 1000 * 30 / 100);
            attempts(number + 2);
        }
        let client = server.client();
        let dead = wait_for_log(&client, &webhook, "dead", 1);
        assert_eq!(dead[0]["attempts"], 8);
        let sent: Vec<_> = receiver.messages();
        let of_bad: Vec<_> =
            sent.iter().filter(|message| message.json()["object"] == "bad").collect();
        let first: Vec<_> =
            of_bad.iter().filter(|message| message.json()["data"]["name"] == "first").collect();
        assert_eq!(first.len(), 8);
        assert!(
            first.iter().all(|message| message.id == first[0].id),
            "a repetition has the same id"
        );
        // Now the second change is sent, which fails once. The dead one stays until somebody replays it.
        let since = std::time::Instant::now();
        while log(&client, &webhook, "waiting")[0]["attempts"] != 1 {
            assert!(since.elapsed() < PATIENCE);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        status.store(200, Ordering::SeqCst);
        clock.advance_milliseconds(10_000);
        wait_for_log(&client, &webhook, "delivered", 2);
        assert_eq!(log(&client, &webhook, "dead").len(), 1);
        let id = dead[0]["id"].as_i64().unwrap();
        let path = format!("/webhooks/{webhook}/deliveries");
        let replayed: Value = client.post(&format!("{path}/{id}/replay")).expect(200).json();
        assert_eq!(replayed["delivery"]["state"], "waiting");
        wait_for_log(&client, &webhook, "delivered", 3);
        let last = receiver.messages().pop().unwrap();
        assert_eq!((&last.id, &last.json()["data"]["name"]), (&first[0].id, &json!("first")));
        client.post(&format!("{path}/999999/replay")).expect(404);
        let replayed: Value = client.post(&format!("{path}/replay")).expect(200).json();
        assert_eq!(replayed["replayed"], 0);
    });
}

#[test]
fn a_target_that_is_gone_is_not_called_again() {
    both_as(&setup(), |server| {
        let receiver = Receiver::start(|_| 410);
        let client = server.client();
        let webhook = create(&client, &receiver.url("/gone"), &json!({}));
        put_org(&client, "a", "A");
        wait_for_log(&client, &webhook, "dead", 1);
        let read: Value = client.get(&format!("/webhooks/{webhook}")).expect(200).json();
        assert_eq!(read["webhook"]["active"], false);
        put_org(&client, "a", "A 2");
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert_eq!(receiver.messages().len(), 1);
    });
}

#[test]
fn private_addresses_are_refused_and_the_log_says_so() {
    let mut setup = setup();
    setup.config.webhooks.allow = vec!["allowed.internal".to_owned()];
    both_as(&setup, |server| {
        let receiver = Receiver::start(|_| 200);
        let client = server.client();
        let plain =
            json!({ "name": "x", "targetUrl": receiver.url("/"), "secret": "s", "active": true });
        let refused = client.post("/webhooks").json(&plain).expect(422);
        assert!(String::from_utf8_lossy(&refused.body).contains("webhooks.allow"));
        let private = create(&client, &receiver.url("/").replace("http:", "https:"), &json!({}));
        put_org(&client, "a", "A");
        let since = std::time::Instant::now();
        while log(&client, &private, "waiting")
            .first()
            .is_none_or(|delivery| delivery["attempts"] == 0)
        {
            assert!(since.elapsed() < PATIENCE);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let error = log(&client, &private, "waiting")[0]["error"].as_str().unwrap().to_owned();
        assert!(error.contains("its address is not public"), "{error}");
        assert!(receiver.messages().is_empty());
    });
}

#[test]
fn a_sandbox_sends_to_its_own_machine() {
    let demo = Player { user: "demo".to_owned(), game: String::new() };
    let setup = Setup { sandbox: Some((demo, true)), ..Setup::default() };
    both_as(&setup, |server| {
        let receiver = Receiver::start(|_| 200);
        let client = server.client();
        create(&client, &receiver.url("/hook"), &json!({}));
        put_org(&client, "a", "A");
        assert_eq!(receiver.wait_for(1, PATIENCE)[0].json()["object"], "a");
    });
}
