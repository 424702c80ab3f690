//! Stopping: accepted requests are finished.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use lyceum_testserver::server::both_as;

use crate::probe;

#[test]
fn no_request_that_was_sent_before_the_stop_is_lost() {
    both_as(&probe::setup(), |server| {
        const THREADS: usize = 16;
        let stopping = AtomicBool::new(false);
        let (answered, lost) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let clients: Vec<_> = (0..THREADS).map(|_| server.client()).collect();
        std::thread::scope(|scope| {
            for client in &clients {
                scope.spawn(|| {
                    loop {
                        let sent_before = !stopping.load(SeqCst);
                        match client.get("/probe/slow/5").try_send() {
                            Ok(reply) => {
                                assert_eq!(reply.status, 200);
                                answered.fetch_add(1, SeqCst);
                            }
                            Err(_) if sent_before => {
                                lost.fetch_add(1, SeqCst);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                });
            }
            while answered.load(SeqCst) < 500 {
                std::thread::sleep(Duration::from_millis(5));
            }
            stopping.store(true, SeqCst);
            server.stop();
        });
        assert_eq!(lost.load(SeqCst), 0, "of {} requests", answered.load(SeqCst));
    });
}

#[test]
fn a_stopping_server_is_not_ready_closes_connections_and_finishes_its_work() {
    both_as(&probe::setup(), |server| {
        let (working, asking) = (server.anonymous(), server.anonymous());
        asking.get("/ready").expect(200);
        let begun = Instant::now();
        let work = std::thread::spawn(move || working.get("/probe/slow/1500").expect(200));
        std::thread::sleep(Duration::from_millis(200));
        let end = server.stopping();
        let not_ready = loop {
            let reply = asking.get("/ready").send();
            if reply.status != 200 {
                break reply;
            }
        };
        assert_eq!(not_ready.status, 503);
        assert_eq!(not_ready.header("connection"), "close");
        assert_eq!(not_ready.header("content-type"), "application/problem+json");
        assert_eq!(asking.get("/health").expect(200).header("connection"), "close");
        work.join().unwrap();
        end.join().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert!(asking.get("/health").try_send().is_err(), "nobody listens any more");
    });
}

#[test]
fn work_beyond_the_grace_period_is_cut_off() {
    let mut setup = probe::setup();
    setup.config.server.shutdown_grace_s = 1;
    both_as(&setup, |server| {
        let client = server.anonymous();
        let work = std::thread::spawn(move || client.get("/probe/slow/60000").try_send().is_err());
        std::thread::sleep(Duration::from_millis(200));
        let begun = Instant::now();
        server.stop();
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert!(work.join().unwrap());
    });
}

#[test]
fn idle_connections_do_not_hold_up_the_stop() {
    both_as(&probe::setup(), |server| {
        let idle: Vec<_> = (0..8).map(|_| server.anonymous()).collect();
        for client in &idle {
            client.get("/health").expect(200);
        }
        let _silent = std::net::TcpStream::connect(&server.setup().config.server.listen).unwrap();
        let begun = Instant::now();
        server.stop();
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    });
}
