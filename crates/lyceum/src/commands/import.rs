//! `lyceum import`

use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_erasure::ErasureKey;
use lyceum_roster::csv::{self, AbsentPolicy, CsvReport, ImportOptions};
use serde_json::json;

use super::reach::existing;
use crate::failure::{Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::settings::{DataArgs, Missing, flag, master_of, open};

/// Maximum number of errors and warnings that are printed. The JSON output has more.
const SHOWN_FAULTS: usize = 20;

#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[derive(Args)]
pub(crate) struct Import {
    /// A zip or a folder of OneRoster CSV files
    #[arg(value_name = "FILE.zip|DIR")]
    source: PathBuf,
    /// Import the valid rows, and write the others to NAME-rejected.csv next to the source
    #[arg(long)]
    keep_going: bool,
    /// Refuse everything that OneRoster 1.2 forbids, such as unknown columns
    #[arg(long, conflicts_with = "keep_going")]
    strict: bool,
    /// Report what the import would do, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// The treatment of stored records that a bulk file does not contain: `end` marks those that an import wrote last
    /// as deleted [default: setting `roster.absent_records`]
    #[arg(long, value_name = "keep|end", value_parser = ["keep", "end"])]
    absent: Option<String>,
    /// Let `--absent end` mark more than 20 % of the stored records of a type as deleted
    #[arg(long)]
    allow_removals: bool,
    /// Id of an organization. Rows that change what does not belong to it or to an organization below it are errors; can
    /// be given several times
    #[arg(long = "organization", value_name = "SOURCEDID")]
    organizations: Vec<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl Import {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let absent = flag("--absent", "roster.absent_records", self.absent.clone());
        let loaded = self.data.load(absent.as_slice())?;
        let db = open(&loaded.config, Missing::Make)?;
        let erased = Some(ErasureKey::new(master_of(&db, &loaded)?).erased_users());
        let reach = existing(&db, &self.organizations)?;
        let rejects = self.keep_going.then(|| self.rejects());
        let bar = printer.progress("importing", 1);
        let report = csv::import(
            &db,
            &self.source,
            &ImportOptions {
                rejects,
                erased,
                reach,
                strict: self.strict,
                check: self.dry_run,
                absent: AbsentPolicy {
                    records: loaded.config.roster.absent_records,
                    allows_many: self.allow_removals,
                },
                ..ImportOptions::default()
            },
            SystemClock.now(),
            &mut |progress| {
                bar.set_length(progress.total_bytes.max(1));
                bar.set_position(progress.bytes);
                bar.set_message(progress.file);
            },
        );
        bar.finish_and_clear();
        let mut report = report?;
        report.in_english();
        for notice in &report.notices {
            printer.warn(&notice.to_string());
        }
        for warning in report.warnings.iter().take(SHOWN_FAULTS) {
            printer.warn(&warning.to_string());
        }
        let more = report.warning_count.saturating_sub(SHOWN_FAULTS as u64);
        if more > 0 {
            printer.warn(&format!("{}; use --json to list them", counted(more, "more warning")));
        }
        printer.answer(|| report_text(&report), || json!(report));
        if !self.keep_going && report.fault_count > 0 {
            return Err(refused(&report));
        }
        let rows = counted(report.row_count() - report.rejected_count(), "row");
        let files = counted(report.files.len(), "file");
        printer.done(&match self.dry_run {
            true => format!("nothing was changed; the import would store {rows} from {files}"),
            false => format!("imported {rows} from {files}"),
        });
        match &report.rejects {
            Some(path) => Err(rejected(&report, path)),
            None => Ok(()),
        }
    }

    /// Path of the rejected rows: those of `network.zip` go to `network-rejected.csv`.
    fn rejects(&self) -> PathBuf {
        let name = self.source.file_stem().unwrap_or_default().to_string_lossy();
        self.source.with_file_name(format!("{name}-rejected.csv"))
    }
}

fn report_text(report: &CsvReport) -> String {
    let header = [
        "file",
        "rows",
        "created",
        "updated",
        "restored",
        "unchanged",
        "deleted",
        "older",
        "rejected",
    ];
    let rows: Vec<Vec<String>> = report
        .files
        .iter()
        .map(|file| {
            let numbers = [
                file.rows,
                file.created,
                file.updated,
                file.restored,
                file.unchanged,
                file.deleted,
                file.older,
                file.rejected,
            ];
            std::iter::once(file.file.clone())
                .chain(numbers.iter().map(ToString::to_string))
                .collect()
        })
        .collect();
    table(&header, &rows)
}

/// The failure of an import that left rows out.
fn rejected(report: &CsvReport, path: &Path) -> Failure {
    let faults = counted(report.fault_count, "error");
    let rows = counted(report.rejected_count(), "row");
    Failure::failed(format!("{rows} rejected with {faults}; they are in '{}'", path.display()))
}

fn refused(report: &CsvReport) -> Failure {
    let faults = report.fault_count;
    let fault_count = counted(faults, "error");
    let mut failure =
        Failure::failed(format!("nothing was imported: found {fault_count} in the files"));
    failure.details = report.faults.iter().take(SHOWN_FAULTS).map(ToString::to_string).collect();
    let more = faults.saturating_sub(failure.details.len() as u64);
    if more > 0 {
        failure.details.push(format!("… and {more} more; use --json to list them"));
    }
    failure.hint("correct the rows, or import only the valid ones with --keep-going")
}
