//! A believable school network of any size, as a OneRoster package.
//!
//! Everything is a function of the seed and of a number, computed again for each file: memory does
//! not grow with the students, and the same seed and size give the same bytes.
#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of a demo network are far below 32 bits"
)]

mod calendar;
mod catalogue;
mod content;
mod gradebook;
mod names;
mod network;
mod people;
mod plan;
mod roster;
mod towns;

use std::io::{Seek, Write};

use lyceum_core::{Problem, ProblemKind, Result};

use crate::csv::files::BEYOND_THE_STANDARD;
use crate::csv::package::PackageWriter;
use crate::csv::{ExportContent, FileMode};
use network::Network;

/// The generated files with their numbers of rows.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// File name without `.csv`, and rows.
    pub files: Vec<(&'static str, u64)>,
}

/// Students that one network has at most: their ids have seven digits.
pub const MAX_STUDENTS: u64 = 9_999_999;

/// Generates a network with that many students and writes it to `out` as a zip; a complete one has the files
/// that OneRoster does not have, too.
///
/// `progress` is called with the name of each file when it begins.
/// Errors: `Invalid` if `students` is 0 or above [`MAX_STUDENTS`]; those of `out`.
pub fn generate<W: Write + Seek>(
    students: u64,
    seed: u64,
    content: ExportContent,
    out: W,
    mut progress: impl FnMut(&'static str),
) -> Result<Summary> {
    if !(1..=MAX_STUDENTS).contains(&students) {
        return Err(Problem::new(
            ProblemKind::Invalid,
            format!("a demo network has 1 to {MAX_STUDENTS} students, not {students}"),
        ));
    }
    let network = Network { students, seed };
    let mut package = PackageWriter::new(out, FileMode::Bulk);
    let all = roster::FILES.iter().chain(content::FILES).chain(gradebook::FILES);
    let is_in = |name| content == ExportContent::Complete || !BEYOND_THE_STANDARD.contains(name);
    for write in all.filter(|write| is_in(&write.file)) {
        let file = crate::csv::files::by_name(write.file).expect("the demo writes known files");
        progress(file.name);
        let more: Vec<String> = write.more.iter().map(ToString::to_string).collect();
        package.file(file, &more, |rows| {
            (write.rows)(network, &mut |cells| rows.row(cells.iter().copied()))
        })?;
    }
    let (files, mut out) = package.finish("Lyceum demo network")?;
    out.flush().map_err(Problem::internal)?;
    Ok(Summary { files })
}

/// A function that generates the rows of one file.
struct FileGenerator {
    file: &'static str,
    /// Metadata columns behind the columns of the table.
    more: &'static [&'static str],
    rows: fn(Network, RowSink<'_>) -> Result<()>,
}

/// Takes one row.
type RowSink<'a> = &'a mut dyn FnMut(&[&str]) -> Result<()>;

const fn file(
    name: &'static str,
    more: &'static [&'static str],
    rows: fn(Network, RowSink<'_>) -> Result<()>,
) -> FileGenerator {
    FileGenerator { file: name, more, rows }
}
