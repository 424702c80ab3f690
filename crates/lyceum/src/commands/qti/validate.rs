//! `lyceum qti validate`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::check::Check;
use super::files;
use crate::failure::{Failure, Result};
use crate::printer::{Printer, counted};

#[derive(Args)]
pub(crate) struct Validate {
    /// XML files, or folders that contain them
    #[arg(required = true, value_name = "FILE.xml|DIR")]
    paths: Vec<PathBuf>,
}

impl Validate {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let sources = files::files(&self.paths)?;
        let bar = printer.progress("checking", sources.len() as u64);
        let mut check = Check::new(printer, &bar, false);
        for source in &sources {
            check.file(source);
            bar.inc(1);
        }
        for (path, _, fault) in check.library.dangling() {
            check.print_error_of_file(&path, &fault);
        }
        bar.finish_and_clear();
        let left_out = check.left_out(|_| true);
        let Check { documents, skipped, errors, warnings, .. } = check;
        printer.closing(|| {
            json!({
                "documents": documents,
                "skipped": skipped,
                "not_checked": left_out,
                "errors": errors,
                "warnings": warnings,
            })
        });
        if skipped > 0 {
            let files = counted(skipped, "XML file");
            printer.step(&format!("skipped {files} in folders that are not QTI"));
        }
        let summary = format!("{} checked: {}", counted(documents, "document"), check.faults());
        if errors == 0 && left_out.is_empty() {
            printer.done(&summary);
            return Ok(());
        }
        let details = left_out.iter().map(|file| format!("not checked: {file}")).collect();
        Err(Failure { details, ..Failure::failed(summary) })
    }
}
