//! The log of a backend: the lines that this server has in memory, and new lines as they arrive.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use lyceum_api::Context;
use lyceum_api::events::stream::still_allowed;
use lyceum_console::{Cell, Column, List, ListFilter, ListQuery, t};
use lyceum_core::Result;
use lyceum_hosting::engine::{BackendLogLine, LogStream};
use lyceum_http::answer::Answer;
use lyceum_http::sse::{self, EventFeed};
use lyceum_store::Tx;
use tokio::sync::mpsc::channel;
use tokio::time::Instant;

use super::{admit, query, read, show_list, view};
use crate::console::Visitor;

const LINES: &[Column] =
    &[Column::text("time", "Time"), Column::text("stream", "Source"), Column::text("text", "Line")];
/// The name and tone of each source of lines.
const STREAMS: [(LogStream, &str, &str); 4] = [
    (LogStream::Out, "out", ""),
    (LogStream::Error, "error", "bad"),
    (LogStream::Engine, "engine", "warn"),
    (LogStream::Request, "request", ""),
];

fn stream_label(stream: LogStream) -> (&'static str, &'static str) {
    let found = STREAMS.iter().find(|(known, ..)| *known == stream);
    found.map_or(("out", ""), |(_, name, tone)| (*name, *tone))
}

/// The name of a source of lines in the reader's language.
fn stream_name(name: &str) -> String {
    match name {
        "error" => t!("error"),
        "engine" => t!("engine"),
        "request" => t!("request"),
        _ => t!("output"),
    }
}

/// The filter for lines from the address.
struct LogFilter {
    query: ListQuery,
    stream: String,
}

impl LogFilter {
    fn of(context: &Context) -> Self {
        let query = query(context);
        Self { stream: query.parameter("stream").to_owned(), query }
    }

    fn takes(&self, line: &BackendLogLine) -> bool {
        let (name, _) = stream_label(line.stream);
        (self.stream.is_empty() || self.stream == name) && self.query.finds(&[name, &line.text])
    }
}

pub(super) async fn show_logs(context: Context, visitor: Visitor) -> Result<Answer> {
    let (slug, ()) = read(&context, &visitor, |_, _| Ok(())).await?;
    let wanted = LogFilter::of(&context);
    let mut lines = context.app.hosted.logs(&slug);
    let newest = lines.last().map_or(0, |line| line.id);
    lines.retain(|line| wanted.takes(line));
    let row = |line: &BackendLogLine| {
        let (name, tone) = stream_label(line.stream);
        vec![
            visitor.exact_time(line.at),
            Cell::of(name, stream_name(name)).toned(tone),
            Cell::text(&line.text),
        ]
    };
    let rows = lines.iter().rev().map(row).collect();
    let query = wanted.query;
    let is_end = query.page == 1 && query.sort.is_empty();
    let path = format!("/console/projects/{slug}/logs");
    let stream = query.link(&[]).replacen(&path, &format!("{path}/stream"), 1);
    let list = List::new("Log", LINES, query, rows)
        .or_else("The log is empty since the server started the backend. New lines appear here.")
        .choice(ListFilter::of(
            "stream",
            "Source",
            STREAMS.iter().map(|(_, name, _)| (*name, stream_name(name))),
        ));
    let page = view::LogsPage {
        frame: visitor.frame(t!("Logs of {project}", project = slug)),
        tabs: view::tabs("Logs", &slug),
        list,
        tail: is_end.then_some((stream, newest)),
    };
    show_list("log", &page.list, &page)
}

pub(super) async fn streamed(context: Context, visitor: Visitor) -> Result<Answer> {
    let (slug, ()) = read(&context, &visitor, |_, _| Ok(())).await?;
    let seen = context.header(sse::LAST_EVENT_ID).and_then(|text| text.trim().parse().ok());
    let wanted = LogFilter::of(&context);
    let after = seen.or_else(|| wanted.query.parameter("after").parse().ok()).unwrap_or_default();
    let (sender, receiver) = channel(1);
    let context = Arc::new(context);
    let may_read = still_admitted(Arc::clone(&context), slug.clone());
    tokio::spawn(follow_lines(context, slug, wanted, after, EventFeed::new(sender, may_read)));
    Ok(sse::answer(receiver))
}

fn still_admitted(context: Arc<Context>, slug: String) -> sse::StillAllowed {
    Box::new(move || {
        let (context, slug) = (Arc::clone(&context), slug.clone());
        Box::pin(async move {
            let Some(grant) = still_allowed(&context).await else { return false };
            // Check again, because the person's role may have changed since the stream began.
            let Some(holder) = grant.holder().cloned() else { return false };
            let node = Arc::clone(&context.app.cluster.node);
            let admit = move |tx: &mut Tx<'_>| admit(tx, &node, &holder, &slug).map(drop);
            context.app.db.read(admit).await.is_ok()
        })
    })
}

/// Sends lines as they arrive, until the reader disconnects or loses access, or the server stops.
async fn follow_lines(
    context: Arc<Context>,
    slug: String,
    wanted: LogFilter,
    mut after: i64,
    mut feed: EventFeed,
) {
    let heartbeat = Duration::from_secs(lyceum_api::limits::EVENT_STREAM_HEARTBEAT_S);
    let mut last_sent = Instant::now();
    let mut text = String::from(": begin\n\n");
    while !context.app.draining.load(Relaxed) {
        let mut lines = context.app.hosted.logs(&slug);
        lines.retain(|line| line.id > after);
        after = lines.last().map_or(after, |line| line.id);
        for line in lines.iter().filter(|line| wanted.takes(line)) {
            let json = serde_json::to_string(line).expect("a line has string keys");
            let _ = write!(text, "id: {}\ndata: {json}\n\n", line.id);
        }
        if last_sent.elapsed() >= heartbeat {
            last_sent = Instant::now();
            text.push_str(": alive\n\n");
        }
        if !feed.send(std::mem::take(&mut text)).await || !feed.pause(sse::POLL).await {
            return;
        }
    }
}
