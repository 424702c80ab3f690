//! Connections that are kept and not used.

use std::time::Instant;

use super::http1::{connect, post, send, status, try_connect};
use super::http2;
use super::sized;
use super::target::{Cost, Target};

const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
#[ignore = "soak"]
fn idle_connections_use_little_memory_and_lock_nobody_out() {
    let target = Target::start();
    let connections = sized(400, 10_000);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let open = |from| {
            let mut stream = connect(from, target.address());
            // Half of them have asked for something before.
            let is_served = from % 2 == 1 || status(&mut stream, HEALTH) == 200;
            assert!(is_served, "connection {from} is served");
            stream
        };
        (0..connections).map(open).collect::<Vec<_>>()
    });
}

#[test]
#[ignore = "soak"]
fn idle_http2_connections_use_little_memory() {
    let target = Target::start();
    let connections = sized(400, 5_000);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let to = target.address();
        (0..connections).map(|from| http2::open(from, to, 65_535)).collect::<Vec<_>>()
    });
}

#[test]
#[ignore = "soak"]
fn a_full_server_closes_idle_connections_and_serves_new_ones() {
    let target = Target::within(&[], Some("-n 300"));
    target.withstands(Cost { connections: 300, ..Cost::default() }, || {
        let mut kept = Vec::new();
        for from in 0..406 {
            // A server that is full tells so or closes; nobody waits for it.
            if let Ok(mut stream) = try_connect(from, target.address()) {
                // A connection that was used may be idle for longer.
                send(&mut stream, HEALTH);
                kept.push(stream);
            }
        }
        let since = Instant::now();
        let mut late = connect(0, target.address());
        assert_eq!(status(&mut late, HEALTH), 200, "{}", target.served.log());
        assert!(since.elapsed().as_secs() < 1, "{:?}", since.elapsed());
        kept
    });
}

#[test]
#[ignore = "soak"]
fn the_limit_for_open_files_is_raised_to_its_maximum() {
    let target = Target::within(&[], Some("-Sn 64"));
    target.withstands(Cost { connections: 300, ..Cost::default() }, || {
        let mut kept: Vec<_> = (0..300).map(|from| connect(from, target.address())).collect();
        for stream in &mut kept {
            assert_eq!(status(stream, HEALTH), 200, "{}", target.served.log());
        }
        kept
    });
}

#[test]
#[ignore = "soak"]
fn a_server_whose_connections_are_all_in_use_refuses_new_ones_at_once() {
    let target = Target::within(
        &[("LYCEUM_SERVER__CONNECTIONS", "40"), ("LYCEUM_SERVER__CONNECTIONS_PER_ADDRESS", "20")],
        None,
    );
    target.withstands(Cost { connections: 40, ..Cost::default() }, || {
        // One address uses its share, with bodies that it does not send.
        let head = post("/oauth2/token", "application/x-www-form-urlencoded", 100);
        let using = |_| {
            let mut stream = connect(1, target.address());
            send(&mut stream, &head);
            send(&mut stream, "x");
            stream
        };
        let kept: Vec<_> = (0..20).map(using).collect();
        // The last ones may not have been read yet.
        let since = Instant::now();
        loop {
            let answered = status(&mut connect(1, target.address()), HEALTH);
            if answered == 503 {
                break;
            }
            assert!(since.elapsed().as_secs() < 5, "the address is not limited: {answered}");
        }
        // Others are served, which the other caller shows.
        assert_eq!(status(&mut connect(2, target.address()), HEALTH), 200);
        kept
    });
}
