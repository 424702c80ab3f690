//! Erases a person, step by step. Each step is one short transaction that also stores how far the erasure is.

use std::collections::BTreeMap;

use lyceum_access::audit::AuditChange;
use lyceum_access::person;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_events::repository::{self as events, ErasedActor, ErasedTexts};
use lyceum_roster::{imports, kinds, repository as roster};
use lyceum_store::jobs::{self, ClaimedJob};
use lyceum_store::{Tx, outbox, parsed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::erased::ErasureKey;
use crate::inventory::{TABLES, Treatment};
use crate::limits;
use crate::sql::{self, ErasureRow};
use crate::subject::Subject;

/// The kind of the jobs.
pub const KIND: &str = "person.erase";
/// The label under which the strings of a person are sealed.
pub(crate) const SEAL: &str = "erasure";

/// An erasure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Erasure {
    /// Its number.
    pub id: i64,
    /// The name that replaces the person in the records, events and scores that stay.
    pub pseudonym: String,
    /// The person who asked for it.
    pub asked_by: String,
    /// When it was asked for.
    pub asked: Timestamp,
    /// When it was done; `null` while it is running.
    pub ended: Option<Timestamp>,
    /// The phase that is running; `done` at the end.
    pub phase: String,
    /// The number of rows, texts and files that were changed or removed, by table.
    pub removed: BTreeMap<String, u64>,
    /// Tables of projects that still contain a string of the person. Only the project's owner can change them.
    pub projects: Vec<ProjectTable>,
    /// Keys of objects in the S3 bucket that former installations wrote. They stay until an operator adopts these
    /// installations.
    pub objects: Vec<String>,
}

/// A table of a project that contains a string of the person.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectTable {
    /// The slug of the project.
    pub project: String,
    /// The file in the project's folder, such as `d1.sqlite`, `kv.sqlite` or the name of a restore point.
    pub file: String,
    /// The table.
    pub table: String,
    /// The number of rows.
    pub rows: u64,
}

impl Erasure {
    /// Whether everything was removed.
    pub fn is_done(&self) -> bool {
        self.ended.is_some()
    }

    pub(crate) fn of(row: &ErasureRow) -> Result<Self> {
        let progress: Progress = serde_json::from_str(row.report.as_ref().unwrap_or(&row.progress))
            .map_err(Problem::internal)?;
        Ok(Self {
            id: row.id,
            pseudonym: row.pseudonym.clone(),
            asked_by: row.asked_by.clone(),
            asked: row.asked,
            ended: row.ended,
            phase: serde_json::to_value(progress.phase)
                .ok()
                .and_then(|phase| phase.as_str().map(str::to_owned))
                .unwrap_or_default(),
            removed: progress.removed,
            projects: progress.projects,
            objects: progress.objects,
        })
    }
}

/// How far an erasure is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Progress {
    phase: Phase,
    /// The table or record kind that is next in the phase.
    at: usize,
    /// The column of the table that is next.
    column: usize,
    /// The last row that was read.
    after: Option<i64>,
    /// The last text that was read.
    after_text: String,
    removed: BTreeMap<String, u64>,
    /// Files to remove.
    files: Vec<String>,
    projects: Vec<ProjectTable>,
    #[serde(default)]
    objects: Vec<String>,
    /// The numbers of actors that were found since the erasure began.
    #[serde(default)]
    late_actors: Vec<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Phase {
    #[default]
    User,
    References,
    Credentials,
    Tables,
    Records,
    Mentions,
    Events,
    EventBlocks,
    EventEntities,
    Imports,
    Files,
    Projects,
    Pages,
    Finish,
    Done,
}

/// The next step of an erasure.
#[derive(Clone, Debug)]
pub enum ErasureStep {
    /// Another transaction: [`step`].
    Continue,
    /// Remove these blobs, then call [`files_removed`].
    RemoveFiles(Vec<String>),
    /// Search the files of projects for these terms, in lower case, then call [`projects_searched`].
    SearchProjects(Vec<String>),
    /// Remove deleted content from the pages of these tables, then call [`pages_compacted`].
    CompactPages(Vec<&'static str>),
    /// Nothing.
    Done,
}

/// Begins to erase a person, or finds the erasure of the person that was begun or done before. From now on, writes that
/// name the person are refused.
///
/// Errors: `NotFound`; `Conflict` for the last administrator.
pub fn begin(
    tx: &mut Tx<'_>,
    now: Timestamp,
    key: &ErasureKey,
    who: &str,
    id: &str,
) -> Result<Erasure> {
    if let Some(known) = key.erasure_of(tx, id)? {
        return Ok(known);
    }
    let subject = Subject::find(tx, id)?;
    for account in &subject.accounts {
        person::disable(tx, now, account)?;
    }
    let pseudonym = format!("erased-{}", Uuid::new_v4().simple());
    let plain = serde_json::to_vec(&subject).map_err(Problem::internal)?;
    let sealed = key.master.seal(SEAL, &plain);
    let progress = serde_json::to_string(&Progress::default()).map_err(Problem::internal)?;
    let erasure = sql::insert(tx, now, (&pseudonym, who), &sealed, &progress)?;
    let hashes: Vec<String> = subject.ids().iter().map(|id| key.hash(id)).collect();
    sql::insert_ids(tx, erasure, &hashes)?;
    AuditChange { who, what: "person.erase", subject: &pseudonym }.note(tx, now, &json!(null))?;
    jobs::add(tx, KIND, &erasure.to_string())?;
    find(tx, erasure)
}

/// The erasure with that number. Errors: `NotFound`.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Erasure> {
    Erasure::of(&row(tx, id)?)
}

fn row(tx: &mut Tx<'_>, id: i64) -> Result<ErasureRow> {
    sql::find(tx, id)?.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, message!("the erasure {id} does not exist"))
    })
}

/// Claims an erasure that is due: its job and its number.
pub fn claim(tx: &mut Tx<'_>) -> Result<Option<(ClaimedJob, i64)>> {
    let Some(job) = jobs::claim(tx, KIND, limits::ERASURE_LEASE_S)? else { return Ok(None) };
    let id = parsed(&job.payload)?;
    Ok(Some((job, id)))
}

/// An erasure with the person's strings, in a transaction.
struct Work {
    id: i64,
    subject: Subject,
    pseudonym: String,
    progress: Progress,
}

impl Work {
    fn load(tx: &mut Tx<'_>, key: &ErasureKey, id: i64) -> Result<Option<Self>> {
        let row = row(tx, id)?;
        let Some(sealed) = &row.subject else { return Ok(None) };
        let plain = key.master.open(SEAL, sealed).ok_or_else(|| {
            Problem::internal("an erasure was begun with another master key than this one")
        })?;
        let subject = serde_json::from_slice(&plain).map_err(Problem::internal)?;
        let progress = serde_json::from_str(&row.progress).map_err(Problem::internal)?;
        Ok(Some(Self { id, subject, pseudonym: row.pseudonym, progress }))
    }

    fn store(&self, tx: &mut Tx<'_>) -> Result<()> {
        let progress = serde_json::to_string(&self.progress).map_err(Problem::internal)?;
        sql::set_progress(tx, self.id, &progress)
    }

    fn removed(&mut self, what: &str, count: u64) {
        if count > 0 {
            *self.progress.removed.entry(what.to_owned()).or_default() += count;
        }
    }

    fn begin_phase(&mut self, phase: Phase) {
        let former = std::mem::take(&mut self.progress);
        let Progress { removed, files, projects, objects, late_actors, .. } = former;
        self.progress = Progress {
            phase,
            removed,
            files,
            projects,
            objects,
            late_actors,
            ..Progress::default()
        };
    }

    fn erased_actor(&self) -> ErasedActor {
        ErasedActor {
            numbers: [&self.subject.actors[..], &self.progress.late_actors].concat(),
            pseudonym: self.pseudonym.clone(),
            redaction: self.subject.redaction(&self.pseudonym),
        }
    }
}

/// Does the next step of an erasure. `base_url` is the address of this server. `false` as the lease: another server works
/// on it.
pub fn step(
    tx: &mut Tx<'_>,
    now: Timestamp,
    key: &ErasureKey,
    base_url: &str,
    (job, id): (&ClaimedJob, i64),
) -> Result<ErasureStep> {
    renew(tx, job)?;
    let Some(mut work) = Work::load(tx, key, id)? else {
        jobs::finish(tx, job)?;
        return Ok(ErasureStep::Done);
    };
    match work.progress.phase {
        Phase::User => erase_user(tx, now, &mut work)?,
        Phase::References => erase_references(tx, now, &mut work)?,
        Phase::Credentials => erase_credentials(tx, now, base_url, &mut work)?,
        Phase::Tables => erase_table(tx, &mut work)?,
        Phase::Records => redact_records(tx, now, &mut work)?,
        Phase::Mentions => redact_mentions(tx, &mut work)?,
        Phase::Events | Phase::EventBlocks => erase_events(tx, &mut work)?,
        Phase::EventEntities => {
            let count = events::erase_beside_log(tx, &work.erased_actor().redaction)?;
            work.removed("event_entities", count);
            work.begin_phase(Phase::Imports);
        }
        Phase::Imports => {
            work.progress.files = imports::forget_files(tx)?;
            work.begin_phase(Phase::Files);
        }
        Phase::Files => return Ok(ErasureStep::RemoveFiles(work.progress.files)),
        Phase::Projects => {
            let redaction = work.subject.redaction(&work.pseudonym);
            return Ok(ErasureStep::SearchProjects(redaction.search_terms()));
        }
        Phase::Pages => {
            let changed = TABLES.iter().filter(|table| table.treatment != Treatment::Keep);
            return Ok(ErasureStep::CompactPages(changed.map(|table| table.name).collect()));
        }
        Phase::Finish if !work.subject.find_actors(tx)?.is_empty() => work.begin_phase(Phase::User),
        Phase::Finish | Phase::Done => {
            finish(tx, now, work)?;
            jobs::finish(tx, job)?;
            return Ok(ErasureStep::Done);
        }
    }
    work.store(tx)?;
    Ok(ErasureStep::Continue)
}

/// Keeps the job for this server. Errors: `Conflict` if another server works on it.
pub fn renew(tx: &mut Tx<'_>, job: &ClaimedJob) -> Result<()> {
    match jobs::renew(tx, job, limits::ERASURE_LEASE_S)? {
        true => Ok(()),
        false => Err(Problem::new(ProblemKind::Conflict, "another server continues this erasure")),
    }
}

/// The user and the actors change together, so that no report misses what the person did.
fn erase_user(tx: &mut Tx<'_>, now: Timestamp, work: &mut Work) -> Result<()> {
    if let Some(user) = work.subject.user.clone() {
        let found = roster::erase_user(tx, now, &user, &work.pseudonym)?;
        work.removed("users", u64::from(found));
    }
    // An envelope that was checked before the erasure began may have added an actor since.
    let late = work.subject.find_actors(tx)?.into_iter();
    work.progress.late_actors.extend(late.filter(|actor| !work.subject.actors.contains(actor)));
    let actors = events::rename_actors(tx, &work.erased_actor())?;
    work.removed("event_actors", actors);
    work.begin_phase(Phase::References);
    erase_references(tx, now, work)?;
    // On PostgreSQL, an answer that held the user's row until now is seen by the next step only.
    if work.progress.phase != Phase::References {
        work.begin_phase(Phase::References);
    }
    Ok(())
}

fn erase_references(tx: &mut Tx<'_>, now: Timestamp, work: &mut Work) -> Result<()> {
    let most = limits::ERASURE_STEP_MAX_RECORDS;
    let changed = match &work.subject.user {
        Some(user) => roster::erase_references(tx, now, (user, &work.pseudonym), most)?,
        None => 0,
    };
    work.removed("roster records", changed);
    if changed == 0 {
        work.begin_phase(Phase::Credentials);
    }
    Ok(())
}

fn erase_credentials(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    work: &mut Work,
) -> Result<()> {
    let mut count = 0;
    if let Some(user) = &work.subject.user {
        count += lyceum_credentials::erase::learner(tx, now, base_url, user)?;
    }
    let redaction = work.subject.redaction(&work.pseudonym);
    count += lyceum_credentials::erase::naming(tx, now, &redaction)?;
    work.removed("credentials", count);
    work.begin_phase(Phase::Tables);
    Ok(())
}

fn erase_table(tx: &mut Tx<'_>, work: &mut Work) -> Result<()> {
    let Some(table) = TABLES.get(work.progress.at) else {
        work.begin_phase(Phase::Records);
        return Ok(());
    };
    let count = sql::treat(tx, table, (&work.subject, &work.pseudonym))?;
    work.removed(table.name, count);
    work.progress.at += 1;
    Ok(())
}

fn redact_records(tx: &mut Tx<'_>, now: Timestamp, work: &mut Work) -> Result<()> {
    let Some(kind) = kinds::ALL.get(work.progress.at) else {
        work.begin_phase(Phase::Mentions);
        return Ok(());
    };
    let redaction = work.subject.redaction(&work.pseudonym);
    let from = (work.progress.after.unwrap_or(i64::MIN), limits::ERASURE_STEP_MAX_RECORDS);
    let done = roster::redact_records(tx, now, kind, &redaction, from)?;
    work.removed("roster records", done.changed);
    work.progress.after = done.next;
    work.progress.at += usize::from(done.next.is_none());
    Ok(())
}

fn redact_mentions(tx: &mut Tx<'_>, work: &mut Work) -> Result<()> {
    let Some(table) = TABLES.get(work.progress.at) else {
        work.begin_phase(Phase::Events);
        return Ok(());
    };
    let Some(column) = table.mentions.get(work.progress.column) else {
        work.progress.at += 1;
        work.progress.column = 0;
        return Ok(());
    };
    let redaction = work.subject.redaction(&work.pseudonym);
    let place = (table.name, *column);
    let (count, last) = sql::redact_column(tx, place, &redaction, &work.progress.after_text)?;
    work.removed(table.name, count);
    work.progress.column += usize::from(last.is_none());
    work.progress.after_text = last.unwrap_or_default();
    Ok(())
}

fn erase_events(tx: &mut Tx<'_>, work: &mut Work) -> Result<()> {
    let erased = work.erased_actor();
    let after = work.progress.after.unwrap_or(i64::MIN);
    let is_rows = work.progress.phase == Phase::Events;
    let ErasedTexts { changed, next, .. } = match is_rows {
        true => events::erase_rows(tx, &erased, after, limits::ERASURE_EVENT_STEP_MAX_RECORDS)?,
        false => events::erase_blocks(tx, &erased, after, limits::ERASURE_BLOCK_STEP_MAX_COUNT)?,
    };
    work.removed("events", changed);
    work.progress.after = next;
    match (next, is_rows) {
        (Some(_), _) => {}
        (None, true) => work.begin_phase(Phase::EventBlocks),
        (None, false) => work.begin_phase(Phase::EventEntities),
    }
    Ok(())
}

/// Continues after [`ErasureStep::RemoveFiles`]. `left` has the keys of objects that stay, because former installations wrote
/// them.
pub fn files_removed(tx: &mut Tx<'_>, key: &ErasureKey, id: i64, left: &[String]) -> Result<()> {
    go_on(tx, key, id, (Phase::Files, Phase::Projects), |work| {
        work.progress.objects.extend(left.iter().cloned());
        work.progress.objects.truncate(limits::ERASURE_LISTED_MAX_COUNT);
        let count = work.progress.files.len() as u64;
        work.progress.files.clear();
        work.removed("files", count);
    })
}

/// Continues after [`ErasureStep::SearchProjects`].
pub fn projects_searched(
    tx: &mut Tx<'_>,
    key: &ErasureKey,
    id: i64,
    found: &[ProjectTable],
) -> Result<()> {
    go_on(tx, key, id, (Phase::Projects, Phase::Pages), |work| {
        work.progress.projects = found.to_vec();
        work.progress.projects.truncate(limits::ERASURE_LISTED_MAX_COUNT);
    })
}

/// Continues after [`ErasureStep::CompactPages`].
pub fn pages_compacted(tx: &mut Tx<'_>, key: &ErasureKey, id: i64) -> Result<()> {
    go_on(tx, key, id, (Phase::Pages, Phase::Finish), |_| ())
}

fn go_on(
    tx: &mut Tx<'_>,
    key: &ErasureKey,
    id: i64,
    (from, to): (Phase, Phase),
    change: impl FnOnce(&mut Work),
) -> Result<()> {
    let Some(mut work) = Work::load(tx, key, id)? else { return Ok(()) };
    if work.progress.phase == from {
        change(&mut work);
        work.begin_phase(to);
        work.store(tx)?;
    }
    Ok(())
}

fn finish(tx: &mut Tx<'_>, now: Timestamp, mut work: Work) -> Result<()> {
    work.begin_phase(Phase::Done);
    let report = serde_json::to_string(&work.progress).map_err(Problem::internal)?;
    let Progress { removed, projects, objects, .. } = &work.progress;
    let removed = json!({ "removed": removed, "projects": projects, "objects": objects });
    let who = row(tx, work.id)?.asked_by;
    AuditChange { who: &who, what: "person.erased", subject: &work.pseudonym }
        .note(tx, now, &removed)?;
    if let Some(user) = &work.subject.user {
        announce(tx, now, user, &work.pseudonym)?;
    }
    sql::finish(tx, now, work.id, &report)
}

/// Tells programs with a webhook, such as projects, that they must erase the user, too. The message has to contain the
/// id; it goes with the log of deliveries.
fn announce(tx: &mut Tx<'_>, now: Timestamp, user: &str, pseudonym: &str) -> Result<()> {
    let data = || Ok(json!({ "pseudonym": pseudonym }).to_string().into());
    outbox::announce(tx, "user.erased", user, now, data)
}
