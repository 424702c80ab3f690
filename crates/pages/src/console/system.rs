//! System: an overview of the server, jobs, backups, the audit log, and settings without secrets.

pub(crate) mod view;

use lyceum_access::audit::{AuditChange, AuditEntry, AuditFilter, AuditOrder, each};
use lyceum_access::limits::CONSOLE_JOBS_COUNT;
use lyceum_access::screens::system as screen;
use lyceum_api::work::backup;
use lyceum_api::{Context, Route};
use lyceum_console::language::{message, translated};
use lyceum_console::{
    Cell, Column, ExportFile, FactList, List, ListFilter, ListQuery, Row, limits, links, screens, t,
};
use lyceum_core::{Problem, Result};
use lyceum_hosting::backup::runs::{self, BackupRun, BackupState};
use lyceum_hosting::nodes::report::{self, NodeState, NodeStatus};
use lyceum_http::answer::Answer;
use lyceum_roster::imports;
use lyceum_store::{SqlDialect, Tx, jobs};
use serde_json::{Value, json};

use super::visitor::{days, query};
use super::{
    Form, Visitor, action, at_most, cut_notice, deadline, first_rows, on_to, page, show_list,
    show_page,
};

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::SYSTEM;
    vec![
        page("/system", screen, overview),
        page("/system/servers", screen, servers),
        page("/system/jobs", screen, all_jobs),
        page("/system/jobs/{job}", screen, job),
        page("/system/backups", screen, backups),
        action("/system/backups", screen, back_up),
        page("/system/audit", screen, changes),
        page("/system/audit/{change}", screen, change),
        page("/system/settings", screen, settings),
    ]
}

const SERVERS: &[Column] = &[
    Column::text("name", "Name"),
    Column::text("state", "State"),
    Column::text("release", "Release"),
    Column::text("address", "Address"),
    Column::text("publicAddress", "Public address"),
    Column::text("started", "Started"),
    Column::text("reported", "Last report"),
];
const JOBS: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("kind", "Work"),
    Column::text("state", "State"),
    Column::number("attempts", "Tries"),
    Column::text("due", "Due"),
    Column::text("error", "Last error"),
];
const TRIES: &[Column] = &[
    Column::number("attempt", "Try"),
    Column::text("began", "Began"),
    Column::text("ended", "Ended"),
    Column::text("outcome", "Outcome"),
];
const CHANGES: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("time", "Time"),
    Column::text("who", "Who"),
    Column::text("what", "Change"),
    Column::text("subject", "Subject"),
];
const BACKUPS: &[Column] = &[
    Column::text("time", "Time"),
    Column::text("server", "Server"),
    Column::text("state", "State"),
    Column::text("tried", "Tried out"),
    Column::text("file", "File"),
    Column::number("megabytes", "MB"),
];
const SETTINGS: &[Column] = &[
    Column::text("name", "Setting"),
    Column::text("value", "Value"),
    Column::text("origin", "Source"),
];

async fn overview(context: Context, visitor: Visitor) -> Result<Answer> {
    let app = &context.app;
    let read = |tx: &mut Tx<'_>| {
        Ok((screen::overview(tx)?, runs::last_complete(tx)?, runs::last_checked(tx)?))
    };
    let (found, last, tried) = app.db.read(read).await?;
    let jobs_of = |state: &str, count: i64, tone: &'static str| {
        let cell = Cell::count(count).to(format!("/console/system/jobs?state={state}"));
        if count > 0 { cell.toned(tone) } else { cell }
    };
    let backup = match last {
        Some(backup) => visitor.time(backup.began),
        None => Cell::text(t!("none yet")).toned("warn"),
    };
    let trial = match tried.as_ref().map(|run| (&run.check_error, run.checked)) {
        Some((Some(_), _)) => Cell::text(t!("cannot be restored")).toned("bad"),
        Some((None, at)) => visitor.time_if_any(at),
        None => Cell::text(t!("none yet")),
    };
    let facts = FactList::new(vec![
        ("Version", Cell::text(env!("CARGO_PKG_VERSION"))),
        ("Environment", Cell::text(app.config.server.env.name())),
        ("Address", Cell::text(context.base_url())),
        ("Database", Cell::text(database(app.db.dialect()))),
        ("Waiting jobs", jobs_of("waiting", found.waiting_jobs, "")),
        ("Failed jobs", jobs_of("failed", found.failed_jobs, "bad")),
        ("Last backup", backup.to("/console/system/backups")),
        ("Last trial of a backup", trial.to("/console/system/backups")),
        ("Changes in the audit log", Cell::count(found.change_count).to("/console/system/audit")),
    ]);
    show_page(&view::OverviewPage {
        frame: visitor.frame(t!("System")),
        tabs: view::tabs("Overview"),
        facts,
    })
}

/// The display name of the database.
pub(super) fn database(dialect: SqlDialect) -> &'static str {
    match dialect {
        SqlDialect::Sqlite => "SQLite",
        SqlDialect::Postgres => "PostgreSQL",
    }
}

async fn servers(context: Context, visitor: Visitor) -> Result<Answer> {
    let nodes = context.app.db.read(report::list).await?;
    let row = |node: &NodeStatus| {
        let tone = match node.state {
            NodeState::Serving => "good",
            NodeState::Stopping => "warn",
            NodeState::Stopped => "",
            NodeState::Silent => "bad",
        };
        vec![
            Cell::text(&node.name),
            Cell::text(translated(node.state.name())).toned(tone),
            Cell::text(&node.version),
            Cell::text(&node.address),
            Cell::text(&node.public_url),
            visitor.time(node.started),
            visitor.time(node.seen),
        ]
    };
    let rows = nodes.iter().map(row).collect();
    let list = List::new("Servers", SERVERS, query(&context), rows);
    let list = list.or_else("No server has reported yet.");
    let description = match report::address_conflict(&nodes) {
        Some(_) => t!(
            "The servers that share the database. Their setting `server.public_url` must be the same; now it is not."
        ),
        None => {
            t!("The servers that share the database. Each reports every few seconds that it lives.")
        }
    };
    of_list("servers", &visitor, "Servers", description, false, list)
}

async fn all_jobs(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let state = query.parameter("state").to_owned();
    let read = move |tx: &mut Tx<'_>| {
        let state = Some(state.as_str()).filter(|state| !state.is_empty());
        jobs::newest(tx, state, CONSOLE_JOBS_COUNT)
    };
    let jobs = context.app.db.read(read).await?;
    let rows = jobs.iter().map(|job| job_row(&visitor, job)).collect();
    let states = ["waiting", "failed", "done"].map(|name| (name, state_name(name)));
    let list = List::new("Jobs", JOBS, query, rows)
        .choice(ListFilter::of("state", "State", states.into_iter()))
        .or_else("There are no jobs yet.")
        .note(at_most(jobs.len(), CONSOLE_JOBS_COUNT));
    let description = t!(
        "Long work that goes on after its request. The server tries a failed job again, after longer and longer pauses."
    );
    of_list("jobs", &visitor, "Jobs", description, false, list)
}

fn job_row(visitor: &Visitor, job: &jobs::JobStatus) -> Row {
    let to = links::job(job.id);
    vec![
        Cell::count(job.id).to(&to),
        Cell::text(&job.kind),
        state(job),
        Cell::count(job.attempts).to(&to),
        visitor.time_of_text(&job.due),
        job.error.as_ref().map_or_else(Cell::none, |error| Cell::text(message(error))),
    ]
}

/// The state of a job in the reader's language.
fn state_name(name: &str) -> String {
    match name {
        "waiting" => t!("waiting"),
        "running" => t!("running"),
        "failed" => t!("failed"),
        "done" => t!("done"),
        other => other.to_owned(),
    }
}

fn state(job: &jobs::JobStatus) -> Cell {
    Cell::text(state_name(&job.state)).toned(match job.state.as_str() {
        "failed" => "bad",
        "done" => "good",
        _ => "warn",
    })
}

async fn job(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = context.param("job").to_owned();
    let (job, tries) = context.app.db.read(move |tx| screen::job(tx, &id)).await?;
    let work = match job.kind.as_str() {
        imports::KIND => Cell::text(&job.kind).to(links::import(&job.payload)),
        kind => Cell::text(kind),
    };
    let facts = FactList::new(vec![
        ("Work", work),
        ("State", state(&job)),
        ("Tries", Cell::count(job.attempts)),
        ("Due", visitor.time_of_text(&job.due)),
    ]);
    let rows = tries.iter().map(|tried| try_row(&visitor, &job, tried)).collect();
    let list =
        List::new("Tries", TRIES, query(&context), rows).or_else("This job has not run yet.");
    let page = view::JobPage { frame: visitor.frame(t!("Job {n}", n = job.id)), facts, list };
    show_list("tries", &page.list, &page)
}

fn try_row(visitor: &Visitor, job: &jobs::JobStatus, tried: &jobs::JobTry) -> Row {
    let outcome = match (&tried.error, &tried.ended) {
        (Some(error), _) => Cell::text(message(error)).toned("bad"),
        (None, Some(_)) => Cell::text(t!("done")).toned("good"),
        (None, None) if job.runs(tried) => Cell::text(t!("running")).toned("warn"),
        (None, None) => Cell::text(t!("its server stopped")).toned("bad"),
    };
    vec![
        Cell::count(tried.attempt),
        visitor.time_of_text(&tried.began),
        tried.ended.as_ref().map_or_else(Cell::none, |ended| visitor.time_of_text(ended)),
        outcome,
    ]
}

fn of_list(
    name: &'static str,
    visitor: &Visitor,
    tab: &'static str,
    description: String,
    makes_backups: bool,
    list: List,
) -> Result<Answer> {
    let (frame, tabs) = (visitor.frame(t!("System")), view::tabs(tab));
    let page = view::SystemListPage { frame, tabs, description, makes_backups, list };
    show_list(name, &page.list, &page)
}

async fn backups(context: Context, visitor: Visitor) -> Result<Answer> {
    let now = context.app.clock.now();
    let newest = move |tx: &mut Tx<'_>| runs::newest(tx, now, CONSOLE_JOBS_COUNT);
    let backups = context.app.db.read(newest).await?;
    let rows = backups.iter().map(|run| backup_row(&visitor, run)).collect();
    let list = List::new("Backups", BACKUPS, query(&context), rows)
        .or_else(
            "There is no backup yet. `lyceum admin backup FILE` creates one while the server runs.",
        )
        .note(at_most(backups.len(), CONSOLE_JOBS_COUNT));
    let to = context.app.config.backup.to.as_str();
    let description = if to.is_empty() {
        t!(
            "A backup contains the database as of one instant, and each file of deployed projects as of a moment later. Backups are in the data folder. Store copies on another machine, and store master.key apart from them."
        )
    } else {
        t!(
            "The server makes backups by itself and stores them encrypted in {place}. Store the keys `backup.key` and master.key apart from them.",
            place = to
        )
    };
    of_list("backups", &visitor, "Backups", description, true, list)
}

fn backup_row(visitor: &Visitor, run: &BackupRun) -> Vec<Cell> {
    let tone = match run.state {
        BackupState::Running => "",
        BackupState::Done => "good",
        BackupState::Failed => "bad",
    };
    let state = Cell::text(translated(run.state.name())).toned(tone);
    let tried = match (run.checked, &run.check_error) {
        (None, _) => Cell::text(t!("no")),
        (Some(_), Some(error)) => Cell::text(message(error)).toned("bad"),
        (Some(at), None) => visitor.time(at),
    };
    let file = match (&run.error, run.state) {
        (Some(error), _) => Cell::text(message(error)),
        (None, BackupState::Done) if run.file.is_empty() => {
            Cell::text(t!("nothing to back up on this server"))
        }
        (None, _) => Cell::text(&run.file),
    };
    let megabytes = i64::try_from(run.bytes.div_ceil(1_000_000)).unwrap_or(i64::MAX);
    vec![
        visitor.time(run.began),
        Cell::text(&run.node_name),
        state,
        tried,
        file,
        Cell::count(megabytes),
    ]
}

async fn back_up(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let file = backup::back_up_now(&context.app).await?;
    let (now, who) = (context.app.clock.now(), visitor.person.email.clone());
    let noted = context.app.db.write(move |tx| {
        let change = AuditChange { who: &who, what: backup::AUDIT_ACTION, subject: &file };
        change.note(tx, now, &json!(null))
    });
    noted.await?;
    Ok(on_to("/console/system/backups"))
}

async fn changes(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let filter = filter(&query, &visitor)?;
    if let Some(export) = query.export {
        let add = move |tx: &mut Tx<'_>, file: &mut ExportFile, most| {
            let mut found = 0;
            each(tx, &filter, most + 1, |entry| {
                found += 1;
                if found > most { Ok(()) } else { file.add(&entry_row(&visitor, &entry)) }
            })?;
            Ok(found > most)
        };
        return first_rows(&context, "audit", (CHANGES, export), add).await;
    }
    let whole = |number: usize| i64::try_from(number).map_err(Problem::internal);
    let (most, skip) = (whole(limits::CONSOLE_PAGE_ROWS_COUNT)?, whole(query.skipped())?);
    let read = move |tx: &mut Tx<'_>| screen::changes(tx, &filter, most, skip);
    let found = context.app.db.scan(deadline(), read).await?;
    let rows = found.page.entries.iter().map(|entry| entry_row(&visitor, entry)).collect();
    let total = usize::try_from(found.page.total).unwrap_or_default();
    let list = List::page("Changes", CHANGES, query, rows, total)
        .or_else("No changes have been made in the console or by a command yet.")
        .choice(ListFilter::of("who", "Who", found.who.iter().map(|who| (who, who))))
        .choice(ListFilter::of("what", "Change", found.what.iter().map(|what| (what, what))))
        .days()
        .note(cut_notice(found.page.total));
    let description = t!(
        "Who changed what in the console or by a command. Entries are never changed. The page of a project also lists its own changes."
    );
    of_list("audit", &visitor, "Audit log", description, false, list)
}

fn filter(query: &ListQuery, visitor: &Visitor) -> Result<AuditFilter> {
    let (from, to) = days(query, visitor.zone())?;
    let (by, is_reversed) = match query.order() {
        ("time" | "number", is_reversed) => (AuditOrder::Time, is_reversed),
        ("who", is_reversed) => (AuditOrder::Who, is_reversed),
        ("what", is_reversed) => (AuditOrder::What, is_reversed),
        ("subject", is_reversed) => (AuditOrder::Subject, is_reversed),
        _ => (AuditOrder::Time, true),
    };
    Ok(AuditFilter {
        text: query.filter.clone(),
        who: query.parameter("who").to_owned(),
        what: query.parameter("what").to_owned(),
        from,
        to,
        by,
        is_ascending: !is_reversed,
    })
}

fn entry_row(visitor: &Visitor, entry: &AuditEntry) -> Row {
    let to = links::change(entry.id);
    vec![
        Cell::count(entry.id).to(&to),
        visitor.exact_time(entry.at),
        Cell::text(&entry.who),
        Cell::text(&entry.what).to(&to),
        Cell::text(&entry.subject),
    ]
}

async fn change(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = context.param("change").to_owned();
    let entry = context.app.db.read(move |tx| screen::change(tx, &id)).await?;
    let facts = FactList::new(vec![
        ("Time", visitor.exact_time(entry.at)),
        ("Who", Cell::text(&entry.who)),
        ("Change", Cell::text(&entry.what)),
        ("Subject", Cell::text(&entry.subject)),
    ]);
    let details = match &entry.details {
        Value::Null => String::new(),
        details => serde_json::to_string_pretty(details).map_err(Problem::internal)?,
    };
    show_page(&view::AuditChangePage {
        frame: visitor.frame(t!("Change {n}", n = entry.id)),
        facts,
        details,
    })
}

async fn settings(context: Context, visitor: Visitor) -> Result<Answer> {
    let row = |(name, value, origin): &(String, String, String)| {
        vec![Cell::text(name), Cell::text(value), Cell::text(origin)]
    };
    let rows = context.app.settings.iter().map(row).collect();
    let list = List::new("Settings", SETTINGS, query(&context), rows)
        .or_else("This server was started without a list of its settings.");
    let description = t!(
        "The settings since the start, and where each value comes from. Secrets are left out. `lyceum config` explains each setting."
    );
    of_list("settings", &visitor, "Settings", description, false, list)
}
