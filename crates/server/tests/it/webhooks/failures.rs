//! Targets that fail: repetitions, replays, and addresses that webhooks must not reach.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_access::Player;
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_testserver::client::TestClient;
use lyceum_testserver::receiver::Receiver;
use lyceum_testserver::server::{Setup, both_as};
use lyceum_webhooks::schedule::RETRY_DELAYS_S;
use serde_json::{Value, json};

use super::{PATIENCE, create, log, put_org, setup, wait_for_log};

#[test]
fn a_failed_delivery_is_repeated_after_its_pause_and_can_be_replayed() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let mut setup = setup();
    setup.clock = clock.clone();
    both_as(&setup, |server| {
        let status = Arc::new(AtomicU16::new(500));
        let answering = Arc::clone(&status);
        let receiver = Receiver::start(move |_| answering.load(Ordering::SeqCst));
        let client = server.client();
        let webhook = create(&client, &receiver.url("/hook"), &json!({}));
        put_org(&client, "a", "first");
        put_org(&client, "a", "second");
        receiver.wait_for(1, PATIENCE);
        let failed = wait_for_attempt(&client, &webhook);
        assert_eq!(
            (&failed["status"], &failed["error"]),
            (&json!(500), &json!("the target answered 500"))
        );
        status.store(200, Ordering::SeqCst);
        sleep(Duration::from_millis(300));
        assert_eq!(receiver.messages().len(), 1, "nothing is sent before the pause ends");
        clock.advance_milliseconds(RETRY_DELAYS_S[0] * 2000);
        wait_for_log(&client, &webhook, "delivered", 2);
        let path = format!("/webhooks/{webhook}/deliveries");
        let id = failed["id"].as_i64().unwrap();
        let replayed: Value = client.post(&format!("{path}/{id}/replay")).expect(200).json();
        assert_eq!(replayed["delivery"]["state"], "waiting");
        let messages = receiver.wait_for(4, PATIENCE);
        let sent: Vec<_> = messages.iter().map(|one| one.json()["data"]["name"].clone()).collect();
        assert_eq!(sent, ["first", "first", "second", "first"], "in order");
        assert!([1, 3].iter().all(|&repeated| messages[repeated].id == messages[0].id));
        client.post(&format!("{path}/999999/replay")).expect(404);
        let replayed: Value = client.post(&format!("{path}/replay")).expect(200).json();
        assert_eq!(replayed["replayed"], 0);
    });
}

/// Waits until the oldest delivery that waits was attempted.
fn wait_for_attempt(client: &TestClient, webhook: &str) -> Value {
    let since = Instant::now();
    loop {
        let oldest = log(client, webhook, "waiting").pop();
        if let Some(tried) = oldest.filter(|oldest| oldest["attempts"] != 0) {
            return tried;
        }
        assert!(since.elapsed() < PATIENCE, "nothing was sent");
        sleep(Duration::from_millis(20));
    }
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
        let failed = wait_for_attempt(&client, &private);
        let error = failed["error"].as_str().unwrap();
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
