//! Hosted projects as visitors see them: files, caching, and the backend below `/api`.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::config::Environment;
use lyceum_hosting::limits;
use lyceum_http::limits::GUESSES_ADDRESS_COUNT;
use lyceum_project::{Artifact, Backend, Desired, Metadata, Module, State, Uses, plan, secrets};
use lyceum_testserver::client::{Call, Reply, TestClient};
use lyceum_testserver::server::{Setup, TestServer, both_as};
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) const SLUG: &str = "tides";
const HOST: &str = "tides-staging.localhost";

/// Runs the body against a server of staging, on both stores.
pub(crate) fn staging(body: impl Fn(&mut TestServer)) {
    let mut setup = Setup::default();
    setup.config.server.env = Environment::Staging;
    both_as(&setup, body);
}

fn upload(client: &TestClient, bytes: &[u8]) -> Artifact {
    let sha256 = lyceum_blob::Digest::of(bytes).to_string();
    let artifact = Artifact { sha256, size: bytes.len() as u64 };
    let body = json!({ "sha256": artifact.sha256, "size": artifact.size });
    let begun: Value = client.post("/api/uploads").json(&body).expect(200).json();
    if begun["complete"] != true {
        let id = begun["id"].as_str().unwrap();
        let mut from = 0;
        for piece in bytes.chunks(4 * 1024 * 1024) {
            let to = from + piece.len();
            let range = format!("bytes {from}-{}/{}", to - 1, bytes.len());
            let call = client.put(&format!("/api/uploads/{id}")).header("content-range", &range);
            let reply = call.body("application/octet-stream", piece).send();
            assert!(matches!(reply.status, 200..=299), "{}", reply.text());
            from = to;
        }
    }
    artifact
}

/// Deploys files, code and secrets.
fn deploy(
    client: &TestClient,
    files: &[(&str, &[u8])],
    code: &str,
    values: &[(&str, &str)],
) -> Reply {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    let frontend = upload(client, &zip.finish().unwrap().into_inner());
    let backend = (!code.is_empty()).then(|| {
        let Artifact { sha256, size } = upload(client, code.as_bytes());
        Backend {
            source_hash: sha256.clone(),
            main: "worker.js".into(),
            modules: vec![Module { name: "worker.js".into(), sha256, size }],
            compatibility_date: "2026-01-01".into(),
            routes: Vec::new(),
        }
    });
    let state: State = client.get(&format!("/api/projects/{SLUG}/state")).expect(200).json();
    let key = BASE64_STANDARD.decode(&state.secrets.key).unwrap();
    let digests =
        values.iter().map(|(name, value)| ((*name).to_owned(), secrets::digest(&key, name, value)));
    let desired = Desired {
        slug: SLUG.into(),
        metadata: Metadata { name: "Tides".into(), ..Metadata::default() },
        frontend: Some(frontend),
        backend,
        force_backend: false,
        uses: Uses::with_bindings(|_| true),
        secrets: Some(digests.collect()),
        database: None,
        lms: None,
    };
    let plan = plan(&state, &desired).unwrap();
    let pushed: Vec<String> = plan.secrets.pushed().cloned().collect();
    let values: BTreeMap<&str, &str> = values
        .iter()
        .copied()
        .filter(|(name, _)| pushed.iter().any(|known| known == name))
        .collect();
    let body = json!({ "plan": plan, "secrets": values });
    client.post(&format!("/api/projects/{SLUG}/deployments")).json(&body).send()
}

pub(crate) fn deployed(
    client: &TestClient,
    files: &[(&str, &[u8])],
    code: &str,
    values: &[(&str, &str)],
) {
    let reply = deploy(client, files, code, values);
    assert!(matches!(reply.status, 200 | 201), "{}", reply.text());
}

/// A request of a visitor.
pub(crate) fn visit<'a>(visitor: &'a TestClient, path: &str) -> Call<'a> {
    visitor.get(path).header("host", HOST)
}

const APP: &str = "assets/app-B3kf9xQ1.js";

fn files(long: &str) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("index.html", b"<h1>Tides</h1>".to_vec()),
        (APP, long.as_bytes().to_vec()),
        ("data/tide table.json", b"{}".to_vec()),
        ("docs/index.html", b"docs".to_vec()),
        ("sea.bin", (0..=255).collect()),
        ("packed.css", b"a{}".to_vec()),
        ("packed.css.gz", b"not really gzip".to_vec()),
    ]
}

fn borrowed<'a>(files: &'a [(&'static str, Vec<u8>)]) -> Vec<(&'static str, &'a [u8])> {
    files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect()
}

#[test]
fn files_are_served_with_their_content_types() {
    staging(|server| {
        let (visitor, long) = (server.anonymous(), "let tide = 1;\n".repeat(500));
        deployed(&server.client(), &borrowed(&files(&long)), "", &[]);

        let page = visit(&visitor, "/").expect(200);
        assert_eq!(page.text(), "<h1>Tides</h1>");
        assert!(page.header("content-type").starts_with("text/html"));
        assert_eq!(page.header("cache-control"), "no-cache");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        let app = visit(&visitor, &format!("/{APP}")).expect(200);
        assert!(app.header("content-type").contains("javascript"));
        assert_eq!(app.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(app.text(), long);
        let table = visit(&visitor, "/data/tide%20table.json").expect(200);
        assert!(table.header("content-type").starts_with("application/json"));
        assert_eq!(visit(&visitor, "/docs/").expect(200).text(), "docs");
        assert_eq!(visit(&visitor, "/docs").expect(200).text(), "docs");

        // Unchanged files are not sent again.
        let tag = page.header("etag").to_owned();
        let same = visit(&visitor, "/").header("if-none-match", &tag).expect(304);
        assert!(same.body.is_empty());
        visit(&visitor, "/").header("if-none-match", "\"other\"").expect(200);

        // Ranges, and the whole file if it changed meanwhile.
        let part = visit(&visitor, "/sea.bin").header("range", "bytes=10-12").expect(206);
        assert_eq!(
            (part.body.as_slice(), part.header("content-range")),
            (&[10, 11, 12][..], "bytes 10-12/256")
        );
        let part =
            visit(&visitor, "/sea.bin").header("range", "bytes=-1").header("if-range", "\"old\"");
        assert_eq!(part.expect(200).body.len(), 256);
        let none = visit(&visitor, "/sea.bin").header("range", "bytes=256-").expect(416);
        assert_eq!(none.header("content-range"), "bytes */256");
        let head =
            visitor.call(ureq::http::Method::HEAD, "/sea.bin").header("host", HOST).expect(200);
        assert_eq!((head.body.len(), head.header("content-length")), (0, "256"));

        // Compressed by the build, or while sending.
        let packed = visit(&visitor, "/packed.css").header("accept-encoding", "gzip").expect(200);
        assert_eq!(
            (packed.header("content-encoding"), packed.text()),
            ("gzip", "not really gzip".into())
        );
        assert!(packed.header("content-type").starts_with("text/css"));
        let shrunk =
            visit(&visitor, &format!("/{APP}")).header("accept-encoding", "br").expect(200);
        assert_eq!(shrunk.header("content-encoding"), "br");
        assert!(shrunk.body.len() < long.len() / 10 && shrunk.header("etag").starts_with("W/"));
    });
}

#[test]
fn unknown_pages_get_the_app_and_missing_files_are_404() {
    staging(|server| {
        let visitor = server.anonymous();
        deployed(&server.client(), &borrowed(&files("x")), "", &[]);
        let html = "text/html,application/xhtml+xml";
        let page = visit(&visitor, "/levels/3").header("accept", html).expect(200);
        assert_eq!(page.text(), "<h1>Tides</h1>");
        let status_for =
            |mode: &str| visit(&visitor, "/levels/3").header("sec-fetch-mode", mode).send().status;
        assert_eq!((status_for("navigate"), status_for("cors")), (200, 404));
        visit(&visitor, "/levels/3").expect(404);
        visit(&visitor, "/assets/gone-B3kf9xQ2.js").header("accept", html).expect(404);
        visit(&visitor, "/../../etc/passwd").expect(404);
        visit(&visitor, "/%2e%2e/%2e%2e/etc/passwd").expect(404);
        let refused = visitor.post("/").header("host", HOST).json(&json!({})).expect(405);
        assert_eq!(refused.header("allow"), "GET, HEAD");
        assert_eq!(
            visit(&visitor, "/api/x").expect(404).json::<Value>()["error"]["code"],
            "NOT_FOUND"
        );

        // By a path of any host, but without the rights of the server's own pages.
        let page = visitor.get("/_projects/tides/docs/").expect(200);
        assert_eq!(page.text(), "docs");
        assert!(page.header("content-security-policy").starts_with("sandbox "));
        visitor.get("/_projects/tides").expect(200);
        visitor.get("/_projects/moons/").expect(404);
        for host in ["moons-staging.localhost", "tides.localhost"] {
            visitor.get("/").header("host", host).expect(404);
        }
        assert_eq!(
            visitor.get("/health").header("host", "localhost").expect(200).json::<Value>()["status"],
            "ok"
        );
    });
}

const CODE: &str = r#"
import { env as own } from "cloudflare:workers";
if (own.secrets.KEY === "spring") throw new Error("spring tide");
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const name = url.pathname.replace("/api/", "");
    const body = await request.text();
    if (name === "add") {
      await env.DB.exec("CREATE TABLE IF NOT EXISTS note (text TEXT)");
      await env.DB.prepare("INSERT INTO note VALUES (?)").bind(body).run();
      await env.KV.put("last", "kept");
      await env.BUCKET.put("file", "in the bucket");
    }
    if (name === "notes") {
      const { results } = await env.DB.prepare("SELECT text FROM note").all();
      const [last, file] = [await env.KV.get("last"), await (await env.BUCKET.get("file")).text()];
      return Response.json({ notes: results.map((row) => row.text), last, file, version: "ONE" });
    }
    if (name === "headers") {
      const headers = [["set-cookie", "lyceum=theirs"], ["clear-site-data", "*"], ["x-tide", "low"]];
      return Response.json([...request.headers.keys()], { headers });
    }
    if (name === "self") return env.SELF.fetch("/api/notes");
    const { host, protocol, search, pathname } = url;
    return Response.json({ host, protocol, search, pathname, method: request.method, body,
      secret: env.secrets.KEY, game: env.GAME_ID, from: request.headers.get("x-forwarded-for"),
      scheme: request.headers.get("lyceum-scheme") }, { status: 202, headers: { "x-tide": "high" } });
  },
};
"#;

fn notes(server: &TestServer) -> Value {
    visit(&server.anonymous(), "/api/notes").expect(200).json()
}

#[test]
fn a_backend_stores_data_and_is_replaced_only_by_one_that_answers() {
    staging(|server| {
        let (client, visitor) = (server.client(), server.anonymous());
        let page: &[(&str, &[u8])] = &[("index.html", b"page")];
        deployed(&client, page, CODE, &[("KEY", "k1")]);
        let echo = visitor.put("/api/echo?a=b%20c").header("host", HOST).body("text/plain", "hi");
        let echo = echo.expect(202);
        assert_eq!(echo.header("x-tide"), "high");
        let echoed: Value = echo.json();
        let expected = json!({
            "host": HOST, "protocol": "http:", "search": "?a=b%20c", "pathname": "/api/echo",
            "method": "PUT", "body": "hi", "secret": "k1", "game": SLUG, "from": "127.0.0.1",
            "scheme": null,
        });
        assert_eq!(echoed, expected);
        visitor.post("/api/add").header("host", HOST).body("text/plain", "one").expect(202);
        let kept =
            json!({ "notes": ["one"], "last": "kept", "file": "in the bucket", "version": "ONE" });
        assert_eq!(notes(server), kept);
        assert_eq!(visit(&visitor, "/api/self").expect(200).json::<Value>(), kept);
        assert_eq!(visitor.get("/_projects/tides/api/notes").expect(200).json::<Value>(), kept);
        assert_eq!(visit(&visitor, "/").expect(200).text(), "page");

        // By a path of the server's own host, it can neither read nor set the host's data in browsers.
        let seen = |path: &str, host: &str| {
            let call = visitor.get(path).header("host", host).header("cookie", "lyceum=mine");
            let reply = call.header("authorization", "Bearer mine").expect(200);
            let seen = reply.json::<Vec<String>>();
            let is_told =
                ["cookie", "authorization"].map(|name| seen.iter().any(|seen| seen == name));
            let sets = ["set-cookie", "clear-site-data"].map(|name| !reply.header(name).is_empty());
            assert_eq!(reply.header("x-tide"), "low");
            (is_told, sets)
        };
        assert_eq!(seen("/api/headers", HOST), ([true; 2], [true; 2]));
        let own = server.setup().config.server.listen.clone();
        assert_eq!(seen("/_projects/tides/api/headers", &own), ([false; 2], [false; 2]));
        let other = visitor.get("/_projects/tides/api/headers");
        other.header("host", "moons-staging.localhost").expect(404);

        // A request with a too large announced length is refused.
        let refused_with = |head: &str| {
            let mut stream = TcpStream::connect(&own).unwrap();
            let head = format!("PUT /api/echo HTTP/1.1\r\nhost: {HOST}\r\n{head}\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            let mut status = [0; 12];
            stream.read_exact(&mut status).unwrap();
            String::from_utf8_lossy(&status).into_owned()
        };
        let size = limits::BACKEND_BODY_MAX_BYTES + 1;
        assert_eq!(refused_with(&format!("content-length: {size}")), "HTTP/1.1 413");

        // A version that does not start changes nothing.
        let refused = deploy(
            &client,
            page,
            "throw new Error('low tide'); export default {};",
            &[("KEY", "k2")],
        );
        assert_eq!(refused.status, 422);
        assert!(refused.text().contains("low tide"), "{}", refused.text());
        let refused = deploy(&client, page, CODE, &[("KEY", "spring")]);
        assert_eq!(refused.status, 422, "the same code with a secret that it does not start with");
        assert!(refused.text().contains("spring tide"), "{}", refused.text());
        assert_eq!(notes(server), kept);
        server.restart();
        assert_eq!(notes(server), kept);

        deployed(&client, page, &CODE.replace("ONE", "TWO"), &[("KEY", "k2")]);
        assert_eq!(notes(server)["version"], "TWO");
        assert_eq!(visit(&visitor, "/api/x").expect(202).json::<Value>()["secret"], "k2");
        client.post(&format!("/api/projects/{SLUG}/rollback")).json(&json!({})).expect(200);
        assert_eq!(notes(server), kept);
        assert_eq!(visit(&visitor, "/api/x").expect(202).json::<Value>()["secret"], "k1");
    });
}

#[test]
fn a_visitor_who_reads_nothing_is_disconnected_and_a_slow_one_is_not() {
    staging(|server| {
        let mut random = 1u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        };
        let film: Vec<u8> = (0..7_500_000).map(|_| next()).collect();
        deployed(&server.client(), &[("index.html", b"page"), ("film.bin", &film)], "", &[]);
        let mut setup = server.setup().clone();
        setup.listen_anew();
        setup.config.server.request_timeout_s = 1;
        let strict = TestServer::start_as(server.target(), setup);
        let listen = strict.setup().config.server.listen.clone();
        let ask = || {
            // Otherwise the system would buffer the whole film for its visitor.
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.set_recv_buffer_size(64 * 1024).unwrap();
            socket.connect(&listen.parse::<SocketAddr>().unwrap().into()).unwrap();
            let mut stream = TcpStream::from(socket);
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let head =
                format!("GET /film.bin HTTP/1.1\r\nhost: {HOST}\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            stream
        };
        // The visitor can get only the few megabytes that the systems buffered.
        let mut idle = ask();
        let mut slow = ask();
        let mut taken = vec![0; 750_000];
        for _ in 0..8 {
            std::thread::sleep(Duration::from_millis(400));
            slow.read_exact(&mut taken).unwrap();
        }
        let mut rest = Vec::new();
        slow.read_to_end(&mut rest).unwrap();
        assert!(rest.ends_with(&film[6_000_000..]), "{}", rest.len());
        let mut got = Vec::new();
        let _ = idle.read_to_end(&mut got);
        assert!(got.len() < film.len(), "nothing was cut: {} bytes", got.len());
    });
}

/// Asks the platform for codes, each time with another address in the headers.
const ASKS_OFTEN: &str = r#"export default { async fetch(request, env) {
  const { searchParams } = new URL(request.url);
  const statuses = [];
  for (let n = 0; n < Number(searchParams.get("count")); n++) {
    const headers = { "content-type": "application/x-www-form-urlencoded",
      "x-forwarded-for": `198.51.100.${n}`, "forwarded": `for=198.51.100.${n}`, "x-real-ip": `198.51.100.${n}` };
    const asked = await env.LYCEUM.fetch("/oauth2/device_authorization",
      { method: "POST", headers, body: "client_id=lyceum-cli" });
    statuses.push(asked.status);
  }
  return Response.json(statuses);
} };"#;

#[test]
fn what_a_backend_asks_counts_for_its_project_whatever_its_headers_say() {
    let mut setup = Setup::default();
    setup.config.server.env = Environment::Staging;
    setup.config.server.trusted_proxies = serde_json::from_str(r#"["127.0.0.0/8"]"#).unwrap();
    both_as(&setup, |server| {
        deployed(&server.client(), &[("index.html", b"tides")], ASKS_OFTEN, &[]);
        let count = GUESSES_ADDRESS_COUNT + 2;
        let path = format!("/api/ask?count={count}");
        let statuses: Vec<u16> = visit(&server.anonymous(), &path).expect(200).json();
        let refused = statuses.iter().filter(|status| **status == 429).count();
        assert_eq!((statuses.len(), refused), (usize::try_from(count).unwrap(), 2), "{statuses:?}");
        // Others on this machine have their own tries.
        let form = [("client_id", "lyceum-cli")];
        server.anonymous().post("/oauth2/device_authorization").form(&form).expect(200);
    });
}

/// Sets headers that affect the whole host, and headers that describe the answer.
const SAYS_MUCH: &str = r#"export default { fetch() {
  const headers = new Headers({
    "NEL": '{"report_to":"all","max_age":99,"include_subdomains":true}',
    "Report-To": '{"group":"all","max_age":99,"endpoints":[{"url":"https://evil.example"}]}',
    "Reporting-Endpoints": 'default="https://evil.example"',
    "Strict-Transport-Security": "max-age=99; includeSubDomains",
    "Alt-Svc": 'h3="evil.example:443"; ma=99',
    "Clear-Site-Data": '"*"',
    "Service-Worker-Allowed": "/",
    "Content-Security-Policy": "default-src *; report-uri https://evil.example",
    "Content-Security-Policy-Report-Only": "default-src 'none'; report-uri https://evil.example",
    "Refresh": "0; url=https://evil.example",
    "Accept-CH": "Sec-CH-UA-Model",
    "Origin-Agent-Cluster": "?1",
    "WWW-Authenticate": 'Basic realm="Lyceum"',
    "X-Accel-Redirect": "/etc/passwd",
    "Content-Type": "application/json",
    "ETag": '"tide"',
    "Cache-Control": "max-age=7",
    "Access-Control-Allow-Origin": "https://page.example",
    "Location": "/elsewhere",
    "X-Tide": "low",
  });
  headers.append("Set-Cookie", "lyceum=stolen; Path=/console");
  headers.append("Set-Cookie", "__Host-lyceum=stolen; Path=/; Secure");
  return new Response("{}", { status: 201, headers });
} };"#;

#[test]
fn a_backend_below_a_path_cannot_set_headers_for_the_whole_host() {
    staging(|server| {
        deployed(&server.client(), &[("index.html", b"tides")], SAYS_MUCH, &[]);
        let visitor = server.anonymous();
        let of_host = [
            "nel",
            "report-to",
            "reporting-endpoints",
            "strict-transport-security",
            "alt-svc",
            "clear-site-data",
            "service-worker-allowed",
            "content-security-policy-report-only",
            "refresh",
            "accept-ch",
            "origin-agent-cluster",
            "www-authenticate",
            "x-accel-redirect",
            "set-cookie",
        ];
        let by_host = visit(&visitor, "/api/much").expect(201);
        let by_path = visitor.get(&format!("/_projects/{SLUG}/api/much")).expect(201);
        for name in of_host {
            assert_ne!(by_host.header(name), "", "{name}: its own host is the project's");
            assert_eq!(by_path.header(name), "", "{name}");
        }
        assert!(by_path.header("content-security-policy").starts_with("sandbox "));
        for (name, value) in [
            ("content-type", "application/json"),
            ("etag", "\"tide\""),
            ("cache-control", "max-age=7"),
            ("access-control-allow-origin", "https://page.example"),
            ("location", "/elsewhere"),
            ("x-tide", "low"),
        ] {
            assert_eq!(by_path.header(name), value, "{name}");
        }
        assert_eq!(by_path.text(), "{}");
    });
}
