//! Limits: too many requests, requests that take too long, and connections that wait.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use lyceum_access::{NewClient, Scope};
use lyceum_core::PayloadDialect;
use lyceum_testkit::fresh_database;
use lyceum_testserver::server::{Setup, TestServer, both_as};
use serde_json::Value;

use crate::probe;

#[test]
fn a_client_beyond_its_share_gets_a_retry_after_header() {
    let mut setup = probe::setup();
    setup.config.limits.burst = 5;
    both_as(&setup, |server| {
        let hasty = NewClient { requests_per_second: Some(1), ..NewClient::named("hasty") };
        let (id, secret) = server.register(&hasty);
        let client = server.anonymous().with_token(server.token_of(&id, &secret));
        let replies: Vec<_> = (0..10).map(|_| client.get("/probe/guarded").send()).collect();
        let served = replies.iter().filter(|reply| reply.status == 200).count();
        assert!((5..=7).contains(&served), "{served} were served");
        let refused = replies.iter().find(|reply| reply.status == 429).unwrap();
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=2).contains(&wait), "{wait}");
        let body: Value = refused.json();
        let minor = &body["imsx_CodeMinor"]["imsx_codeMinorField"][0]["imsx_codeMinorFieldValue"];
        assert_eq!(minor, "server_busy");
        // Other clients are not delayed.
        let other = server.client();
        for _ in 0..20 {
            other.get("/probe/guarded").expect(200);
        }
    });
}

#[test]
fn the_share_of_the_settings_applies_to_clients_without_their_own() {
    let mut setup = probe::setup();
    setup.config.limits.requests_per_second = 1;
    setup.config.limits.burst = 3;
    both_as(&setup, |server| {
        let client = server.client();
        let refused = (0..10).filter(|_| client.get("/probe/guarded").send().status == 429);
        assert!(refused.count() >= 5);
    });
}

#[test]
fn servers_of_one_database_share_the_rate_of_a_client() {
    let mut setup = probe::setup();
    setup.config.limits.burst = 20;
    let first = TestServer::start_as(&fresh_database(&lyceum_api::migrations()), setup);
    let slow = NewClient { requests_per_second: Some(1), ..NewClient::named("slow") };
    let (id, secret) = first.register(&slow);
    let token = first.token_of(&id, &secret);
    let served = |server: &TestServer| {
        let client = server.anonymous().with_token(token.clone());
        (0..30).filter(|_| client.get("/probe/guarded").send().status == 200).count()
    };
    let alone = served(&first);
    assert!((20..=22).contains(&alone), "{alone} were served");
    // A server counts those that serve when it starts.
    let other = || {
        let mut setup = Setup { folder: None, ..first.setup().clone() };
        setup.listen_anew();
        TestServer::start_as(first.target(), setup)
    };
    let second = other();
    wait_for_reports(&second, 2);
    let third = other();
    wait_for_reports(&third, 3);
    let of_three = served(&third);
    assert!((6..=8).contains(&of_three), "{of_three} were served");
}

/// Waits until so many servers have reported that they serve.
fn wait_for_reports(server: &TestServer, count: usize) {
    let admin = server.client_with(&[Scope::ServerRead], PayloadDialect::Platform);
    let begun = Instant::now();
    loop {
        let nodes: Value = admin.get("/api/nodes").expect(200).json();
        if nodes["nodes"].as_array().unwrap().len() == count {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{nodes}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_request_that_takes_too_long_is_answered_with_503() {
    let mut setup = probe::setup();
    setup.config.server.request_timeout_s = 1;
    both_as(&setup, |server| {
        let late = server.anonymous().get("/probe/slow/30000").expect(503);
        assert_eq!(late.header("retry-after"), "1");
        assert!(late.text().contains("longer than 1 s"), "{}", late.text());
        server.anonymous().get("/probe/slow/10").expect(200);
    });
}

#[test]
fn a_body_that_arrives_too_slowly_is_cut_off() {
    let mut setup = probe::setup();
    setup.config.server.request_timeout_s = 1;
    both_as(&setup, |server| {
        let mut stream = TcpStream::connect(&server.setup().config.server.listen).unwrap();
        let head = "POST /probe/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc";
        stream.write_all(head.as_bytes()).unwrap();
        let answer = until_closed(stream);
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    });
}

#[test]
fn slow_headers_and_idle_connections_are_closed_each_in_its_time() {
    let mut setup = probe::setup();
    setup.config.server.header_timeout_s = 1;
    setup.config.server.keep_alive_s = 3;
    both_as(&setup, |server| {
        let connect = || TcpStream::connect(&server.setup().config.server.listen).unwrap();
        let begun = Instant::now();
        let mut trickling = connect();
        trickling.write_all(b"GET /health HT").unwrap();
        assert_eq!(until_closed(trickling), "");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());

        let mut idle = connect();
        idle.write_all(b"GET /probe/slow/1500 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let answered = Instant::now();
        let answer = until_closed(idle);
        assert!(answer.contains("{\"slow\":true}"), "work is not idleness: {answer}");
        let waited = answered.elapsed();
        assert!(waited > Duration::from_secs(4), "the connection waits for more: {waited:?}");
        assert!(waited < Duration::from_secs(9), "{waited:?}");
    });
}

fn until_closed(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

#[test]
fn a_trusted_proxy_is_not_limited_as_one_address() {
    let mut setup = probe::setup();
    setup.config.server.connections_per_address = 3;
    let expect = |setup: &Setup, in_use: usize| {
        both_as(setup, |server| {
            // A connection whose caller may still send a body is in use.
            let calls: Vec<_> = (0..6)
                .map(|_| {
                    let address = &server.setup().config.server.listen;
                    let mut stream = TcpStream::connect(address).unwrap();
                    let head = "POST /probe/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\
                                Expect: 100-continue\r\n\r\n";
                    stream.write_all(head.as_bytes()).unwrap();
                    let mut answer = [0; 12];
                    stream.read_exact(&mut answer).unwrap();
                    (stream, answer)
                })
                .collect();
            let may = calls.iter().filter(|(_, answer)| answer == b"HTTP/1.1 100").count();
            assert_eq!(may, in_use);
        });
    };
    expect(&setup, 3);
    setup.config.server.trusted_proxies = serde_json::from_str(r#"["127.0.0.0/8"]"#).unwrap();
    expect(&setup, 6);
}
