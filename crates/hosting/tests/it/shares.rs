//! A project that uses much leaves enough for the others.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use lyceum_blob::{Blob, Blobs};
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_hosting::BlobStream;
use lyceum_hosting::limits::{ANSWER_PIECE_BYTES, R2_UPLOAD_KEPT_S};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::host::{Host, settings};

fn runtime(threads: usize) -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).max_blocking_threads(threads).enable_all().build().unwrap()
}

/// A blob of `size` bytes, each of which is the last digit of its offset.
fn blob(blobs: &Blobs, size: usize) -> Blob {
    let bytes: Vec<u8> = b"0123456789".iter().copied().cycle().take(size).collect();
    let mut writer = blobs.writer().unwrap();
    writer.write_all(&bytes).unwrap();
    let digest = writer.store().unwrap();
    blobs.open(&digest).unwrap().unwrap()
}

#[test]
fn downloads_that_are_not_read_block_no_thread() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::on_disk(folder.path()).unwrap();
    let opened = |count: usize| (0..count).map(|_| blob(&blobs, 3_000_001)).collect::<Vec<_>>();
    runtime(2).block_on(async {
        let mut slow = Vec::new();
        for blob in opened(4) {
            let mut pieces = BlobStream::of(blob, 0, 3_000_001);
            let first = timeout(Duration::from_secs(5), pieces.frame()).await;
            assert!(first.expect("a thread is free").unwrap().is_ok());
            slow.push(pieces);
        }
        // A range across two blobs with a head before them; and a slow reader continues at its offset.
        let several = Box::new(opened(3).into_iter().map(Ok));
        let pieces = BlobStream::new("head".into(), several, 3_000_000, 3_000_003);
        let whole = timeout(Duration::from_secs(5), pieces.collect()).await.unwrap();
        let whole = whole.unwrap().to_bytes();
        assert_eq!(whole.len(), 4 + 3_000_003);
        assert_eq!((&whole[..8], &whole[whole.len() - 4..]), (&b"head0012"[..], &b"8900"[..]));
        let rest = slow.pop().unwrap().collect().await.unwrap().to_bytes();
        assert_eq!(rest.len(), 3_000_001 - ANSWER_PIECE_BYTES);
        assert_eq!(rest.last(), Some(&b'0'));
    });
}

const CODE: &str = r#"
const sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500000) SELECT max(i) FROM n";
const told = (work) => work.then((found) => "fine " + found.length, (error) => error.message);
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const bytes = (count) => env.DB.prepare(`SELECT hex(zeroblob(${count})) AS t`);
    if (pathname === "/busy") return new Response((await env.DB.prepare(sql).all()).results.length);
    if (pathname === "/key") return new Response(await env.KV.get("none"));
    if (pathname === "/begin") {
      const upload = await env.BUCKET.createMultipartUpload("film");
      return new Response(upload.uploadId + " " + (await upload.uploadPart(1, "x")).etag);
    }
    if (pathname.startsWith("/end/")) {
      const [id, etag] = decodeURI(pathname.slice(5)).split(" ");
      const upload = env.BUCKET.resumeMultipartUpload("film", id);
      return new Response(await upload.complete([{ partNumber: 1, etag }]).then(() => "kept", () => "gone"));
    }
    return Response.json([
      await told(env.DB.batch(Array(60).fill(bytes(400000)))),
      await told(env.DB.batch(Array(15).fill(bytes(50000)))),
      await told(env.DB.batch(Array(1001).fill(bytes(1)))),
      await told(env.DB.prepare("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT i, i, i, i FROM n").all()),
      await told(env.DB.prepare("SELECT ? AS a, ? AS b, ? AS c").bind(new Uint8Array([0, 255]), 'a"b', 1.5).raw()),
      await told(env.DB.prepare("CREATE TEMP TABLE large (a)").raw()),
    ]);
  },
};
"#;

#[test]
fn a_busy_database_leaves_threads_to_other_projects() {
    let runtime = runtime(20);
    runtime.block_on(async {
        let host = Arc::new(Host::new(settings()));
        for slug in ["busy", "other"] {
            host.engine.install(host.worker(slug, CODE)).unwrap();
            host.get(slug, "/key").await.unwrap();
        }
        let mut busy = JoinSet::new();
        for _ in 0..40 {
            let host = Arc::clone(&host);
            busy.spawn(async move { host.get("busy", "/busy").await });
        }
        // When one has finished, all others have started.
        busy.join_next().await.unwrap().unwrap().unwrap();
        let answered = timeout(Duration::from_secs(3), host.get("other", "/key")).await;
        answered.expect("a thread is free").unwrap();
        assert!(!busy.is_empty());
        busy.abort_all();
    });
    runtime.shutdown_background();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_results_of_a_batch_share_one_limit() {
    let host = Host::new(settings());
    host.engine.install(host.worker("large", CODE)).unwrap();
    let (_, results) = host.get("large", "/").await.unwrap();
    let results: Vec<String> = serde_json::from_str(&results).unwrap();
    let too_large = "larger than 33554432 bytes";
    assert!(results[0].contains(too_large), "{results:?}");
    assert_eq!(results[1], "fine 15");
    assert!(results[2].contains("the limit is 1000"), "{results:?}");
    assert!(results[3].contains(too_large), "{results:?}");
    assert_eq!(results[4], "fine 1");
    assert!(results[5].contains("not authorized"), "{results:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_uploads_expire() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let host = Host::timed(settings(), Arc::clone(&clock) as Arc<dyn Clock>);
    host.engine.install(host.worker("films", CODE)).unwrap();
    let begin = async || host.get("films", "/begin").await.unwrap().1.replace(' ', "%20");
    let end = async |upload: &str| host.get("films", &format!("/end/{upload}")).await.unwrap().1;
    let (first, second) = (begin().await, begin().await);
    clock.advance_milliseconds((R2_UPLOAD_KEPT_S - 1) * 1000);
    let third = begin().await;
    assert_eq!(end(&first).await, "kept");
    clock.advance_milliseconds(1000);
    begin().await;
    assert_eq!((end(&second).await, end(&third).await), ("gone".to_owned(), "kept".to_owned()));
}
