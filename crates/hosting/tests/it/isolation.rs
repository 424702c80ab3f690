//! Backends are isolated from everything that they must not reach.

use std::net::TcpListener;

use serde_json::Value;

use crate::host::{Host, settings};

const CURIOUS: &str = r#"
import fs from "node:fs";
const attempt = async (work) => {
  try { return "got " + (await work()); } catch (error) { return "no"; }
};
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/mine") { await env.KV.put("secret", "mine"); return new Response("fine"); }
    if (url.pathname === "/echo") return new Response(JSON.stringify([...request.headers]));
    const port = url.searchParams.get("port");
    const get = (address) => attempt(() => fetch(address).then((r) => r.text()));
    return Response.json({
      loopback: await get(`http://127.0.0.1:${port}/`),
      name: await get(`http://localhost:${port}/`),
      six: await get(`http://[::1]:${port}/`),
      mapped: await get(`http://[::ffff:127.0.0.1]:${port}/`),
      private: await get("http://10.0.0.1/"),
      metadata: await get("http://169.254.169.254/"),
      socket: await attempt(async () => {
        const { connect } = await import("cloudflare:sockets");
        const socket = connect(`127.0.0.1:${port}`);
        await socket.opened;
        return "a connection";
      }),
      file: await attempt(() => fs.readFileSync("/etc/passwd", "utf8")),
      environment: JSON.stringify(Object.keys(process.env).filter((name) => !(name in env))),
      other: String(await env.KV.get("secret")),
      exchange: await attempt(() => fetch("http://127.0.0.1/", { headers: { "lyceum-binding": "kv x" } })),
      secret: env.secrets.KEY,
    });
  },
};
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_reaches_only_its_own_data() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let host = Host::new(settings());
    let secret = "q\"uote, \\ back, \n line, é\u{1F600}";
    for slug in ["one", "two"] {
        let mut worker = host.worker(slug, CURIOUS);
        worker.compatibility_date = "2026-01-01".into();
        worker.secrets.insert("KEY".into(), secret.into());
        host.engine.install(worker).unwrap();
    }
    assert_eq!(host.get("one", "/mine").await.unwrap().1, "fine");
    let (_, seen) = host.get("two", &format!("/?port={port}")).await.unwrap();
    let seen: Value = serde_json::from_str(&seen).unwrap();
    for what in
        ["loopback", "name", "six", "mapped", "private", "metadata", "socket", "file", "exchange"]
    {
        assert_eq!(seen[what], "no", "{what} in {seen}");
    }
    assert_eq!(seen["environment"], "[]");
    assert_eq!(seen["other"], "null", "another project's key");
    assert_eq!(seen["secret"], secret);
    assert!(listener.accept().is_err(), "somebody connected");
}
