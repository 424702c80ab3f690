//! Limits on stored data, and calls that wait while a database changes.

use std::sync::Arc;
use std::time::Duration;

use lyceum_core::time::SystemClock;
use lyceum_hosting::buckets::{Bucket, BucketObjectDescription};
use lyceum_hosting::engine::{EngineSettings, LogStream, run_once};
use lyceum_project::Binding;
use tokio::time::timeout;

use crate::host::{Host, settings};

const FILLER: &str = r#"
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    try {
      if (pathname === "/fill") {
        await env.DB.exec("CREATE TABLE IF NOT EXISTS t (a)");
        for (let n = 0; n < 200; n++) await env.DB.prepare("INSERT INTO t VALUES (zeroblob(20000))").run();
      }
      if (pathname === "/put") await env.BUCKET.put("a", new Uint8Array(60_000).fill(1));
      if (pathname === "/more") await env.BUCKET.put("b", new Uint8Array(60_000).fill(2));
      if (pathname === "/over") await env.BUCKET.put("a", new Uint8Array(80_000).fill(3));
      if (pathname === "/delete") await env.BUCKET.delete("a");
      if (pathname === "/wait") await scheduler.wait(300);
      if (pathname === "/rows") return new Response(String(await env.DB.prepare("SELECT count(*) AS n FROM t").first("n")));
      return new Response("fine");
    } catch (error) {
      return new Response(String(error), { status: 507 });
    }
  },
};
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_project_cannot_store_more_than_its_limit() {
    let small = EngineSettings { bucket_bytes: 100_000, database_bytes: 1_000_000, ..settings() };
    let host = Host::new(small);
    host.engine.install(host.worker("full", FILLER)).unwrap();
    let get = async |path: &str| host.get("full", path).await.unwrap();
    let (status, text) = get("/fill").await;
    assert!(status == 507 && text.contains("SQLITE_FULL"), "{text}");
    assert!(get("/rows").await.1.parse::<u32>().unwrap() > 10, "what fitted is there");
    assert_eq!(get("/put").await.1, "fine");
    let (status, text) = get("/more").await;
    assert!(status == 507 && text.contains("it may have 100000 bytes"), "{text}");
    // An object that replaces another one needs only its own size.
    assert_eq!(get("/over").await.1, "fine");
    assert_eq!(get("/delete").await.1, "fine");
    assert_eq!(get("/more").await.1, "fine");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_wait_while_a_database_is_replaced() {
    let host = Host::new(settings());
    let worker = host.worker("held", FILLER);
    let database = worker.stores[&Binding::Database].clone();
    host.engine.install(worker.clone()).unwrap();
    host.get("held", "/fill").await.unwrap();
    let (slow, held) = tokio::join!(host.get("held", "/wait"), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        host.engine.pause_calls("held", &database).await.unwrap()
    });
    assert_eq!(slow.unwrap().1, "fine", "what began is finished");
    assert_eq!(host.engine.process_id("held"), None);
    // Calls continue only after another file has replaced it.
    let other = database.with_extension("other");
    lyceum_project::schema::restore(&database, &other).unwrap();
    let waiting = host.get("held", "/rows");
    tokio::pin!(waiting);
    assert!(timeout(Duration::from_millis(300), &mut waiting).await.is_err());
    std::fs::remove_file(&database).unwrap();
    let mut moved = lyceum_hosting::engine::Worker { version: "2".into(), ..worker };
    moved.stores.insert(Binding::Database, other);
    host.engine.install(moved).unwrap();
    drop(held);
    assert!(waiting.await.unwrap().1.parse::<u32>().unwrap() > 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_runs_once_and_returns_its_output() {
    let host = Host::new(settings());
    let folder = tempfile::tempdir().unwrap();
    let mut worker = host.worker(
        "script",
        "export default { fetch: () => { console.log('hello'); return new Response('x'); } };",
    );
    let clock = Arc::new(SystemClock);
    let lines = run_once(folder.path(), settings(), clock.clone(), worker.clone()).await.unwrap();
    assert!(lines.iter().all(|line| line.stream != LogStream::Request));
    worker.modules[0].1 =
        b"export default { fetch: () => new Response('dry', { status: 500 }) };".into();
    let problem = run_once(folder.path(), settings(), clock, worker).await.unwrap_err();
    assert!(problem.message.contains("dry"), "{problem}");
}

#[test]
fn an_interrupted_upload_in_parts_is_resumed_and_completed() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = Bucket::open(folder.path(), Arc::new(SystemClock)).unwrap();
    let about = BucketObjectDescription {
        content_type: Some("text/plain".into()),
        ..BucketObjectDescription::default()
    };
    let begun = bucket.begin("k", &about).unwrap();
    let first = bucket.put_part("k", &begun.id, 1, &vec![1; 6 << 20]).unwrap();
    drop(bucket);
    let bucket = Bucket::open(folder.path(), Arc::new(SystemClock)).unwrap();
    let found = bucket.begin("k", &about).unwrap();
    assert_eq!((&found.id, &found.parts[0].etag), (&begun.id, &first.etag));
    let other = BucketObjectDescription {
        content_type: Some("text/html".into()),
        ..BucketObjectDescription::default()
    };
    assert_ne!(bucket.begin("k", &other).unwrap().id, begun.id, "it would be another object");
    let second = bucket.put_part("k", &begun.id, 2, b"end").unwrap();
    let whole = bucket.complete("k", &begun.id, vec![first, second]).unwrap();
    assert_eq!((whole.size, whole.etag.ends_with("-2")), ((6 << 20) + 3, true));
    assert_ne!(bucket.begin("k", &about).unwrap().id, begun.id, "that one is complete");
    assert!(
        bucket.put("", &about, &b""[..]).is_err()
            && bucket.put(&"k".repeat(1025), &about, &b""[..]).is_err()
    );
}
