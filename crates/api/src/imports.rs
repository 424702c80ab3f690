//! Rosters as OneRoster CSV files, in and out, for clients.

use std::io::{BufWriter, Seek, SeekFrom, Write};

use http::{HeaderValue, StatusCode, header};
use lyceum_access::{RequestSubject, Scope};
use lyceum_blob::Blob;
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, message};
use lyceum_hosting::BlobStream;
use lyceum_http::answer::Answer;
use lyceum_http::render::Rendering;
use lyceum_http::route::ParamPlace::Query;
use lyceum_http::route::{AnswerHeader, get, post};
use lyceum_http::{Body, auth};
use lyceum_roster::csv::source::CsvSource;
use lyceum_roster::csv::{self, CsvError, CsvReport, ExportContent, FileReport, files};
use lyceum_roster::imports::{Import, ImportProgress, find as find_import, newest_of};
use lyceum_roster::kind::RecordKind;
use lyceum_roster::screens::imports::report;
use lyceum_store::run_blocking;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::oneroster::{RouteEffect, access};
use crate::work::imports::{self, Decision, SentFile};
use crate::{Area, Context, Route, limits};

const ZIP: &str = "application/zip";

pub(super) fn areas() -> Vec<Area> {
    let area = |name, base, description, routes| Area {
        name,
        base,
        rendering: Rendering::Problem,
        description,
        routes,
    };
    let about_imports =
        "Imports of OneRoster CSV files as jobs. A client sees the imports that it sent.";
    let about_exports = "The roster as OneRoster CSV files.";
    vec![
        area("imports", "/imports", about_imports, import_routes()),
        area("exports", "/exports", about_exports, vec![export_route()]),
    ]
}

const LOCATION: &[AnswerHeader] =
    &[AnswerHeader { name: "Location", ty: "string", description: "The address of the import." }];

fn import_routes() -> Vec<Route> {
    let flag = || json!({ "type": "boolean", "default": false });
    vec![
        post("", Scope::RosterWrite, send)
            .within_reach()
            .named("sendImport")
            .description("Imports a zip of OneRoster CSV files: all rows, or none if one is rejected. The token needs the scopes to change all kinds of records of which the zip has files. Rows outside of the part of the roster to which the client is limited are rejected, unless they change nothing.")
            .param(Query, "name", json!({ "type": "string" }), "The name of the file, by which people recognize it.")
            .param(Query, "check", flag(), "true: only check the file; nothing is stored before the import is started.")
            .param(Query, "keepGoing", flag(), "true: store the correct rows although others are rejected.")
            .reads_as(&[ZIP])
            .reads_up_to(limits::IMPORT_UPLOAD_MAX_BYTES)
            .answers::<RosterImport>(202, "The server reads the file.")
            .with_headers(LOCATION),
        get("", Scope::RosterWrite, list)
            .within_reach()
            .named("getImports")
            .description("Lists the newest imports that the client sent.")
            .answers::<ImportList>(200, "The imports."),
        get("/{id}", Scope::RosterWrite, read)
            .within_reach()
            .named("getImport")
            .description("Reads the state of an import: its progress, then its report.")
            .answers::<RosterImport>(200, "The import."),
        get("/{id}/rejected.csv", Scope::RosterWrite, rejected)
            .within_reach()
            .named("getRejectedRows")
            .description("Reads the rejected rows of an import, each with its error.")
            .answers_as(200, "The rows as CSV.", Some(("text/csv", json!({ "type": "string" })))),
        decision_route("/{id}/start", true)
            .named("startImport")
            .description("Stores the correct rows of a checked import."),
        decision_route("/{id}/discard", false)
            .named("discardImport")
            .description("Discards a checked import. Nothing is stored."),
    ]
}

/// The newest imports of a client.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ImportList {
    /// The imports, the newest first.
    imports: Vec<RosterImport>,
}

async fn send(context: Context) -> Result<Answer> {
    let body = context.body.clone();
    let kinds = run_blocking(move || kinds(&body)).await?;
    require_scopes(&context, kinds, RouteEffect::Put)?;
    let flag = |name| context.parsed_query_value::<bool>(name, "must be 'true' or 'false'");
    let (check, keep_going) =
        (flag("check")?.unwrap_or(false), flag("keepGoing")?.unwrap_or(false));
    let sent = SentFile {
        name: context.query_value("name").unwrap_or_else(|| "roster.zip".to_owned()),
        body: context.body.clone(),
        who: owner(&context),
        reach: context.reach(),
        keep_going: (!check).then_some(keep_going),
    };
    let id = imports::send(&context.app, sent).await?;
    let import = context.app.db.read(move |tx| find_import(tx, id)).await?;
    let location = format!("{}/imports/{id}", context.base_url());
    Ok(Answer::of(&view(&context, &import))
        .status(StatusCode::ACCEPTED)
        .header(header::LOCATION, location))
}

async fn list(context: Context) -> Result<Answer> {
    let who = owner(&context);
    let found = context.app.db.read(move |tx| newest_of(tx, &who)).await?;
    let imports = found.iter().map(|import| view(&context, import)).collect();
    Ok(Answer::of(&ImportList { imports }))
}

async fn read(context: Context) -> Result<Answer> {
    let import = find(&context).await?;
    Ok(Answer::of(&view(&context, &import)))
}

async fn rejected(context: Context) -> Result<Answer> {
    imports::rejected_rows(&context.app, &find(&context).await?).await
}

fn decision_route(path: &'static str, starts: bool) -> Route {
    post(path, Scope::RosterWrite, move |context| decide(context, starts))
        .within_reach()
        .reads_as(&[])
        .answers::<RosterImport>(200, "The import.")
}

async fn decide(context: Context, starts: bool) -> Result<Answer> {
    let import = find(&context).await?;
    if let (true, Some(report)) = (starts, report(&import)) {
        let kinds =
            files::ALL.iter().filter(|file| report.files.iter().any(|one| one.file == file.name));
        require_scopes(&context, kinds.map(|file| (file.kind, file.name)), RouteEffect::Put)?;
    }
    let decision = if starts { Decision::Start(context.reach()) } else { Decision::Discard };
    imports::decide(&context.app, owner(&context), import.id, decision).await?;
    read(context).await
}

fn export_route() -> Route {
    let contents =
        json!({ "type": "string", "enum": ["standard", "complete"], "default": "standard" });
    get("/roster.zip", Scope::RosterRead, export)
        .within_reach()
        .named("exportRoster")
        .description("Exports the roster as a zip of OneRoster CSV files. The token needs the scopes to read all kinds of records.")
        .param(Query, "content", contents, "standard: active records, as OneRoster 1.2 defines them. complete: also deleted records, dates, and what OneRoster does not define.")
        .answers_as(200, "The zip.", Some((ZIP, json!({ "type": "string", "format": "binary" }))))
}

async fn export(context: Context) -> Result<Answer> {
    let wanted = match context.query_value("content").as_deref() {
        None | Some("standard") => ExportContent::Standard,
        Some("complete") => ExportContent::Complete,
        Some(_) => return Err(Problem::invalid("content", "must be 'standard' or 'complete'")),
    };
    let all = files::ALL.iter().map(|file| (file.kind, file.name));
    require_scopes(&context, all, RouteEffect::ReadCore)?;
    let (db, reach) = (context.app.db.clone(), context.reach());
    if reach.is_limited() && wanted == ExportContent::Complete {
        let rule = "must be 'standard', because this caller is limited to a part of the roster";
        return Err(Problem::invalid("content", rule));
    }
    let write = run_blocking(move || {
        let file = BufWriter::new(tempfile::tempfile().map_err(Problem::internal)?);
        let (exported, file) = csv::export(&db, (wanted, &reach), file, &mut |_, _| {})?;
        let mut file = file.into_inner().map_err(Problem::internal)?;
        let size = file.seek(SeekFrom::End(0)).map_err(Problem::internal)?;
        file.seek(SeekFrom::Start(0)).map_err(Problem::internal)?;
        Ok((exported.left_out_count, Blob { file, size }))
    });
    let (left_out, blob) = write.await?;
    let size = blob.size;
    let notice = (left_out > 0).then(|| Detail {
        path: "roster.zip".to_owned(),
        message: message!(
            "lacks {left_out} values that OneRoster 1.2 cannot express; content=complete has them"
        ),
    });
    Ok(Answer::typed(HeaderValue::from_static(ZIP), Body::new(BlobStream::of(blob, 0, size)))
        .noting(notice)
        .header(header::CONTENT_LENGTH, size)
        .header(header::CONTENT_DISPOSITION, "attachment; filename=\"roster.zip\""))
}

/// An import of a roster.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RosterImport {
    /// The number of the import.
    id: i64,
    /// The name of the file.
    name: String,
    /// The size of the file in bytes.
    bytes: i64,
    /// `checking` and `importing` while the server reads the file. `checked`: nothing is stored, and the client may start
    /// or discard the import. `done`: stored. `failed`: the file cannot be read; `problem` says why.
    #[schemars(extend("enum" = ["checking", "checked", "importing", "done", "failed", "discarded"]))]
    state: &'static str,
    /// When the file was sent.
    sent: Timestamp,
    /// When the server finished reading the file.
    ended: Option<Timestamp>,
    /// How far the server has read the file.
    progress: Option<Progress>,
    /// The outcomes of the rows by file, after the file was read.
    files: Vec<FileReport>,
    /// Files in the zip that are not part of OneRoster.
    ignored: Vec<String>,
    /// The first errors. `rejected.csv` has all rows with errors.
    errors: Vec<Detail>,
    /// The number of all errors.
    error_count: u64,
    /// The first warnings.
    warnings: Vec<Detail>,
    /// The number of all warnings.
    warning_count: u64,
    /// The address of the rejected rows as CSV; `null` if there are none.
    rejected: Option<String>,
    /// Why the import failed.
    problem: Option<Message>,
}

/// How far a file was read.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Progress {
    /// The current file in the zip, without `.csv`.
    file: String,
    /// The rows that were read, over all files.
    rows: u64,
    /// From 0 to 100.
    percent: u64,
}

fn view(context: &Context, import: &Import) -> RosterImport {
    let CsvReport { files, ignored, faults, fault_count, warnings, warning_count, .. } =
        report(import).unwrap_or_default();
    // This server's own progress is newer than the stored progress.
    let progress = context.app.imports.progress(import.id).or_else(|| import.progress.clone());
    let progress = progress.filter(|_| import.state.is_running());
    let details = |errors: Vec<CsvError>| errors.iter().map(CsvError::detail).collect();
    RosterImport {
        id: import.id,
        name: import.name.clone(),
        bytes: import.bytes,
        state: import.state.name(),
        sent: import.uploaded,
        ended: import.ended,
        progress: progress.map(|ImportProgress { file, rows, percent }| Progress {
            file,
            rows,
            percent,
        }),
        files,
        ignored,
        errors: details(faults),
        error_count: fault_count,
        warnings: details(warnings),
        warning_count,
        rejected: import
            .rejects
            .as_ref()
            .map(|_| format!("{}/imports/{}/rejected.csv", context.base_url(), import.id)),
        problem: import.error.clone(),
    }
}

/// A kind of records, and the file of a package that has them.
type FileKind = (&'static RecordKind, &'static str);

/// The kinds of records of which a zip has files. Errors: `Invalid`.
fn kinds(zip: &[u8]) -> Result<Vec<FileKind>> {
    let mut file = NamedTempFile::new().map_err(Problem::internal)?;
    file.write_all(zip).map_err(Problem::internal)?;
    let path = file.path();
    let source = CsvSource::open(path).map_err(|problem| {
        let message = problem.message.to_string();
        let message = message.replace(&format!("'{}'", path.display()), "the body");
        Problem { message: Message::untranslated(message), ..problem }
    })?;
    Ok(source.kinds().collect())
}

/// Checks that the caller may read or change records of all these kinds. Errors: `Forbidden` with the file and the scope.
fn require_scopes(
    context: &Context,
    kinds: impl IntoIterator<Item = FileKind>,
    effect: RouteEffect,
) -> Result<()> {
    let subject = || RequestSubject::Route(context.route.limited_callers);
    for (kind, file) in kinds {
        let decided = auth::decide(context.grant.as_ref(), access(kind, effect), subject());
        decided.map_err(|denied| {
            let problem = auth::refusal(&denied).problem;
            Problem { message: message!("{file}.csv: {problem.message}"), ..problem }
        })?;
    }
    Ok(())
}

/// The owner of the imports that the caller sends.
fn owner(context: &Context) -> String {
    context.grant.as_ref().expect("the route is not public").client_id().to_owned()
}

/// The caller's import in the address. Errors: `NotFound`.
async fn find(context: &Context) -> Result<Import> {
    let name = context.param("id");
    let unknown =
        || Problem::new(ProblemKind::NotFound, message!("this client has no import '{name}'"));
    let id = name.parse().map_err(|_| unknown())?;
    let import = context.app.db.read(move |tx| find_import(tx, id)).await?;
    if import.who == owner(context) { Ok(import) } else { Err(unknown()) }
}
