//! Q1 and its scoring: what the library costs, in this process.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lyceum_core::random::RandomStream;
use lyceum_qti::{Responses, ScoringInput, check, read_item, score};
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};
use serde_json::json;

use super::{Options, item};
use crate::goals::Finding;
use crate::limits::measure;
use crate::pairs::Spread;

/// Documents that are read between two looks at the clock.
const CALLS: u64 = 100;

/// Q1: CPU of reading and checking an item beside a scan of its events, in turn.
pub(super) fn reading(options: &Options) -> Result<Finding> {
    let xml = item("item-0001");
    let (mut ratios, mut detail) = (Vec::new(), String::new());
    for _ in 0..options.run.rounds() {
        let scan = measure("scan of an item's events", options.run.time(), || {
            (0..CALLS).try_for_each(|_| scan(black_box(&xml)))?;
            Ok(CALLS)
        })?;
        let read = measure("an item read and checked", options.run.time(), || {
            for _ in 0..CALLS {
                black_box(read_item(black_box(&xml))?);
            }
            Ok(CALLS)
        })?;
        ratios.push(scan.per_cpu_second / read.per_cpu_second);
        detail = format!(
            "{} bytes; scan {:.2} µs, read {:.2} µs",
            xml.len(),
            1e6 / scan.per_cpu_second,
            1e6 / read.per_cpu_second
        );
    }
    Ok(Finding::new("Q1", Spread::of(ratios), detail))
}

/// Every event, attribute and text, with references resolved.
fn scan(xml: &str) -> Result<()> {
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event()? {
            Event::Start(tag) | Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    black_box(attribute?.normalized_value(XmlVersion::Explicit1_0)?);
                }
            }
            Event::Text(text) => drop(black_box(text.xml10_content())),
            Event::Eof => return Ok(()),
            other => drop(black_box(other)),
        }
    }
}

/// The time of one response to an item that was read: from JSON, against its interaction, scored.
pub(super) fn scoring(options: &Options) -> Result<Finding> {
    let item = read_item(&item("item-0001"))?;
    let json = json!({ "RESPONSE": "C" });
    let values = json.as_object().context("it is an object")?;
    let mut random = RandomStream::seeded(1);
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < options.run.time() {
        let start = Instant::now();
        let responses = Responses::from_json(&item, values).ok().context("it fits")?;
        black_box(check(&item, &responses));
        black_box(score(&item, &responses, ScoringInput::default(), &mut random));
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let p99 = us(times[times.len() * 99 / 100]);
    let detail = format!("p50 {:.2} µs of {} responses", us(times[times.len() / 2]), times.len());
    Ok(Finding::new("Q1.score", p99, detail))
}
