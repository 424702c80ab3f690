//! Items created and responses scored over HTTP.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use super::{ITEM, Options, item};
use crate::anchor;
use crate::goals::Finding;
use crate::limits::{Key, event_insert};
use crate::load::{Sample, Target};
use crate::lyceum::LyceumProgram;
use crate::pairs::{Pairs, Spread};
use crate::server::{SERVER_CORE, Server};

/// Items that responses are to.
pub(super) const ITEMS: u64 = 1000;
/// Clients that answer.
const ANSWERING: u32 = 16;
/// Clients that create.
const CREATING: u32 = 64;

/// Creates and scored responses, on a fresh server beside a fresh anchor.
pub(super) fn measure(options: &Options) -> Result<[Finding; 3]> {
    let scratch = tempfile::tempdir_in(options.run.folder.canonicalize()?)?;
    let data = scratch.path().join("ours");
    let lyceum = LyceumProgram { program: options.run.lyceum.clone(), data, database: None };
    let lyceum = lyceum.serve(SERVER_CORE)?;
    for number in 0..ITEMS {
        let xml = item(&format!("item-{number:08}"));
        create(&lyceum, &json!({ "format": "xml", "xml": xml }).to_string())?;
    }
    let [rate, ratio] = scored(options, &lyceum, scratch.path())?;
    Ok([rate, ratio, creates(options, &lyceum, scratch.path())?])
}

fn create(server: &Server, body: &str) -> Result<()> {
    let (name, value) = server.headers[0].split_once(": ").context("a header line holds ': '")?;
    ureq::post(format!("http://{}/assessment-items", server.address))
        .header(name, value)
        .header("Content-Type", "application/json")
        .send(body)
        .context("an item was refused")?;
    Ok(())
}

/// Responses to items, beside point reads of the anchor.
fn scored(options: &Options, lyceum: &Server, folder: &Path) -> Result<[Finding; 2]> {
    let file = folder.join("anchor.db");
    anchor::fill(&file, ITEMS)?;
    let anchor = Server::anchor(&file, SERVER_CORE)?;
    let read = Target::Numbered("/users/user-%08d".into(), ITEMS);
    let score = Target::Post(
        "/assessment-items/item-{number}/process-response".into(),
        json!({ "identifier": "RESPONSE", "response": "C" }).to_string(),
        ITEMS,
    );
    let pairs = Pairs::measure(
        options.run.rounds(),
        || anchor.load(read.clone(), ANSWERING, options.run.time()),
        || lyceum.load(score.clone(), ANSWERING, options.run.time()),
    )?;
    let rate = |sample: &Sample| sample.requests_per_second;
    let median = |spread: Spread| spread.median;
    let detail = format!(
        "{:.1} µs CPU and p99 {:.2} ms a response, on one core",
        median(pairs.ours(|sample| sample.cpu_us)),
        median(pairs.ours(|sample| sample.p99_ms)),
    );
    let beside = format!(
        "ours {:.0}, anchor {:.0} req/s",
        median(pairs.ours(rate)),
        median(pairs.other(rate))
    );
    Ok([
        Finding::new("Q1.scored", pairs.ours(rate), detail),
        Finding::new("Q1.anchor", pairs.ratio(rate), beside),
    ])
}

/// Durable creates, beside raw inserts of the same bytes.
fn creates(options: &Options, lyceum: &Server, folder: &Path) -> Result<Finding> {
    let body = json!({ "format": "xml", "xml": ITEM }).to_string();
    let (mut ratios, mut detail) = (Vec::new(), String::new());
    for _ in 0..options.run.rounds() {
        let raw = event_insert(folder, ITEM, Key::Random, options.run.time())?.per_second;
        let target = Target::Post("/assessment-items".into(), body.clone(), 0);
        let sample = lyceum.load(target, CREATING, options.run.time())?;
        ratios.push(sample.requests_per_second / raw);
        detail = format!(
            "ours {:.0} items/s, {:.1} µs CPU, p50 {:.2} ms; raw {raw:.0}",
            sample.requests_per_second, sample.cpu_us, sample.p50_ms
        );
    }
    Ok(Finding::new("Q1.create", Spread::of(ratios), detail))
}
