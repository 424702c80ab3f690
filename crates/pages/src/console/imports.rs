//! Imports: roster files are uploaded and checked, and imported when an administrator confirms it.

pub(crate) mod view;

use http::{HeaderValue, header};
use lyceum_api::work::imports::{self, Decision, SentFile};
use lyceum_api::{Context, Route};
use lyceum_console::language::{ValueInText, message, translated};
use lyceum_console::{Cell, List, ListFilter, ListQuery, Row, links, plural, screens, t};
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_http::answer::Answer;
use lyceum_http::multipart::{self, FormField};
use lyceum_roster::csv::{CsvError, FileReport, RowOutcome};
use lyceum_roster::imports::{Import, ImportProgress, ImportState, find as find_import, newest};
use lyceum_roster::limits::{IMPORT_NOTED_MAX_ROWS, IMPORTS_LISTED_MAX_COUNT};
use lyceum_roster::screens::imports::{self as screen, ListedRow};
use lyceum_store::run_blocking;

use super::visitor::query;
use super::{Form, PAGE_POLICY, SNIFF, Visitor, action, at_most, on_to, page, show_list};
use crate::console::imports::view::{
    COLUMNS, ERRORS, ImportPage, ImportRowsPage, ImportedFile, ImportsPage, ProgressBar, ROWS,
};

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/imports", &screens::IMPORTS, all),
        action("/imports", &screens::IMPORTS, start_import)
            .reads_as(multipart::MEDIA)
            .reads_up_to(lyceum_api::limits::IMPORT_UPLOAD_MAX_BYTES),
        page("/imports/{id}", &screens::IMPORTS, one),
        page("/imports/{id}/rows", &screens::IMPORTS, rows),
        page("/imports/{id}/refused.csv", &screens::IMPORTS, refused),
        action("/imports/{id}/begin", &screens::IMPORTS, begin),
        action("/imports/{id}/discard", &screens::IMPORTS, discard),
    ]
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let found = context.app.db.read(newest).await?;
    let rows = found.iter().map(|import| row(import, &visitor)).collect();
    let list = List::new("Imports", COLUMNS, query(&context), rows)
        .or_else("No files have been imported yet.")
        .note(at_most(found.len(), IMPORTS_LISTED_MAX_COUNT));
    let most = t!("{n} MB", n = lyceum_api::limits::IMPORT_UPLOAD_MAX_BYTES / (1024 * 1024));
    let view = ImportsPage { frame: visitor.frame(t!("Imports")), most, list };
    show_list("imports", &view.list, &view)
}

fn row(import: &Import, visitor: &Visitor) -> Row {
    let (to, report) = (links::import(import.id), screen::report(import));
    let count =
        |count: Option<u64>| count.map_or_else(Cell::none, |count| Cell::count(count).to(&to));
    vec![
        Cell::count(import.id).to(&to),
        Cell::text(&import.name).to(&to),
        Cell::text(translated(import.state.name())).toned(match import.state {
            ImportState::Done => "good",
            ImportState::Failed => "bad",
            ImportState::Discarded => "",
            _ => "warn",
        }),
        count(report.as_ref().map(lyceum_roster::csv::CsvReport::row_count)),
        count(report.as_ref().map(|report| report.fault_count)),
        Cell::text(&import.who),
        visitor.time(import.uploaded),
    ]
}

async fn start_import(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let media = context.header(header::CONTENT_TYPE).unwrap_or_default();
    let parts = multipart::parts(media, &context.body).await.unwrap_or_default();
    let file = parts.into_iter().find(|part| part.file.is_some() && !part.body.is_empty());
    let Some(FormField { file: Some(name), body, .. }) = file else {
        return Err(Problem::invalid(
            "file",
            "is missing or empty; choose a zip of OneRoster CSV files",
        ));
    };
    let who = visitor.person.email.clone();
    let sent = SentFile { name, body, who, reach: context.reach(), keep_going: None };
    Ok(on_to(&links::import(imports::send(&context.app, sent).await?)))
}

/// Parses the number in the address. Errors: `NotFound`.
fn number(context: &Context) -> Result<i64> {
    let text = context.param("id");
    text.parse()
        .map_err(|_| Problem::new(ProblemKind::NotFound, message!("there is no import '{text}'")))
}

async fn find(context: &Context) -> Result<Import> {
    let id = number(context)?;
    context.app.db.read(move |tx| find_import(tx, id)).await
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let import = find(&context).await?;
    // This server's own progress is newer than the stored progress.
    let progress = context.app.imports.progress(import.id).or_else(|| import.progress.clone());
    let view = view(&visitor, query(&context), &import, progress);
    show_list("errors", &view.list, &view)
}

fn view(
    visitor: &Visitor,
    query: ListQuery,
    import: &Import,
    progress: Option<ImportProgress>,
) -> ImportPage {
    let is_running = import.state.is_running();
    let progress = progress.filter(|_| is_running).map(|now| ProgressBar {
        file: now.file,
        rows: now.rows.text(),
        percent: now.percent,
    });
    let report = screen::report(import).unwrap_or_default();
    let errors = report.faults.iter().map(|error| error_row(t!("error"), error));
    let warnings = report.warnings.iter().map(|warning| error_row(t!("warning"), warning));
    let notices = report.notices.iter().map(|notice| error_row(t!("note"), notice));
    let kilobytes = u32::try_from(import.bytes.max(1).div_euclid(1000) + 1).unwrap_or(u32::MAX);
    ImportPage {
        frame: visitor.frame(import.name.clone()),
        id: import.id,
        state: import.state.name(),
        is_running,
        progress,
        about: t!(
            "{size} kB, sent by {name}, {time}",
            size = kilobytes,
            name = import.who,
            time = visitor.calendar.moment(import.uploaded),
        ),
        description: describe_state(import.state, report.fault_count),
        error: import.error.as_ref().map(message).unwrap_or_default(),
        files: report.files.iter().map(|of| file(of, import)).collect(),
        ignored: report.ignored.join(", "),
        errors: report.fault_count,
        warnings: report.warning_count + report.notices.len() as u64,
        has_rejects: import.rejects.is_some(),
        list: List::new("Errors", ERRORS, query, errors.chain(notices).chain(warnings).collect()),
    }
}

fn describe_state(state: ImportState, error_count: u64) -> String {
    let errors = plural!(error_count, "{n} error", "{n} errors");
    match (state, error_count) {
        (ImportState::Checking, _) => {
            t!("The server is checking the file. Nothing has changed yet.")
        }
        (ImportState::Importing, _) => t!("The server is importing the file."),
        (ImportState::Checked, 0) => t!("The file has no errors. Nothing has changed yet."),
        (ImportState::Checked, _) => t!(
            "The file has {errors}. Fix the rows and send the file again, or import only the good rows.",
            errors = errors,
        ),
        (ImportState::Done, 0) => t!("The file is imported."),
        (ImportState::Done, _) => {
            t!("The file is imported, except the rows with {errors}.", errors = errors)
        }
        (ImportState::Failed, _) => String::new(),
        (ImportState::Discarded, _) => t!("The file was discarded. Nothing was changed."),
    }
}

fn file(of: &FileReport, import: &Import) -> ImportedFile {
    let counts = [
        ("rows", of.rows),
        ("created", of.created),
        ("updated", of.updated),
        ("restored", of.restored),
        ("unchanged", of.unchanged),
        ("deleted", of.deleted),
        ("older", of.older),
        ("rejected", of.rejected),
    ];
    let cell = |(outcome, count): (&str, u64)| {
        let cell = Cell::count(count);
        match (outcome, import.outcomes_sha256()) {
            (_, None) => cell,
            (_, _) if count == 0 => cell,
            ("rows", _) => cell.to(links::import_rows(import.id, &of.file, "")),
            _ => cell.to(links::import_rows(import.id, &of.file, outcome)),
        }
    };
    ImportedFile { name: of.file.clone(), numbers: counts.map(cell) }
}

async fn rows(context: Context, visitor: Visitor) -> Result<Answer> {
    let (import, query) = (find(&context).await?, query(&context));
    let missing = || {
        let message = "the outcomes of this import's rows are not stored on this server";
        Problem::new(ProblemKind::NotFound, message)
    };
    let digest = import.outcomes_sha256().ok_or_else(missing)?.parse()?;
    let (blobs, of) = (context.app.blobs.clone(), import.clone());
    let (file, outcome) = (query.parameter("file").to_owned(), query.parameter("came").to_owned());
    let read = run_blocking(move || {
        let notes = blobs.read(&digest)?.ok_or_else(missing)?;
        screen::rows(&of, &notes, &file, &outcome)
    });
    let screen::RowList { outcomes, rows } = read.await?;
    let most = IMPORT_NOTED_MAX_ROWS;
    let choice = outcomes.into_iter().map(|came| (came.name(), outcome_name(came)));
    let name = format!("{}.csv", query.parameter("file"));
    let list = List::new("Rows", ROWS, query, rows.iter().map(outcome_row).collect());
    let is_full = i64::try_from(list.total()).is_ok_and(|total| total >= most);
    let note = t!("The first {n} rows of each outcome are listed.", n = most);
    let list = list.choice(ListFilter::of("came", "Outcome", choice)).note(if is_full {
        note
    } else {
        String::new()
    });
    let view =
        ImportRowsPage { frame: visitor.frame(name), id: import.id, name: import.name, list };
    show_list("rows", &view.list, &view)
}

fn outcome_row(ListedRow { row, problem }: &ListedRow) -> Row {
    vec![
        line(row.line),
        Cell::text(&row.id),
        Cell::text(outcome_name(row.came)),
        problem.as_ref().map_or_else(Cell::none, |problem| Cell::text(message(problem))),
    ]
}

fn outcome_name(came: RowOutcome) -> String {
    match came {
        RowOutcome::Created => t!("new"),
        RowOutcome::Updated => t!("changed"),
        RowOutcome::Restored => t!("restored"),
        RowOutcome::Unchanged => t!("unchanged"),
        RowOutcome::Deleted => t!("deleted"),
        RowOutcome::Older => t!("older than what is stored"),
        RowOutcome::Rejected => t!("refused"),
        RowOutcome::Part => t!("part of a record"),
        RowOutcome::Gone => t!("already gone"),
    }
}

fn line(number: u64) -> Cell {
    if number == 0 { Cell::none() } else { Cell::count(number) }
}

fn error_row(severity: String, of: &CsvError) -> Row {
    vec![
        Cell::text(severity),
        Cell::text(&of.file),
        line(of.line),
        Cell::text(&of.column),
        Cell::text(&of.value),
        Cell::text(message(&of.problem)),
        Cell::text(message(&of.remedy)),
    ]
}

async fn refused(context: Context, _: Visitor) -> Result<Answer> {
    let answer = imports::rejected_rows(&context.app, &find(&context).await?).await?;
    Ok(answer
        .header(header::CONTENT_SECURITY_POLICY, PAGE_POLICY)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(SNIFF, HeaderValue::from_static("nosniff")))
}

async fn begin(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    decide(&context, &visitor, Decision::Start(context.reach())).await
}

async fn discard(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    decide(&context, &visitor, Decision::Discard).await
}

async fn decide(context: &Context, visitor: &Visitor, decision: Decision) -> Result<Answer> {
    let (id, who) = (number(context)?, visitor.person.email.clone());
    imports::decide(&context.app, who, id, decision).await?;
    Ok(on_to(&links::import(id)))
}
