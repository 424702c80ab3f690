//! The rate of intake and the time of analytics by the length of the log.

use anyhow::Result;

use super::{Options, analytics, intake, pace};
use crate::growth::{curve, fits};
use crate::lyceum::LyceumProgram;
use crate::options::RunOptions;
use crate::pairs::Spread;
use crate::report::Curve;
use crate::roster::networks::csv;
use crate::server::BOTH_CORES;

/// Bytes of a stored event, and of the log of changes before it is moved.
const BYTES_PER_EVENT: u64 = 400;
/// Events of each student, so that the log grows and the answers stay as they are.
const EVENTS_PER_STUDENT: u64 = 1000;
/// How many times longer measurements of intake may make the log before the next length is measured.
const LENGTHENED_MOST: u64 = 4;
/// What the sizes are.
const SIZE: &str = "events stored";

/// Measures intake and analytics on one log that grows to each of the sizes, and a little beyond them.
pub(crate) fn measure(run: &RunOptions, sizes: &[u64]) -> Result<Vec<Curve>> {
    let mut rates = curve("growth-intake", "Speed of event intake", SIZE, "events a second");
    let mut analytics = curve("growth-analytics", "Median time of analytics", SIZE, "ms");
    let largest = sizes.last().copied().unwrap_or(0);
    let students = largest / EVENTS_PER_STUDENT;
    // Longer loads would lengthen a short log tenfold.
    let run = &RunOptions { seconds: 1, ..run.clone() };
    let options = Options { run: run.clone(), students, stored: largest, servers: false };
    let scratch = tempfile::tempdir_in(run.folder.canonicalize()?)?;
    let data = scratch.path().join("ours");
    let lyceum = LyceumProgram { program: run.lyceum.clone(), data, database: None };
    lyceum.import(&csv(&run.folder, students)?)?;
    let server = lyceum.serve(BOTH_CORES)?;
    let mut stored = 0;
    for &size in sizes {
        if !fits(&run.folder, size, size * BYTES_PER_EVENT)? {
            break;
        }
        let few = (size / EVENTS_PER_STUDENT).max(1);
        stored = if stored == 0 {
            pace::fill(&server, size, few)?
        } else {
            intake::fill(&options, &server, stored..size, few)?
        };
        intake::wait_until_summed(&server)?;
        let sample = analytics::enrollment(&options, &server, few)?;
        analytics.add("an enrollment's 90 days", stored, sample.p50_ms);
        let (length, mut measured) = (stored, Vec::new());
        while measured.len() < run.rounds() && stored < length * LENGTHENED_MOST {
            let (rate, sent) = intake::rate(&options, &server)?;
            measured.push(rate);
            stored += sent;
        }
        rates.add("Lyceum, 100 an envelope", length, Spread::of(measured).median);
    }
    Ok(vec![rates, analytics])
}
