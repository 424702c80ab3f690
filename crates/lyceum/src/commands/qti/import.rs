//! `lyceum qti import`

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_assessment::files::NewFile;
use lyceum_assessment::{CheckedDocument, ContentKind, DocumentChange, repository};
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_core::{Problem, ProblemKind, message};
use lyceum_qti::{DocumentKind, relinked};
use lyceum_store::{Db, Tx};
use serde_json::json;

use super::check::{Check, LeftOutFile};
use super::document_files::{DocumentFileImport, add_files};
use super::files;
use super::library::Library;
use crate::failure::{Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::settings::{DataArgs, Missing};

#[derive(Args)]
pub(crate) struct Import {
    /// XML files, or folders that contain them
    #[arg(required = true, value_name = "FILE.xml|DIR")]
    paths: Vec<PathBuf>,
    /// Import the valid documents even if others are rejected
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    data: DataArgs,
}

/// The numbers of documents of a kind that were created, updated or rejected.
#[derive(Clone, Copy, Default)]
struct Count {
    created: usize,
    updated: usize,
    unchanged: usize,
}

/// The kinds in the order in which they refer to each other, with their plurals.
const ORDER: [(ContentKind, DocumentKind, &str); 3] = [
    (ContentKind::Stimulus, DocumentKind::Stimulus, "stimuli"),
    (ContentKind::Item, DocumentKind::Item, "items"),
    (ContentKind::Test, DocumentKind::Test, "tests"),
];

impl Import {
    /// Imports everything in one transaction, one document at a time.
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let sources = files::files(&self.paths)?;
        let (config, db) = self.data.open(Missing::Make)?;
        let mut file_import = DocumentFileImport::new(&self.paths, &config, &db)?;
        let bar = printer.progress("importing", 2 * sources.len() as u64);
        let mut check = Check::new(printer, &bar, true);
        for source in &sources {
            check.file(source);
            bar.inc(1);
        }
        missing(&db, &mut check)?;
        if check.errors > 0 && !self.keep_going {
            return Err(refused(&check.faults(), &check.left_out(|_| true)));
        }
        bar.set_length((sources.len() + 2 * check.good.len()) as u64);
        let warn = |text: &str| bar.suspend(|| printer.warn(text));
        let mut files_by_document: HashMap<&Path, Vec<NewFile>> = HashMap::new();
        for (kind, path) in &check.good {
            if matches!(kind, DocumentKind::Item | DocumentKind::Stimulus) {
                let text = files::text(path).map_err(|fault| Failure::failed(fault.to_string()))?;
                files_by_document.insert(path, file_import.store_bytes(path, &text, warn)?);
            }
            bar.inc(1);
        }
        let mut counts = [Count::default(); ORDER.len()];
        let mut stored_files = 0;
        let now = SystemClock.now();
        db.write_blocking(|tx| {
            for ((kind, found, _), count) in ORDER.iter().zip(&mut counts) {
                for (_, path) in check.good.iter().filter(|(is, _)| is == found) {
                    match store(tx, now, *kind, path, &check.library, count) {
                        // A test is rejected before it is written if one of its items was rejected.
                        Err(problem) if self.keep_going && problem.kind == ProblemKind::Invalid => {
                            warn(&problem.message.to_string());
                        }
                        stored => {
                            let identifier = stored?;
                            let new = files_by_document.get(path.as_path());
                            let new = new.map(Vec::as_slice).unwrap_or_default();
                            stored_files +=
                                add_files(tx, now, path, (*kind, identifier.as_str()), new, warn)?;
                        }
                    }
                    bar.inc(1);
                }
            }
            Ok(())
        })?;
        bar.finish_and_clear();
        let sections = check.good.iter().filter(|(is, _)| *is == DocumentKind::Section).count();
        if sections > 0 {
            let sections = counted(sections, "section");
            printer.warn(&format!("{sections} left out: sections are stored only inside tests"));
        }
        let stored: usize = counts.iter().map(|c| c.created + c.updated + c.unchanged).sum();
        let left = check.documents - stored - sections;
        let left_out = check.left_out(|path| file_import.has_stored(path));
        let json = || {
            let mut json = as_json(&counts, stored_files, left);
            json["not_imported"] = json!(left_out);
            json
        };
        printer.item(|| count_table(&counts), json);
        if left > 0 {
            printer.warn(&format!("{} rejected: {}", counted(left, "document"), check.faults()));
        }
        let with_files = match stored_files {
            0 => String::new(),
            files => format!(" with {}", counted(files, "file")),
        };
        printer.done(&format!("imported {}{with_files}", counted(stored, "document")));
        if left == 0 && left_out.is_empty() {
            return Ok(());
        }
        let missed = counted(left + left_out.len(), "file");
        Err(Failure {
            details: details(&left_out),
            ..Failure::failed(format!("{missed} not imported"))
        })
    }
}

/// Reports references that lead neither to a file nor to the store. With `--keep-going` the document
/// is stored nevertheless.
fn missing(db: &Db, check: &mut Check<'_>) -> Result {
    for (path, link, fault) in check.library.dangling() {
        let exists = db.read_blocking(|tx| {
            let kind = ORDER.iter().find(|(_, found, _)| *found == link.kind);
            let Some((kind, ..)) = kind else { return Ok(false) };
            let names = super::library::names(&link);
            let mut found = names.iter().map(|name| repository::find(tx, *kind, name));
            found.try_fold(false, |exists, found| Ok(exists || found?.is_some()))
        })?;
        if !exists {
            check.print_error_of_file(&path, &fault);
        }
    }
    Ok(())
}

/// Creates or replaces a file's document, and returns its identifier. Importing it again changes nothing.
/// References to other documents are replaced with the identifiers of these.
fn store(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: ContentKind,
    path: &Path,
    library: &Library,
    count: &mut Count,
) -> lyceum_core::Result<String> {
    let named = |message: String| {
        Problem::new(ProblemKind::Invalid, message!("'{path}': {message}", path = path.display()))
    };
    let text = files::text(path).map_err(|fault| named(fault.to_string()))?;
    let text = relinked(&text, |link| library.address(path, link))
        .map_err(|fault| named(fault.to_string()))?;
    // The check has told what is removed.
    let (draft, _) = CheckedDocument::tidied(kind, &text)
        .map_err(|problem| named(problem.message.to_string()))?;
    let named = |problem: Problem| match problem.kind {
        ProblemKind::Invalid => named(problem.message.to_string()),
        _ => problem,
    };
    let identifier = draft.identifier.clone();
    let Some(before) = repository::find(tx, kind, &identifier)? else {
        repository::create(tx, now, &draft).map_err(named)?;
        count.created += 1;
        return Ok(identifier);
    };
    let change = DocumentChange::Content(Box::new(draft));
    let after = repository::replace(tx, now, kind, &identifier, &change, None).map_err(named)?;
    match after.version == before.version {
        true => count.unchanged += 1,
        false => count.updated += 1,
    }
    Ok(identifier)
}

fn details(left_out: &[LeftOutFile]) -> Vec<String> {
    left_out.iter().map(|file| format!("not imported: {file}")).collect()
}

fn refused(faults: &str, left_out: &[LeftOutFile]) -> Failure {
    let message = format!("nothing was imported: {faults} in the files");
    Failure { details: details(left_out), ..Failure::failed(message) }
        .hint("correct the documents, or import only the valid ones with --keep-going")
}

fn count_table(counts: &[Count]) -> String {
    let rows = ORDER.iter().zip(counts).map(|((.., many), count)| {
        let numbers = [count.created, count.updated, count.unchanged].map(|n| n.to_string());
        std::iter::once((*many).to_owned()).chain(numbers).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    table(&["kind", "created", "updated", "unchanged"], &rows).trim_end().to_owned()
}

fn as_json(counts: &[Count], files: usize, refused: usize) -> serde_json::Value {
    let mut json = json!({ "refused": refused, "files": files });
    for ((.., many), count) in ORDER.iter().zip(counts) {
        let Count { created, updated, unchanged } = count;
        json[many] = json!({ "created": created, "updated": updated, "unchanged": unchanged });
    }
    json
}
