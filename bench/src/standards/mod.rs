//! `lyceum-bench standards`: a large framework of academic standards, imported and read.

use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::goals::Finding;
use crate::limits::{Key, event_insert};
use crate::lyceum::LyceumProgram;
use crate::options::RunOptions;
use crate::pairs::Spread;
use crate::report::Report;
use crate::server::SERVER_CORE;

/// Items of the framework.
const ITEMS: usize = 20_000;
/// Items below each.
const CHILDREN: usize = 12;
/// `lastChangeDateTime` of everything.
const MODIFIED: &str = "2026-01-15T08:00:00Z";
const FRAMEWORK: &str = "7e000000-0000-4000-8000-000000000001";

/// How long a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
}

/// Measures and reports. Errors: any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    let data = format!("a framework of {ITEMS} items");
    let mut report = Report::start("standards", &options.run, data)?;
    report.add(measure(options)?);
    report.finish(&options.run)
}

/// Import into an empty database, then reads of the whole package and a search, over HTTP.
#[expect(clippy::cast_precision_loss, reason = "items are few")]
fn measure(options: &Options) -> Result<[Finding; 4]> {
    let rounds = options.run.rounds();
    let scratch = tempfile::tempdir_in(options.run.folder.canonicalize()?)?;
    let file = scratch.path().join("framework.json");
    std::fs::write(&file, framework().to_string())?;
    let lyceum = |round: usize| LyceumProgram {
        program: options.run.lyceum.clone(),
        data: scratch.path().join(format!("data-{round}")),
        database: None,
    };
    let (mut imports, mut ratios) = (Vec::new(), Vec::new());
    let item = item(1).to_string();
    let mut peak = 0.0;
    for round in 0..rounds {
        let run = lyceum(round).import_standards(&file)?;
        let raw = event_insert(scratch.path(), &item, Key::Random, options.run.time())?;
        ratios.push(ITEMS as f64 / run.time.as_secs_f64() / raw.per_second);
        imports.push(run.time.as_secs_f64());
        peak = run.peak_mib.max(peak);
    }
    let server = lyceum(0).serve(SERVER_CORE)?;
    let (mut reads, mut searches, mut bytes) = (Vec::new(), Vec::new(), 0);
    for round in 0..rounds.max(5) {
        let start = Instant::now();
        let package = server.get(&format!("/ims/case/v1p1/CFPackages/{FRAMEWORK}"))?;
        reads.push(start.elapsed().as_secs_f64() * 1e3);
        bytes = package.len();
        ensure!(
            package.matches("\"fullStatement\"").count() == ITEMS,
            "the package has every item"
        );
        let start = Instant::now();
        let found =
            server.get(&format!("/ims/case/v1p1/CFItems?search=statement{}%20frac", round + 1))?;
        searches.push(start.elapsed().as_secs_f64() * 1e3);
        ensure!(found.contains("\"fullStatement\""), "the search finds an item");
    }
    let size = std::fs::metadata(&file)?.len() / 1_000_000;
    let of = |finding: &str, figures: Vec<f64>, detail: String| {
        Finding::new(finding, Spread::of(figures), detail)
    };
    Ok([
        of("C4.import", imports, format!("{ITEMS} items, {size} MB, peak {peak:.0} MiB")),
        of("C4.raw", ratios, "SQLite inserts of an item's text by a random key".to_owned()),
        of("C4.read", reads, format!("{bytes} bytes in the platform's shape")),
        of("C4.search", searches, "two words, 20 000 items have one of them".to_owned()),
    ])
}

fn id(kind: u32, number: usize) -> String {
    format!("7e{kind:06}-0000-4000-8000-{number:012}")
}

fn link(id: &str) -> Value {
    json!({ "title": "node", "identifier": id, "uri": format!("https://example.org/{id}") })
}

/// An item of the framework.
fn item(number: usize) -> Value {
    let id = id(1, number);
    json!({
        "identifier": id, "uri": format!("https://example.org/items/{id}"),
        "lastChangeDateTime": MODIFIED, "CFItemType": "Standard", "language": "en",
        "humanCodingScheme": format!("LY.{}.{}.{number}", number % 13, number % 7),
        "fullStatement": format!(
            "Students compare and order fractions with the same numerator or denominator, reason \
             about their size, and explain statement{number} to another student in writing"
        ),
        "educationLevel": [format!("{:02}", number % 13)],
    })
}

/// A framework of codes, statements and grades, as states publish them.
fn framework() -> Value {
    let association = |number: usize| {
        let parent =
            if number < CHILDREN { FRAMEWORK.to_owned() } else { id(1, number / CHILDREN) };
        json!({
            "identifier": id(2, number), "uri": "https://example.org/a", "lastChangeDateTime": MODIFIED,
            "associationType": "isChildOf", "sequenceNumber": number,
            "originNodeURI": link(&id(1, number)), "destinationNodeURI": link(&parent),
        })
    };
    json!({
        "CFDocument": {
            "identifier": FRAMEWORK, "uri": "https://example.org/d", "creator": "Board",
            "title": "Large", "lastChangeDateTime": MODIFIED,
        },
        "CFItems": (1..=ITEMS).map(item).collect::<Value>(),
        "CFAssociations": (1..=ITEMS).map(association).collect::<Value>(),
    })
}
