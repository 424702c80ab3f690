//! Signals wake readers after a commit: in one process, between servers, and where PostgreSQL's notifications are lost.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::limits::{SIGNAL_ALONE_WAIT_MS, SIGNAL_EVERY_MS, SIGNAL_WAIT_MS};
use lyceum_store::{Db, Signal, StoreLocation, Tx};
use lyceum_testkit::both_stores;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::network::port;
use crate::{SCHEMA, open, wait};

/// A database whose signals are delivered.
fn delivering(target: &StoreLocation) -> Db {
    let db = open(target);
    let delivered = db.clone();
    tokio::spawn(async move { delivered.deliver_signals().await });
    db
}

async fn until_signals_of_all_arrive(db: &Db) {
    let begun = Instant::now();
    while db.signals().wait() != Duration::from_millis(SIGNAL_WAIT_MS) {
        assert!(begun.elapsed() < Duration::from_secs(10), "signals do not arrive");
        sleep(Duration::from_millis(10)).await;
    }
}

async fn is_signalled(receiver: &mut watch::Receiver<()>, within: Duration) -> bool {
    timeout(within, receiver.changed()).await.is_ok()
}

fn signal(tx: &mut Tx<'_>) -> Result<()> {
    tx.signal(Signal::Events);
    tx.execute("INSERT INTO things (id) VALUES ('x') ON CONFLICT DO NOTHING", &[]).map(drop)
}

const SOON: Duration = Duration::from_secs(10);
const NEVER: Duration = Duration::from_millis(600);

#[test]
fn a_commit_wakes_the_readers_of_its_signal_and_a_refused_write_wakes_nobody() {
    both_stores(SCHEMA, |target| {
        wait(async {
            let db = delivering(target);
            let mut events = db.signals().subscribe(Signal::Events);
            let mut answers = db.signals().subscribe(Signal::Answers);
            let refused = db.write(|tx| {
                signal(tx)?;
                Err::<(), _>(Problem::new(ProblemKind::Conflict, "refused"))
            });
            refused.await.unwrap_err();
            assert!(!is_signalled(&mut events, NEVER).await, "it was not committed");
            db.write(signal).await.unwrap();
            assert!(is_signalled(&mut events, SOON).await);
            assert!(!answers.has_changed().unwrap(), "it is another signal");
            db.write(|tx| {
                tx.signal(Signal::Answers);
                Ok(())
            })
            .await
            .unwrap();
            assert!(is_signalled(&mut answers, SOON).await);
            let own = db.clone();
            thread::spawn(move || own.write_blocking(signal)).join().unwrap().unwrap();
            assert!(is_signalled(&mut events, SOON).await, "a long write on a thread of its own");
        });
    });
}

#[test]
fn many_writes_of_one_server_wake_another_a_few_times_a_second() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    wait(async {
        let (writer, reader) = (delivering(&target), delivering(&target));
        until_signals_of_all_arrive(&writer).await;
        until_signals_of_all_arrive(&reader).await;
        let mut events = reader.signals().subscribe(Signal::Events);
        let begun = Instant::now();
        let writing = async {
            while begun.elapsed() < Duration::from_secs(1) {
                writer.write(signal).await.unwrap();
            }
        };
        let counting = async {
            let mut count = 0;
            while is_signalled(&mut events, NEVER).await {
                count += 1;
            }
            count
        };
        let ((), count) = tokio::join!(writing, counting);
        let most = 1000 / SIGNAL_EVERY_MS + 3;
        assert!((2..=most).contains(&count), "{count} signals in a second");
    });
}

/// A proxy that loses the notifications of PostgreSQL, as a pooler does that shares connections.
fn without_notifications(server: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
            thread::spawn(move || carry_messages(server, client));
        }
    });
    port
}

/// Carries all messages of a server except `NotificationResponse`.
fn carry_messages(mut server: TcpStream, mut client: TcpStream) {
    let mut head = [0; 5];
    while server.read_exact(&mut head).is_ok() {
        let length = u32::from_be_bytes(head[1..].try_into().unwrap());
        let mut body = vec![0; length as usize - 4];
        if server.read_exact(&mut body).is_err() {
            break;
        }
        if head[0] != b'A' && client.write_all(&[&head[..], &body].concat()).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

#[test]
fn readers_look_more_often_while_notifications_do_not_arrive() {
    let target = lyceum_testkit::fresh_database(SCHEMA);
    let (server, url) = port(&target);
    let address = format!("{}?sslmode=disable", url(without_notifications(server)));
    wait(async {
        let db = delivering(&StoreLocation::Postgres(address));
        let mut events = db.signals().subscribe(Signal::Events);
        // Longer than the server waits for its own first notification.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(2500) {
            assert_eq!(db.signals().wait(), Duration::from_millis(SIGNAL_ALONE_WAIT_MS));
            sleep(Duration::from_millis(100)).await;
        }
        db.write(signal).await.unwrap();
        assert!(is_signalled(&mut events, SOON).await, "the own writes need no notification");
    });
}
