//! Imports: files of rosters, checked first, done when somebody says so.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use lyceum_access::audit::Change;
use lyceum_console::imports::{
    COLUMNS, FAULTS, File, Import as ImportPage, Imports, Progress, ROWS, Rows,
};
use lyceum_console::{Cell, Choice, List, Row, screens, words};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_roster::csv::{self, Came, Noted};
use lyceum_roster::imports::{self, Import, New, State};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::visitor::query;
use super::{Form, POLICY, SNIFF, Visitor, action, at_most, listed, on_to, page};
use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::imports::keep;
use crate::multipart::{self, Part};
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/imports", &screens::IMPORTS, all),
        action("/imports", &screens::IMPORTS, sent)
            .reads_as(multipart::MEDIA)
            .reads_up_to(limits::IMPORT_UPLOAD_MAX_BYTES),
        page("/imports/{id}", &screens::IMPORTS, one),
        page("/imports/{id}/rows", &screens::IMPORTS, rows),
        page("/imports/{id}/refused.csv", &screens::IMPORTS, refused),
        action("/imports/{id}/begin", &screens::IMPORTS, begin),
        action("/imports/{id}/discard", &screens::IMPORTS, discard),
    ]
}

fn link(id: i64) -> String {
    format!("/console/imports/{id}")
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let found = context.app.db.read(imports::newest).await?;
    let rows = found.iter().map(|import| row(import, &visitor)).collect();
    let list = List::new("Imports", COLUMNS, query(&context), rows)
        .or_else("Nothing was imported here yet.")
        .note(at_most(found.len(), limits::IMPORTS_LISTED_MAX_COUNT));
    let most = format!("{} MB", limits::IMPORT_UPLOAD_MAX_BYTES / (1024 * 1024));
    let view = Imports { frame: visitor.frame("Imports"), most, list };
    listed("imports", &view.list, &view)
}

fn row(import: &Import, visitor: &Visitor) -> Row {
    let rows = import.report.as_ref().map_or_else(Cell::none, |report| {
        let rows: i64 = files(report).filter_map(|file| file["rows"].as_i64()).sum();
        Cell::of(rows, rows.to_string()).to(link(import.id))
    });
    let faults = import.report.as_ref().map_or_else(Cell::none, |report| {
        let faults = report["fault_count"].as_u64().unwrap_or_default();
        Cell::of(faults, faults.to_string()).to(link(import.id))
    });
    vec![
        Cell::of(import.id, import.id.to_string()).to(link(import.id)),
        Cell::text(&import.name).to(link(import.id)),
        Cell::text(import.state.name()).toned(match import.state {
            State::Done => "good",
            State::Failed => "bad",
            State::Discarded => "",
            _ => "warn",
        }),
        rows,
        faults,
        Cell::text(&import.who),
        Cell::when(import.begun, visitor.zone.written(import.begun)),
    ]
}

fn files(report: &Value) -> impl Iterator<Item = &Value> {
    report["files"].as_array().into_iter().flatten()
}

async fn sent(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let media = context.header(header::CONTENT_TYPE).unwrap_or_default();
    let parts = multipart::parts(media, &context.body).await.unwrap_or_default();
    let file = parts.into_iter().find(|part| part.file.is_some() && !part.body.is_empty());
    let Some(Part { file: Some(name), body, .. }) = file else {
        return Err(Problem::invalid(
            "file",
            "is missing or empty; choose a zip of OneRoster CSV files",
        ));
    };
    let (blobs, bytes) = (context.app.blobs.clone(), body.len());
    let digest = apart(move || keep(&blobs, &body)).await?.to_string();
    let (now, who) = (context.app.clock.now(), visitor.person.email.clone());
    let added = context.app.db.write(move |tx| {
        let bytes = i64::try_from(bytes).map_err(Problem::internal)?;
        let id = imports::add(tx, now, &New { name: &name, bytes, file: &digest, who: &who })?;
        let change = Change { who: &who, what: "import.send", subject: &id.to_string() };
        change.note(tx, now, &json!({ "file": name, "sha256": digest }))?;
        Ok(id)
    });
    let id = added.await?;
    context.app.imports.wake();
    Ok(on_to(&link(id)))
}

/// The number in the address. Errors: `NotFound`.
fn number(context: &Context) -> Result<i64> {
    let text = context.param("id");
    text.parse()
        .map_err(|_| Problem::new(ProblemKind::NotFound, format!("there is no import '{text}'")))
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = number(&context)?;
    let import = context.app.db.read(move |tx| imports::found(tx, id)).await?;
    let is_running = matches!(import.state, State::Checking | State::Importing);
    // This server's own knowledge is newer than what is told to all.
    let progress = context.app.imports.progress(id).or_else(|| import.progress.clone());
    let progress = progress.filter(|_| is_running).map(|now| Progress {
        file: now.file,
        rows: now.rows.to_string(),
        percent: now.percent,
    });
    let report = import.report.clone().unwrap_or_default();
    let faults = report["fault_count"].as_u64().unwrap_or_default();
    let warnings = report["warning_count"].as_u64().unwrap_or_default();
    let told =
        [("faults", "fault"), ("warnings", "warning")].into_iter().flat_map(|(many, one)| {
            report[many].as_array().into_iter().flatten().map(move |it| fault(one, it))
        });
    let told: Vec<Row> = told.collect();
    let ignored = report["ignored"].as_array().into_iter().flatten();
    let ignored: Vec<&str> = ignored.filter_map(Value::as_str).collect();
    let view = ImportPage {
        frame: visitor.frame(import.name.clone()),
        id,
        state: import.state.name(),
        is_running,
        progress,
        about: format!(
            "{} kB, sent by {} on {}",
            words::number(f64::from(
                u32::try_from(import.bytes.max(1).div_euclid(1000) + 1).unwrap_or(u32::MAX)
            )),
            import.who,
            visitor.zone.written(import.begun)
        ),
        says: says(&import, faults),
        error: import.error.clone(),
        files: files(&report).map(|of| file(of, &import)).collect(),
        ignored: ignored.join(", "),
        faults,
        warnings,
        has_rejects: import.rejects.is_some(),
        list: List::new("Faults", FAULTS, query(&context), told),
    };
    listed("faults", &view.list, &view)
}

fn says(import: &Import, faults: u64) -> String {
    let told = if faults == 1 { "one fault".to_owned() } else { format!("{faults} faults") };
    match (import.state, faults) {
        (State::Checking, _) => "It is checked; nothing is changed.".to_owned(),
        (State::Importing, _) => "It is imported.".to_owned(),
        (State::Checked, 0) => "Checked: there is no fault. Nothing was changed yet.".to_owned(),
        (State::Checked, _) => format!(
            "Checked: {told}. Mend the rows and send the file again, or import the good rows alone."
        ),
        (State::Done, 0) => "Imported.".to_owned(),
        (State::Done, _) => format!("Imported, but for the rows with {told}."),
        (State::Failed, _) => String::new(),
        (State::Discarded, _) => "Discarded; nothing was changed.".to_owned(),
    }
}

fn file(of: &Value, import: &Import) -> File {
    let names = ["rows", "created", "updated", "unchanged", "deleted", "rejected"];
    let file = of["file"].as_str().unwrap_or_default();
    let number = |name| {
        let count = of[name].as_u64().unwrap_or_default();
        let cell = Cell::of(count, count.to_string());
        match (name, import.noted()) {
            (_, None) => cell,
            (_, _) if count == 0 => cell,
            ("rows", _) => cell.to(format!("{}/rows?file={file}", link(import.id))),
            _ => cell.to(format!("{}/rows?file={file}&came={name}", link(import.id))),
        }
    };
    File { name: file.to_owned(), numbers: names.map(number) }
}

async fn rows(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, query) = (number(&context)?, query(&context));
    let import = context.app.db.read(move |tx| imports::found(tx, id)).await?;
    let missing = || {
        let message = "what came of each row of this import is not kept here";
        Problem::new(ProblemKind::NotFound, message)
    };
    let digest = import.noted().ok_or_else(missing)?.parse()?;
    let (blobs, file) = (context.app.blobs.clone(), query.own("file").to_owned());
    let noted = apart(move || {
        let notes = blobs.read(&digest)?.ok_or_else(missing)?;
        csv::noted(&notes, &file)
    });
    let (noted, came) = (noted.await?, query.own("came").to_owned());
    // The header is no row, and a record that has parts in other files alone has none in this one.
    let is_wanted =
        |row: &&Noted| if came.is_empty() { row.line > 1 } else { row.came.name() == came };
    let name = format!("{}.csv", query.own("file"));
    let faults = import.report.as_ref().and_then(|report| report["faults"].as_array());
    let faults: HashMap<Option<u64>, &Value> = faults
        .into_iter()
        .flatten()
        .filter(|fault| fault["file"] == name.as_str())
        .map(|fault| (fault["line"].as_u64(), fault))
        .collect();
    let row = |of: &Noted| {
        let fault = faults.get(&Some(of.line)).filter(|_| of.came == Came::Rejected);
        vec![
            line(of.line),
            Cell::text(&of.id),
            Cell::text(told(of.came)),
            fault.and_then(|of| of["problem"].as_str()).map_or_else(Cell::none, Cell::text),
        ]
    };
    let outcomes = Came::ALL.into_iter().filter(|came| noted.iter().any(|row| row.came == *came));
    let choice = Choice::of("came", "Outcome", outcomes.map(|came| (came.name(), told(came))));
    let most = limits::IMPORT_NOTED_MAX_ROWS;
    let list = List::new("Rows", ROWS, query, noted.iter().filter(is_wanted).map(row).collect());
    let is_full = i64::try_from(list.total()).is_ok_and(|total| total >= most);
    let note = format!("Of each outcome the first {} are here.", words::count(most));
    let list = list.choice(choice).note(if is_full { note } else { String::new() });
    let view = Rows { frame: visitor.frame(name), id, name: import.name, list };
    listed("rows", &view.list, &view)
}

fn told(came: Came) -> &'static str {
    match came {
        Came::Created => "new",
        Came::Updated => "changed",
        Came::Unchanged => "unchanged",
        Came::Deleted => "deleted",
        Came::Rejected => "refused",
        Came::Part => "part of a record",
        Came::Gone => "gone already",
    }
}

fn line(number: u64) -> Cell {
    if number == 0 { Cell::none() } else { Cell::of(number, number.to_string()) }
}

fn fault(sort: &str, of: &Value) -> Row {
    let text = |name: &str| Cell::text(of[name].as_str().unwrap_or_default());
    let line = line(of["line"].as_u64().unwrap_or_default());
    let sort = Cell::text(sort);
    vec![sort, text("file"), line, text("column"), text("value"), text("problem"), text("mend")]
}

async fn refused(context: Context, _: Visitor) -> Result<Answer> {
    let id = number(&context)?;
    let import = context.app.db.read(move |tx| imports::found(tx, id)).await?;
    let missing =
        || Problem::new(ProblemKind::NotFound, format!("the import {id} refused no rows"));
    let digest = import.rejects.ok_or_else(missing)?.parse()?;
    let blobs = context.app.blobs.clone();
    let bytes = apart(move || blobs.read(&digest)).await?.ok_or_else(missing)?;
    let media = HeaderValue::from_static("text/csv; charset=utf-8");
    let name = format!("attachment; filename=\"import-{id}-refused.csv\"");
    Ok(Answer::typed(media, Body::from(bytes))
        .header(header::CONTENT_DISPOSITION, name)
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(SNIFF, HeaderValue::from_static("nosniff")))
}

async fn begin(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let (id, now) = (number(&context)?, context.app.clock.now());
    decided(&context, &visitor, "import.begin", move |tx| {
        let has_faults =
            imports::found(tx, id)?.report.is_some_and(|report| report["fault_count"] != 0);
        imports::begin(tx, now, id, has_faults)
    })
    .await
}

async fn discard(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let id = number(&context)?;
    decided(&context, &visitor, "import.discard", move |tx| imports::discard(tx, id)).await
}

/// Writes a decision about an import, and into the log of changes.
async fn decided(
    context: &Context,
    visitor: &Visitor,
    what: &'static str,
    decide: impl Fn(&mut Tx<'_>) -> Result<()> + Send + 'static,
) -> Result<Answer> {
    let (id, now, who) = (number(context)?, context.app.clock.now(), visitor.person.email.clone());
    let decided = context.app.db.write(move |tx| {
        decide(tx)?;
        Change { who: &who, what, subject: &id.to_string() }.note(tx, now, &Value::Null)
    });
    decided.await?;
    context.app.imports.wake();
    Ok(on_to(&link(id)))
}
