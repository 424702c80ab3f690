//! Reads files and checks them against the rules and each other. Errors are printed as they are
//! found.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use lyceum_qti::json::WrittenXml;
use lyceum_qti::{
    DocumentFault, DocumentKind, ManifestFile, Severity, XmlFileKind, manifest_files,
    read_for_author, summary, tidied, xml_file_kind,
};

use super::fault_report::{as_json, as_text};
use super::files::{self, Source};
use super::library::{Library, flat};
use crate::printer::{Printer, counted};

/// The number of checked documents, and the findings.
pub(super) struct Check<'p> {
    printer: &'p Printer,
    bar: &'p ProgressBar,
    /// Whether documents will be stored without what common editors write and QTI does not have.
    tidies: bool,
    pub(super) library: Library,
    /// Documents without an error.
    pub(super) good: Vec<(DocumentKind, PathBuf)>,
    pub(super) documents: usize,
    /// XML files in folders that are not QTI documents, such as a manifest.
    pub(super) skipped: usize,
    /// The files that were read as documents.
    read: HashSet<PathBuf>,
    left_out: Vec<LeftOutFile>,
    /// The folders of manifests, with the files that these name.
    manifests: Vec<(PathBuf, Vec<ManifestFile>)>,
    pub(super) errors: usize,
    pub(super) warnings: usize,
}

/// A file that is not read as a document, and why.
#[derive(Clone, serde::Serialize)]
pub(super) struct LeftOutFile {
    #[serde(rename = "file")]
    path: PathBuf,
    reason: String,
}

impl std::fmt::Display for LeftOutFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "'{}': {}", self.path.display(), self.reason)
    }
}

impl<'p> Check<'p> {
    pub(super) fn new(printer: &'p Printer, bar: &'p ProgressBar, tidies: bool) -> Self {
        Self {
            printer,
            bar,
            tidies,
            library: Library::default(),
            good: Vec::new(),
            documents: 0,
            skipped: 0,
            read: HashSet::new(),
            left_out: Vec::new(),
            manifests: Vec::new(),
            errors: 0,
            warnings: 0,
        }
    }

    /// Reads and checks a file.
    pub(super) fn file(&mut self, source: &Source) {
        let Source { path, named } = source;
        if source.is_zip() {
            return self.leave_out(path, "it is a zip; unpack it and give its folder".to_owned());
        }
        let text = match files::text(path) {
            Ok(text) => match xml_file_kind(&text) {
                XmlFileKind::Qti1 => {
                    let reason = "it is a document of QTI 1.2; convert it to QTI 3";
                    return self.leave_out(path, reason.to_owned());
                }
                XmlFileKind::Manifest if !named => return self.manifest(path, &text),
                XmlFileKind::Other if !named => return self.skipped += 1,
                _ => text,
            },
            Err(fault) => {
                self.documents += 1;
                self.read.insert(flat(path));
                self.print_fault(path, "", &fault);
                return;
            }
        };
        self.documents += 1;
        self.read.insert(flat(path));
        let mut faults = match read_for_author(&text) {
            Ok(reading) => reading.faults.0,
            Err(fault) => vec![fault],
        };
        let is_refused =
            |faults: &[DocumentFault]| faults.iter().any(|fault| fault.severity == Severity::Error);
        if self.tidies
            && is_refused(&faults)
            && let Some(WrittenXml { xml, removed }) = tidied(&text)
            && read_for_author(&xml).is_ok_and(|reading| !reading.faults.refuse())
        {
            faults = removed.0;
        }
        // A file that cannot be read was already reported.
        let summary = summary(&text).ok();
        let kind = summary.as_ref().map(|summary| summary.kind);
        faults.extend(summary.and_then(|summary| self.library.add(path, summary)));
        let refused = is_refused(&faults);
        for fault in &faults {
            self.print_fault(path, &text, fault);
        }
        self.good.extend(kind.filter(|_| !refused).map(|kind| (kind, path.clone())));
    }

    fn leave_out(&mut self, path: &Path, reason: String) {
        self.left_out.push(LeftOutFile { path: path.to_owned(), reason });
    }

    fn manifest(&mut self, path: &Path, text: &str) {
        self.skipped += 1;
        match manifest_files(text) {
            Ok(files) => self.manifests.push((path.with_file_name(""), files)),
            Err(fault) => self.leave_out(path, fault.message),
        }
    }

    /// The files that cannot be read as documents, and those that a manifest names and that are neither documents nor
    /// `used` by one.
    pub(super) fn left_out(&self, used: impl Fn(&Path) -> bool) -> Vec<LeftOutFile> {
        let mut left_out = self.left_out.clone();
        for (folder, files) in &self.manifests {
            for ManifestFile { path, resource_type } in files {
                let path = flat(&folder.join(path));
                let is_named = left_out.iter().any(|one| flat(&one.path) == path);
                if is_named || self.read.contains(&path) || (path.exists() && used(&path)) {
                    continue;
                }
                let reason = match path.exists() {
                    true => format!(
                        "its type is '{resource_type}'; it is neither a QTI document nor a file that can be stored with one"
                    ),
                    false => "the manifest names it, but it does not exist".to_owned(),
                };
                left_out.push(LeftOutFile { path, reason });
            }
        }
        left_out
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
