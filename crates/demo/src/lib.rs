//! A believable school network of any size, as a OneRoster package.
//!
//! Everything is a function of the seed and of a number, computed again for each file: memory does
//! not grow with the students, and the same seed and size give the same bytes. The folder `data` has the names.
//!
//! | what | where |
//! |---|---|
//! | districts, schools, and who learns where | `network` |
//! | students, families and staff | `names`, `people` |
//! | what is taught, and the timetable of a school | `courses`, `plan` |
//! | the rows of each file | `roster`, `content`, `gradebook` |
#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of a demo network are far below 32 bits"
)]

mod content;
mod courses;
mod gradebook;
mod names;
mod network;
mod people;
mod plan;
mod roster;

use std::io::{Seek, Write};

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_roster::csv::files::{BEYOND_THE_STANDARD, by_name};
use lyceum_roster::csv::package::PackageWriter;
use lyceum_roster::csv::{ExportContent, FileMode};
use network::Network;

/// The generated files with their numbers of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// File name without `.csv`, and rows.
    pub files: Vec<(&'static str, u64)>,
}

/// Students that one network has at most: their ids have seven digits.
const MAX_STUDENTS: u64 = 9_999_999;

/// Generates a network with that many students and writes it to `out` as a zip; a complete one has the files
/// that OneRoster does not have, too.
///
/// `progress` is called with the name of each file when it begins.
/// Errors: `Invalid` if `students` is 0 or above 9 999 999; those of `out`.
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
            message!("a demo network has 1 to {MAX_STUDENTS} students, not {students}"),
        ));
    }
    let network = Network { students, seed };
    let mut package = PackageWriter::new(out, FileMode::Bulk);
    let all = roster::FILES.iter().chain(content::FILES).chain(gradebook::FILES);
    let is_in = |name| content == ExportContent::Complete || !BEYOND_THE_STANDARD.contains(name);
    for (name, metadata, write) in all.filter(|(name, ..)| is_in(name)) {
        progress(name);
        let more: Vec<String> = metadata.iter().map(|name| format!("metadata.{name}")).collect();
        package.file(by_name(name).expect("the demo writes known files"), &more, |rows| {
            write(network, &mut |row| {
                let (id, cells) = row.split_once('|').expect("a row has several cells");
                rows.row([id, "", ""].into_iter().chain(cells.split('|')))
            })
        })?;
    }
    let (files, mut out) = package.finish("Lyceum demo network")?;
    out.flush().map_err(Problem::internal)?;
    Ok(Summary { files })
}

/// A file, its metadata columns behind the columns of the table, and the function that generates its rows.
type FileGenerator =
    (&'static str, &'static [&'static str], fn(Network, RowSink<'_>) -> Result<()>);

/// Takes one row: its cells with `|` between them, without `status` and `dateLastModified`, which a bulk file leaves empty.
type RowSink<'a> = &'a mut dyn FnMut(&str) -> Result<()>;
