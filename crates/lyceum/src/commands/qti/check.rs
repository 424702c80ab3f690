//! Reads files and checks them against the rules and each other. Errors are printed as they are
//! found.

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use lyceum_qti::{DocumentFault, DocumentKind, Severity, is_document, read_for_author, summary};

use super::fault_report::{as_json, as_text};
use super::files::{self, Source};
use super::library::Library;
use crate::printer::{Printer, counted};

/// The number of checked documents, and the findings.
pub(super) struct Check<'p> {
    printer: &'p Printer,
    bar: &'p ProgressBar,
    pub(super) library: Library,
    /// Documents without an error.
    pub(super) good: Vec<(DocumentKind, PathBuf)>,
    pub(super) documents: usize,
    /// XML files in folders that are not QTI documents, such as a manifest.
    pub(super) skipped: usize,
    pub(super) errors: usize,
    pub(super) warnings: usize,
}

impl<'p> Check<'p> {
    pub(super) fn new(printer: &'p Printer, bar: &'p ProgressBar) -> Self {
        Self {
            printer,
            bar,
            library: Library::default(),
            good: Vec::new(),
            documents: 0,
            skipped: 0,
            errors: 0,
            warnings: 0,
        }
    }

    /// Reads and checks a file.
    pub(super) fn file(&mut self, Source { path, named }: &Source) {
        let text = match files::text(path) {
            Ok(text) if *named || is_document(&text) => text,
            Ok(_) => return self.skipped += 1,
            Err(fault) => {
                self.documents += 1;
                self.print_fault(path, "", &fault);
                return;
            }
        };
        self.documents += 1;
        let mut faults = match read_for_author(&text) {
            Ok(reading) => reading.faults.0,
            Err(fault) => vec![fault],
        };
        // A file that cannot be read was already reported.
        let summary = summary(&text).ok();
        let kind = summary.as_ref().map(|summary| summary.kind);
        faults.extend(summary.and_then(|summary| self.library.add(path, summary)));
        let refused = faults.iter().any(|fault| fault.severity == Severity::Error);
        for fault in &faults {
            self.print_fault(path, &text, fault);
        }
        self.good.extend(kind.filter(|_| !refused).map(|kind| (kind, path.clone())));
    }

    /// Reports an error in a file whose text is no longer in memory.
    pub(super) fn print_error_of_file(&mut self, path: &Path, fault: &DocumentFault) {
        self.print_fault(path, &files::text(path).unwrap_or_default(), fault);
    }

    fn print_fault(&mut self, path: &Path, text: &str, fault: &DocumentFault) {
        match fault.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        self.bar.suspend(|| {
            self.printer.item(|| as_text(path, text, fault), || as_json(path, fault));
        });
    }

    /// `3 errors, 1 warning`.
    pub(super) fn faults(&self) -> String {
        [counted(self.errors, "error"), counted(self.warnings, "warning")].join(", ")
    }
}
