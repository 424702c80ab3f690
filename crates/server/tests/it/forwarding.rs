//! Several nodes on PostgreSQL: any of them answers requests for a project, with the help of the node that holds it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_access::Role;
use lyceum_core::PayloadDialect;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_hosting::leases;
use lyceum_hosting::nodes::{self, Node, NodeSettings};
use lyceum_testkit::fresh_database;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::TestServer;
use serde_json::{Value, json};

use crate::events::Stream;
use crate::homes::{deploy, named, other, project, routes_below};
use crate::hosted::{SLUG, deployed};
use crate::people;
use crate::projects::{artifact, begin, build, piece, plan, send, state, upload, wanted};

/// Two nodes of a PostgreSQL database.
fn nodes() -> (TestServer, TestServer) {
    let oak = TestServer::start_as(&fresh_database(&lyceum_api::migrations()), named("oak"));
    let elm = other(&oak, "elm", None);
    (oak, elm)
}

/// Sends the text and returns the lines of the answer until the connection ends or pauses.
fn exchange(node: &TestServer, request: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(&node.setup().config.server.listen).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    BufReader::new(stream)
}

fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

#[test]
#[ignore = "rest"]
fn any_node_answers_every_route_of_a_project_as_its_holder_does() {
    let (oak, elm) = nodes();
    deploy(&oak, "one", "notes");
    let token = oak.token(&[], PayloadDialect::Platform);
    let [at_oak, at_elm] = [&oak, &elm].map(|node| node.anonymous().with_token(&token));
    for (method, path, media) in routes_below(&elm, "/api/projects/{slug}") {
        if method == "DELETE" {
            continue;
        }
        let answers = [&at_oak, &at_elm].map(|client| {
            let call = client.call(method.clone(), &path);
            match &media {
                Some(media) => call.body(media, "{}").send(),
                None if path.ends_with("/stream") => client.get("/api/projects/rivers").send(),
                None => call.send(),
            }
        });
        let [here, there] = &answers;
        assert_eq!(here.status, there.status, "{method} {path}: {}", there.text());
        assert_ne!(there.status, 421, "{method} {path}");
    }
    people::person(&elm, "ada@example.org", "Ada", Role::Administrator);
    let cookie = people::signed_in(&elm, "ada@example.org");
    for page in ["", "/logs", "/bucket", "/secrets", "/changes", "/diff"] {
        let path = format!("/console/projects/rivers{page}");
        elm.anonymous().get(&path).header("cookie", &cookie).expect(200);
        elm.anonymous().get(&path).expect(303);
    }
    for path in ["/_projects/rivers/", "/play/rivers?mode=demo"] {
        let there = elm.anonymous().get(path).header("x-request-id", "hop-1").expect(200);
        assert_eq!(there.header("x-request-id"), "hop-1");
        assert_eq!(there.text(), oak.anonymous().get(path).expect(200).text());
    }
    let object = at_elm.get("/api/projects/rivers/bucket/object?key=map").expect(200);
    assert_eq!(object.text(), "a map");
    elm.anonymous().get("/api/projects/rivers/state").expect(401);
    assert!(!project(&elm).exists(), "the other node makes no file of the project");
    at_elm.delete("/api/projects/rivers").expect(204);
    assert!(!project(&oak).exists(), "the project is deleted where its files are");
}

/// Deploys a new project, after which the node reads again which projects it holds.
fn deploy_new(client: &TestClient, slug: &str, zip: &[u8]) {
    let state = state(client, slug);
    let reply = send(client, &plan(&state, &wanted(&state, zip, &[])), &[]);
    assert_eq!(reply.status, 201, "{}", reply.text());
}

#[test]
#[ignore = "rest"]
fn a_deletion_succeeds_even_if_its_node_renews_the_lease_before_it_answers() {
    let (oak, elm) = nodes();
    deploy(&oak, "one", "notes");
    let folder = project(&oak).join("many");
    fs::create_dir(&folder).unwrap();
    // Deleting the links takes longer than a deploy.
    File::create(folder.join("0")).unwrap();
    for number in 1..40_000 {
        fs::hard_link(folder.join("0"), folder.join(number.to_string())).unwrap();
    }
    let (zip, at_oak, at_elm) = (build("two"), oak.client(), elm.client());
    upload(&at_oak, &zip);
    let reply = thread::scope(|scope| {
        let deletion = scope.spawn(|| at_elm.delete("/api/projects/rivers").send());
        for number in (0..).take_while(|_| !deletion.is_finished()) {
            deploy_new(&at_oak, &format!("lake-{number}"), &zip);
        }
        deletion.join().unwrap()
    });
    assert_eq!(reply.status, 204, "{}", reply.text());
    assert_eq!(state(&at_elm, "rivers").version, None);
    assert!(!project(&oak).exists());
}

#[test]
fn a_deploy_through_another_node_happens_at_the_holder() {
    let (oak, elm) = nodes();
    let served = deploy(&oak, "one", "notes");
    let zip = build("two");
    upload(&oak.client(), &zip);
    let mut wish = wanted(&served, &zip, &[]);
    wish.uses = served.uses;
    let reply = send(&elm.client(), &plan(&served, &wish), &[]);
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(state(&elm.client(), "rivers").version, Some(2));
    assert_eq!(oak.anonymous().get("/_projects/rivers/").expect(200).text(), "two");
    assert!(!project(&elm).exists());
}

#[test]
#[ignore = "rest"]
fn pieces_of_an_upload_reach_the_node_where_it_began() {
    let (oak, elm) = nodes();
    let (bytes, token) = (b"a river runs", oak.token(&[], PayloadDialect::Platform));
    let [at_oak, at_elm] = [&oak, &elm].map(|node| node.anonymous().with_token(&token));
    let id = begin(&at_oak, &artifact(bytes))["id"].as_str().unwrap().to_owned();
    assert_eq!(piece(&at_elm, &id, "bytes 0-4/12", &bytes[..5]).status, 200);
    let progress = at_elm.get(&format!("/api/uploads/{id}")).expect(200);
    assert_eq!(progress.header("upload-offset"), "5");
    let whole: Value = piece(&at_elm, &id, "bytes 5-11/12", &bytes[5..]).json();
    assert_eq!(whole["complete"], true);
    assert_eq!(begin(&at_oak, &artifact(bytes))["complete"], true, "it is at the first node");
}

const BACKEND: &str = r#"
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/api/echo") return new Response(request.body);
    if (pathname === "/api/socket") {
      const [theirs, own] = Object.values(new WebSocketPair());
      own.accept();
      own.addEventListener("message", (event) => own.send(`echo ${event.data}`));
      return new Response(null, { status: 101, webSocket: theirs });
    }
    if (pathname !== "/api/visit") return new Response("");
    await env.KV.put("visits", String(Number(await env.KV.get("visits")) + 1));
    const header = (name) => request.headers.get(name);
    return Response.json({ visits: await env.KV.get("visits"), from: header("x-forwarded-for"),
      trace: header("traceparent"), hop: header("lyceum-forwarded") });
  },
};
"#;

#[test]
#[ignore = "rest"]
fn a_backend_is_reached_through_another_node_with_streams_and_sockets() {
    let (oak, elm) = nodes();
    deployed(&oak.client(), &[("index.html", b"tides")], BACKEND, &[]);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let path = format!("/_projects/{SLUG}/api");
    for (node, visits) in [(&oak, "1"), (&elm, "2")] {
        let visitor = node.anonymous();
        let call = visitor.get(&format!("{path}/visit")).header("traceparent", trace);
        let response: Value = call.expect(200).json();
        let expected =
            json!({ "visits": visits, "from": "127.0.0.1", "trace": trace, "hop": null });
        assert_eq!(response, expected);
    }

    // The answer begins before the request has ended.
    let head = "HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst\n\r\n";
    let mut stream = exchange(&elm, &format!("POST {path}/echo {head}"));
    assert_eq!(line(&mut stream), "HTTP/1.1 200 OK");
    while line(&mut stream) != "first" {}
    stream.get_mut().write_all(b"7\r\nsecond\n\r\n0\r\n\r\n").unwrap();
    while line(&mut stream) != "second" {}

    let upgrade = "HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let mut socket = exchange(&elm, &format!("GET {path}/socket {upgrade}"));
    assert_eq!(line(&mut socket), "HTTP/1.1 101 Switching Protocols");
    while !line(&mut socket).is_empty() {}
    // A text of two bytes, masked with zeros (RFC 6455, 5.2).
    socket.get_mut().write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i']).unwrap();
    let mut echo = [0; 9];
    socket.read_exact(&mut echo).unwrap();
    assert_eq!(&echo[2..], b"echo hi");
}

#[test]
#[ignore = "rest"]
fn lines_of_a_log_arrive_through_another_node_as_they_are_written() {
    let (oak, elm) = nodes();
    deployed(&oak.client(), &[("index.html", b"tides")], BACKEND, &[]);
    people::person(&elm, "ada@example.org", "Ada", Role::Administrator);
    let cookie = format!("Cookie: {}\r\n", people::signed_in(&elm, "ada@example.org"));
    let path = format!("/console/projects/{SLUG}/logs/stream");
    let mut log = Stream::at(&elm.address(), &path, &cookie);
    oak.anonymous().get(&format!("/_projects/{SLUG}/api/visit")).expect(200);
    while !log.line().contains("GET /api/visit") {}
}

#[test]
fn a_forged_header_of_forwarded_requests_is_refused() {
    let (oak, elm) = nodes();
    deploy(&oak, "one", "notes");
    let id = |node: &TestServer| {
        let path = crate::homes::hosting(node).join("node.json");
        let identity: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        identity["id"].as_str().unwrap().to_owned()
    };
    let now = oak.setup().clock.now().milliseconds();
    for node in [&oak, &elm] {
        for value in ["", "x", &format!("{} {now} 10.1.2.3 AAAA", id(node))] {
            for path in ["/_projects/rivers/", "/api/projects/rivers/state", "/health"] {
                let reply = node.anonymous().get(path).header("lyceum-forwarded", value).send();
                assert_eq!(reply.status, 403, "{path} with {value}: {}", reply.text());
            }
        }
    }
}

#[test]
#[ignore = "rest"]
fn a_project_waits_for_its_node_if_no_other_node_can_get_its_files() {
    let (mut oak, elm) = nodes();
    deploy(&oak, "one", "notes");
    elm.anonymous().get("/_projects/rivers/").expect(200);
    oak.stop();
    let refused = elm.anonymous().get("/_projects/rivers/").expect(503);
    assert!(refused.text().contains("'oak'"), "{}", refused.text());
    assert_eq!(refused.header("retry-after"), "1");
    elm.client().get("/api/projects/rivers/state").expect(503);
    oak = TestServer::start_as(oak.target(), oak.setup().clone());
    let begun = Instant::now();
    while elm.anonymous().get("/_projects/rivers/").send().status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(5), "the node is back");
    }
    drop(oak);
}

#[test]
#[ignore = "rest"]
fn a_piece_of_an_upload_does_not_wait_for_ever_for_a_node_that_was_paused() {
    let mut setup = named("oak");
    setup.config.server.request_timeout_s = 1;
    let oak = TestServer::start_as(&fresh_database(&lyceum_api::migrations()), setup);
    // It accepts connections, as the kernel does for a process that was stopped, and never answers.
    let paused = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = paused.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let about = NodeSettings { name: "elm", address: &address, shares_blobs: false };
    let (elm, _lock) = Node::of_folder(folder.path(), &about).unwrap();
    let now = SystemClock.now();
    oak.db()
        .write_blocking(|tx| {
            nodes::note(tx, now, &elm)?;
            leases::renew(tx, &elm, leases::since_start(), None).map(drop)
        })
        .unwrap();
    let begun = Instant::now();
    let own = begin(&oak.client(), &artifact(b"a river runs"))["id"].as_str().unwrap().to_owned();
    let id = own.replace(&own[own.len() - elm.tag().len()..], elm.tag());
    let reply = oak.client().get(&format!("/api/uploads/{id}")).send();
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert!(reply.text().contains("does not answer"), "{}", reply.text());
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}
