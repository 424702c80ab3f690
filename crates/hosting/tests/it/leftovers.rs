//! After a server was killed, acknowledged data is still there, and its processes end.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use lyceum_core::ProblemKind;
use lyceum_core::time::SystemClock;
use lyceum_hosting::engine::Engine;

use crate::host::{Host, settings};
use crate::watchdog::{runs, until};

const FOLDER: &str = "LYCEUM_TEST_ENGINE_FOLDER";

const KEEPER: &str = r#"
export default {
  async fetch(request, env) {
    if (request.url.endsWith("/put")) {
      await env.DB.exec("CREATE TABLE t (a)");
      await env.DB.prepare("INSERT INTO t VALUES ('row')").run();
      await env.KV.put("k", "value");
      await env.BUCKET.put("o", "object");
    }
    const row = await env.DB.prepare("SELECT a FROM t").first("a");
    return new Response([row, await env.KV.get("k"), await (await env.BUCKET.get("o")).text()].join());
  },
};
"#;

/// The server that will be killed: another process of this test, which prints the id of the process that it started.
#[tokio::test(flavor = "multi_thread")]
async fn serves_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let host = Host::within(Path::new(&folder), settings());
    host.engine.install(host.worker("keeper", KEEPER)).unwrap();
    assert_eq!(host.get("keeper", "/put").await.unwrap().1, "row,value,object");
    eprintln!("started {}", host.engine.process_id("keeper").unwrap());
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_keeps_acknowledged_data_and_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "leftovers::serves_until_it_is_killed", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    let backend = lines.find_map(|line| line.strip_prefix("started ")?.parse().ok()).unwrap();
    let second = Engine::new(folder.path(), settings(), Arc::new(SystemClock));
    assert_eq!(second.err().unwrap().kind, ProblemKind::Unavailable, "the folder has a server");
    server.kill().unwrap();
    server.wait().unwrap();

    // Either the system ends its backends, or the next server does.
    let host = Host::within(folder.path(), settings());
    until(|| !runs(backend)).await;
    host.engine.install(host.worker("keeper", KEEPER)).unwrap();
    assert_eq!(host.get("keeper", "/").await.unwrap().1, "row,value,object");
}
