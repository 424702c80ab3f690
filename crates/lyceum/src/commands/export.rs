//! `lyceum export`

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_core::Problem;
use lyceum_roster::csv::{self, ExportContent};
use serde_json::json;

use super::reach::existing;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::printer::{Printer, counted};
use crate::settings::{DataArgs, Missing};

/// Maximum number of skipped rows that are printed. The JSON output has more.
const SHOWN_LEFT_OUT: usize = 20;

#[derive(Args)]
pub(crate) struct Export {
    /// The zip file to write. An existing file is replaced
    #[arg(value_name = "FILE.zip")]
    out: PathBuf,
    /// Write everything: deleted records, dates, and the files and column that OneRoster does not define
    #[arg(long)]
    complete: bool,
    /// Id of an organization. Exports only what belongs to it and to all below it; can be given several times
    #[arg(long = "organization", value_name = "SOURCEDID", conflicts_with = "complete")]
    organizations: Vec<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl Export {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let reach = existing(&db, &self.organizations)?;
        let content = if self.complete { ExportContent::Complete } else { ExportContent::Standard };
        let bar = printer.progress("exporting", 0);
        let exported = whole(&self.out, |file| {
            let mut on_rows = |name: &'static str, rows| {
                bar.set_message(name);
                bar.set_position(rows);
            };
            let (exported, mut out) =
                csv::export(&db, (content, &reach), BufWriter::new(file), &mut on_rows)?;
            std::io::Write::flush(&mut out).map_err(Problem::internal)?;
            Ok(exported)
        })?;
        bar.finish_and_clear();
        let rows: u64 = exported.files.iter().map(|(_, rows)| rows).sum();
        let file = self.out.display().to_string();
        let files: serde_json::Map<_, _> =
            exported.files.iter().map(|(name, rows)| ((*name).to_owned(), json!(rows))).collect();
        for fault in exported.left_out.iter().take(SHOWN_LEFT_OUT) {
            printer.warn(&fault.to_string());
        }
        let more = exported.left_out_count.saturating_sub(SHOWN_LEFT_OUT as u64);
        if more > 0 {
            let rows = counted(more, "more row");
            printer.warn(&format!(
                "{rows} cannot be expressed in OneRoster 1.2; use --json to list them"
            ));
        }
        printer.answer(String::new, || {
            let (left_out, count) = (&exported.left_out, exported.left_out_count);
            json!({ "file": file, "rows": files, "left_out": left_out, "left_out_count": count })
        });
        printer.done(&format!("exported {} to '{file}'", counted(rows, "row")));
        Ok(())
    }
}

/// Writes to a temporary file and renames it when it is complete.
pub(crate) fn whole<T>(
    path: &Path,
    write: impl FnOnce(File) -> lyceum_core::Result<T>,
) -> Result<T> {
    let failed = |error: std::io::Error| {
        Failure::failed(format!("'{}' cannot be written: {error}", path.display()))
            .hint("choose a file in an existing, writable folder")
    };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    interrupt::unfinished(Some(&part));
    let written = File::create(&part).map_err(failed).and_then(|file| Ok(write(file)?));
    let moved =
        written.and_then(|written| fs::rename(&part, path).map(|()| written).map_err(failed));
    interrupt::unfinished(None);
    if moved.is_err() {
        // Removes the incomplete file. If that fails, the command's error is still the same.
        let _ = fs::remove_file(&part);
    }
    moved
}
