//! Output of backends is recorded whole, and mistakes in SQL are errors.

use lyceum_hosting::engine::{BackendLogLine, LogStream};

use crate::host::{Host, settings};

const PRINTS: &str = r#"
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/throw") throw new Error("thrown\nin two lines");
    if (pathname === "/long") { console.error("é\n\u0001".repeat(9000)); return new Response("long"); }
    if (pathname === "/fake") { console.log('{"timestamp":1,"level":"error","message":"fake"}'); return new Response(""); }
    console.log("first\nsecond", { a: 1 });
    console.error(new TypeError("a mistake"));
    console.warn("careful");
    console.info("told");
    return new Response("fine");
  },
};
"#;

#[tokio::test(flavor = "multi_thread")]
async fn each_call_of_the_console_is_one_record_with_its_lines_in_order() {
    let host = Host::new(settings());
    host.engine.install(host.worker("one", PRINTS)).unwrap();
    host.get("one", "/").await.unwrap();
    let records = printed(&host, 4).await;
    let found: Vec<_> = records.iter().map(|line| (line.stream, line.text.as_str())).collect();
    assert_eq!(found[0], (LogStream::Out, "first\nsecond { a: 1 }"));
    let (stream, text) = found[1];
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((stream, lines[0]), (LogStream::Error, "TypeError: a mistake"), "{found:?}");
    assert!(lines.len() > 1 && lines[1..].iter().all(|line| line.starts_with("    at ")), "{text}");
    assert_eq!(found[2..], [(LogStream::Error, "careful"), (LogStream::Out, "told")]);

    host.get("one", "/throw").await.unwrap();
    let records = printed(&host, 5).await;
    let thrown = &records[4];
    assert_eq!(thrown.stream, LogStream::Error);
    assert!(thrown.text.contains("thrown\nin two lines"), "{}", thrown.text);
    assert!(!thrown.text.contains("workerd@"), "addresses are nobody's business: {}", thrown.text);

    host.get("one", "/long").await.unwrap();
    let records = printed(&host, 6).await;
    let long = &records[5].text;
    assert!(long.starts_with("é\n\u{1}é") && (8000..=8192).contains(&long.len()), "{}", long.len());

    host.get("one", "/fake").await.unwrap();
    let records = printed(&host, 7).await;
    let fake = (records[6].stream, records[6].text.as_str());
    assert_eq!(fake, (LogStream::Out, r#"{"timestamp":1,"level":"error","message":"fake"}"#));
}

/// The printed records, as soon as there are `count`.
async fn printed(host: &Host, count: usize) -> Vec<BackendLogLine> {
    for _ in 0..1000 {
        let mut lines = host.engine.logs("one");
        lines.retain(|line| matches!(line.stream, LogStream::Out | LogStream::Error));
        if lines.len() >= count {
            return lines;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("there are not {count} records: {:?}", host.engine.logs("one"));
}

const ASKS: &str = r#"
export default {
  async fetch(request, env) {
    await env.DB.exec("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, body TEXT)");
    await env.DB.prepare('INSERT INTO notes ("body") VALUES (?)').bind("kept").run();
    const ask = async (sql) => { try { return (await env.DB.prepare(sql).all()).results; } catch (error) { return error.message; } };
    return Response.json([
      await ask('SELECT "nosuchcolumn" FROM notes'),
      await ask('SELECT "body" FROM notes WHERE "nosuchcolumn" = 1'),
      await ask('CREATE INDEX broken ON notes ("nosuchcolumn")'),
      await ask('SELECT "body" FROM notes'),
    ]);
  },
};
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_does_not_exist_is_an_error() {
    let host = Host::new(settings());
    host.engine.install(host.worker("one", ASKS)).unwrap();
    let (_, body) = host.get("one", "/").await.unwrap();
    let lines: Vec<serde_json::Value> = serde_json::from_str(&body).unwrap();
    for answer in &lines[..3] {
        assert!(answer.as_str().is_some_and(|it| it.contains("no such column: ")), "{body}");
    }
    assert_eq!(lines[3], serde_json::json!([{ "body": "kept" }]));
}
