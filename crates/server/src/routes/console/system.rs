//! System: what the server is, jobs, backups, the log of changes, settings without secrets.

use lyceum_access::audit::{self, By, Change, Entry};
use lyceum_console::{Cell, Choice, Column, Facts, File, List, Row, screens, system as view};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_roster::imports;
use lyceum_store::{Dialect, Tx, jobs};
use serde_json::json;

use super::events::{at, text_at};
use super::visitor::{days, query};
use super::{
    Form, Visitor, action, at_most, cut, deadline, first_rows, listed, on_to, page, shown,
};
use crate::answer::Answer;
use crate::apart::apart;
use crate::backup;
use crate::context::Context;
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::SYSTEM;
    vec![
        page("/system", screen, overview),
        page("/system/jobs", screen, all_jobs),
        page("/system/jobs/{job}", screen, job),
        page("/system/backups", screen, backups),
        action("/system/backups", screen, back_up),
        page("/system/audit", screen, changes),
        page("/system/audit/{change}", screen, change),
        page("/system/settings", screen, settings),
    ]
}

const JOBS: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("kind", "Work"),
    Column::text("state", "State"),
    Column::number("attempts", "Tries"),
    Column::text("due", "Due"),
    Column::text("error", "Last failure"),
];
const TRIES: &[Column] = &[
    Column::number("attempt", "Try"),
    Column::text("began", "Began"),
    Column::text("ended", "Ended"),
    Column::text("outcome", "What came of it"),
];
const CHANGES: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("time", "Time"),
    Column::text("who", "Who"),
    Column::text("what", "What"),
    Column::text("subject", "Of what"),
];
const BACKUPS: &[Column] =
    &[Column::text("time", "Time"), Column::text("who", "Who"), Column::text("file", "File")];
const SETTINGS: &[Column] = &[
    Column::text("name", "Setting"),
    Column::text("value", "Value"),
    Column::text("origin", "From"),
];

/// How many of the jobs are in a state.
pub(super) fn jobs_in(counts: &[(String, i64)], state: &str) -> i64 {
    counts.iter().find(|(name, _)| name == state).map_or(0, |(_, count)| *count)
}

async fn overview(context: Context, visitor: Visitor) -> Result<Answer> {
    let app = &context.app;
    let read = |tx: &mut Tx<'_>| {
        let store = match tx.dialect() {
            Dialect::Sqlite => "SQLite",
            Dialect::Postgres => "PostgreSQL",
        };
        let last = last_backup(tx)?;
        let everything = audit::Filter::default();
        Ok((store, jobs::counts(tx)?, last, audit::list(tx, &everything, 1, 0)?.total))
    };
    let (store, counts, backup, changes) = app.db.read(read).await?;
    let jobs_of = |state: &str, tone: &'static str| {
        let (count, to) = (jobs_in(&counts, state), format!("/console/system/jobs?state={state}"));
        let cell = Cell::of(count, count.to_string()).to(to);
        if count > 0 { cell.toned(tone) } else { cell }
    };
    let backup = match backup {
        Some(entry) => at(&visitor, entry.at),
        None => Cell::text("none yet").toned("warn"),
    };
    let facts = Facts::new(vec![
        ("Version", Cell::text(env!("CARGO_PKG_VERSION"))),
        ("Environment", Cell::text(app.config.server.env.name())),
        ("Address", Cell::text(context.base_url())),
        ("Store", Cell::text(store)),
        ("Jobs that wait", jobs_of("waiting", "")),
        ("Jobs that failed", jobs_of("failed", "bad")),
        ("Last backup", backup.to("/console/system/backups")),
        ("Changes in the log", Cell::of(changes, changes.to_string()).to("/console/system/audit")),
    ]);
    shown(&view::Overview { frame: visitor.frame("System"), tabs: view::tabs("Overview"), facts })
}

async fn all_jobs(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let state = query.own("state").to_owned();
    let read = move |tx: &mut Tx<'_>| {
        let state = Some(state.as_str()).filter(|state| !state.is_empty());
        jobs::newest(tx, state, limits::CONSOLE_JOBS_COUNT)
    };
    let jobs = context.app.db.read(read).await?;
    let row = |job: &jobs::Seen| {
        let to = format!("/console/system/jobs/{}", job.id);
        vec![
            Cell::of(job.id, job.id.to_string()).to(&to),
            Cell::text(&job.kind),
            stands(job),
            Cell::of(job.attempts, job.attempts.to_string()).to(&to),
            text_at(&visitor, &job.due),
            job.error.as_ref().map_or_else(Cell::none, Cell::text),
        ]
    };
    let option = |value: &str, name: &str| (value.to_owned(), name.to_owned());
    let states = vec![
        option("", "all"),
        option("waiting", "waiting"),
        option("failed", "failed"),
        option("done", "done"),
    ];
    let list = List::new("Jobs", JOBS, query, jobs.iter().map(row).collect())
        .choice(Choice { name: "state", label: "State", options: states })
        .or_else("There is no job: no long work was asked for yet.")
        .note(at_most(jobs.len(), limits::CONSOLE_JOBS_COUNT));
    let says = "Work that outlives a request; a job that fails is tried again, later each time.";
    of_list("jobs", &visitor, "Jobs", says, false, list)
}

fn stands(job: &jobs::Seen) -> Cell {
    Cell::text(&job.state).toned(match job.state.as_str() {
        "failed" => "bad",
        "done" => "good",
        _ => "warn",
    })
}

async fn job(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = context.param("job").to_owned();
    let unknown = Problem::new(ProblemKind::NotFound, format!("there is no job '{id}'"));
    let found = match id.parse() {
        Ok(id) => context.app.db.read(move |tx| jobs::find(tx, id)).await?,
        Err(_) => None,
    };
    let (job, tries) = found.ok_or(unknown)?;
    let work = match job.kind.as_str() {
        imports::KIND => Cell::text(&job.kind).to(format!("/console/imports/{}", job.payload)),
        kind => Cell::text(kind),
    };
    let facts = Facts::new(vec![
        ("Work", work),
        ("State", stands(&job)),
        ("Tries", Cell::of(job.attempts, job.attempts.to_string())),
        ("Due", text_at(&visitor, &job.due)),
    ]);
    let row = |(place, one): (usize, &jobs::Try)| {
        let is_last = place + 1 == tries.len() && job.state == "waiting";
        let outcome = match (&one.error, &one.ended) {
            (Some(error), _) => Cell::text(error).toned("bad"),
            (None, Some(_)) => Cell::text("done").toned("good"),
            (None, None) if is_last => Cell::text("under way").toned("warn"),
            (None, None) => Cell::text("its server was gone").toned("bad"),
        };
        vec![
            Cell::of(one.attempt, one.attempt.to_string()),
            text_at(&visitor, &one.began),
            one.ended.as_ref().map_or_else(Cell::none, |ended| text_at(&visitor, ended)),
            outcome,
        ]
    };
    let rows = tries.iter().enumerate().map(row).collect();
    let list = List::new("Tries", TRIES, query(&context), rows)
        .or_else("No try is noted: nobody has taken the job since this server notes them.");
    let page = view::Job { frame: visitor.frame(format!("Job {}", job.id)), facts, list };
    listed("tries", &page.list, &page)
}

fn of_list(
    name: &'static str,
    visitor: &Visitor,
    tab: &'static str,
    says: &'static str,
    makes_backups: bool,
    list: List,
) -> Result<Answer> {
    let (frame, tabs) = (visitor.frame("System"), view::tabs(tab));
    let page = view::Listed { frame, tabs, says, makes_backups, list };
    listed(name, &page.list, &page)
}

const MADE: &str = "backup.make";

/// The last backup that was made.
pub(super) fn last_backup(tx: &mut Tx<'_>) -> Result<Option<Entry>> {
    Ok(audit::list(tx, &backups_only(), 1, 0)?.entries.pop())
}

fn backups_only() -> audit::Filter {
    audit::Filter { what: MADE.to_owned(), ..audit::Filter::default() }
}

async fn backups(context: Context, visitor: Visitor) -> Result<Answer> {
    let read = |tx: &mut Tx<'_>| {
        let is_sqlite = tx.dialect() == Dialect::Sqlite;
        let most = limits::CONSOLE_JOBS_COUNT;
        Ok((is_sqlite, audit::list(tx, &backups_only(), most, 0)?.entries))
    };
    let (is_sqlite, made) = context.app.db.read(read).await?;
    let row = |entry: &Entry| {
        vec![at(&visitor, entry.at), Cell::text(&entry.who), Cell::text(&entry.subject)]
    };
    let rows = made.iter().map(row).collect();
    let list = List::new("Backups", BACKUPS, query(&context), rows)
        .or_else("No backup was made yet; `lyceum admin backup FILE` makes one while all runs on.")
        .note(at_most(made.len(), limits::CONSOLE_JOBS_COUNT));
    let says = if is_sqlite {
        "A backup has the database as of one instant, and each file of deployed projects as of a moment later. \
         Backups are in the data folder. Keep copies on another machine, and master.key apart from them."
    } else {
        "`lyceum admin backup FILE` makes one of the database and of the projects of its node. Keep master.key apart \
         from them."
    };
    of_list("backups", &visitor, "Backups", says, is_sqlite, list)
}

async fn back_up(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let (now, who) = (context.app.clock.now(), visitor.person.email.clone());
    let name = format!("lyceum-{}.backup", now.to_string().replace([':', '.'], "-"));
    let folder = context.app.config.store.data.join("backups");
    let (app, file) = (context.app.clone(), folder.join(&name));
    apart(move || {
        std::fs::create_dir_all(&folder).map_err(Problem::internal)?;
        let mut dump = |_: &std::path::Path, _: &str| -> Result<()> {
            let message = "a database of PostgreSQL is backed up by `lyceum admin backup`";
            Err(Problem::new(ProblemKind::Conflict, message))
        };
        backup::make((&app.db, &app.config, &app.node), now, &file, &mut dump, |_| ())
    })
    .await?;
    let noted = context.app.db.write(move |tx| {
        let subject = format!("backups/{name}");
        Change { who: &who, what: MADE, subject: &subject }.note(tx, now, &json!(null))
    });
    noted.await?;
    Ok(on_to("/console/system/backups"))
}

async fn changes(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let (from, to) = days(&query, &visitor.zone)?;
    let (by, is_reversed) = match query.order() {
        ("time" | "number", is_reversed) => (By::Time, is_reversed),
        ("who", is_reversed) => (By::Who, is_reversed),
        ("what", is_reversed) => (By::What, is_reversed),
        ("subject", is_reversed) => (By::Subject, is_reversed),
        _ => (By::Time, true),
    };
    let filter = audit::Filter {
        text: query.filter.clone(),
        who: query.own("who").to_owned(),
        what: query.own("what").to_owned(),
        from,
        to,
        by,
        is_ascending: !is_reversed,
    };
    if let Some(export) = query.export {
        let add = move |tx: &mut Tx<'_>, file: &mut File, most| {
            let mut found = 0;
            audit::each(tx, &filter, most + 1, |entry| {
                found += 1;
                if found > most { Ok(()) } else { file.add(&entry_row(&visitor, &entry)) }
            })?;
            Ok(found > most)
        };
        return first_rows(&context, "audit", (CHANGES, export), add).await;
    }
    let whole = |number: usize| i64::try_from(number).map_err(Problem::internal);
    let (most, skip) = (whole(limits::CONSOLE_PAGE_ROWS_COUNT)?, whole(query.skipped())?);
    let read =
        move |tx: &mut Tx<'_>| Ok((audit::list(tx, &filter, most, skip)?, audit::names(tx)?));
    let (found, (who, what)) = context.app.db.scan(deadline(), read).await?;
    let rows = found.entries.iter().map(|entry| entry_row(&visitor, entry)).collect();
    let total = usize::try_from(found.total).unwrap_or_default();
    let list = List::page("Changes", CHANGES, query, rows, total)
        .or_else("Nothing was changed in the console or by a command yet.")
        .choice(Choice::of("who", "Who", who.iter().map(|who| (who, who))))
        .choice(Choice::of("what", "What", what.iter().map(|what| (what, what))))
        .days()
        .note(cut(found.total));
    let says = "Who changed what, in the console or by a command. Entries are never changed; those of a \
                project stand on its page, too.";
    of_list("audit", &visitor, "Audit log", says, false, list)
}

fn entry_row(visitor: &Visitor, entry: &Entry) -> Row {
    let to = format!("/console/system/audit/{}", entry.id);
    vec![
        Cell::of(entry.id, entry.id.to_string()).to(&to),
        at(visitor, entry.at),
        Cell::text(&entry.who),
        Cell::text(&entry.what).to(&to),
        Cell::text(&entry.subject),
    ]
}

async fn change(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = context.param("change").to_owned();
    let unknown = Problem::new(ProblemKind::NotFound, format!("there is no change '{id}'"));
    let found = match id.parse() {
        Ok(id) => context.app.db.read(move |tx| audit::find(tx, id)).await?,
        Err(_) => None,
    };
    let entry = found.ok_or(unknown)?;
    let facts = Facts::new(vec![
        ("Time", at(&visitor, entry.at)),
        ("Who", Cell::text(&entry.who)),
        ("What", Cell::text(&entry.what)),
        ("Of what", Cell::text(&entry.subject)),
    ]);
    let details = match &entry.details {
        serde_json::Value::Null => String::new(),
        details => serde_json::to_string_pretty(details).map_err(Problem::internal)?,
    };
    shown(&view::Change { frame: visitor.frame(format!("Change {}", entry.id)), facts, details })
}

async fn settings(context: Context, visitor: Visitor) -> Result<Answer> {
    let row = |(name, value, origin): &(String, String, String)| {
        vec![Cell::text(name), Cell::text(value), Cell::text(origin)]
    };
    let rows = context.app.settings.iter().map(row).collect();
    let list = List::new("Settings", SETTINGS, query(&context), rows)
        .or_else("This server was started without a list of its settings.");
    let says = "What is in force since the start, and where each value came from; secrets are left out. \
                `lyceum config` explains each.";
    of_list("settings", &visitor, "Settings", says, false, list)
}
