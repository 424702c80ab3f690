//! `GET /changes`: what changed in records of all kinds, in the order of the record clock (docs/decisions/167). The other
//! ways to follow changes are webhooks and lists filtered by `dateLastModified`.

use std::num::NonZeroU64;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lyceum_access::Scope::{
    AdaptiveRead, ClrCredentialReadonly, CredentialsRead, ObCredentialReadonly, QtiRead,
    StandardsRead,
};
use lyceum_access::{Access, Scopes};
use lyceum_assessment::{ContentKind, repository as assessment};
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Reach, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::Grant;
use lyceum_http::render::Rendering;
use lyceum_http::route::{ParamPlace, get};
use lyceum_roster::kind::RecordKind;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::{self as roster, RecordUse};
use lyceum_roster::{kinds, record};
use lyceum_standards::repository as standards;
use lyceum_store::{ChangeRange, ChangedRow, Tx, record_clock};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::limits::{CHANGES_PAGE_DEFAULT_RECORDS, CHANGES_PAGE_MAX_RECORDS, SCAN_MAX_MS};
use crate::oneroster::{RouteEffect, access};
use crate::{Area, Context};

pub(super) fn area() -> Area {
    Area {
        name: "changes",
        base: "/changes",
        rendering: Rendering::Problem,
        description: "What changed in records of all kinds.",
        routes: vec![
            get("", readable(), list)
                .within_reach()
                .named("getChanges")
                .description("Lists the records of OneRoster, QTI, CASE, Open Badges and CLR that changed behind a cursor, deleted and removed ones included; without a cursor all records. Only kinds that the token may read are listed. Use this to copy records of several kinds; use webhooks to be told at once, and a list with a filter by dateLastModified to follow one collection of OneRoster. 410: the cursor is too old, read everything again.")
                .param(ParamPlace::Query, "after", json!({ "type": "string" }), "The cursor `next` of the page before.")
                .page_limit(CHANGES_PAGE_DEFAULT_RECORDS, CHANGES_PAGE_MAX_RECORDS)
                .answers::<ChangePage>(200, "A page."),
        ],
    }
}

/// A page of changes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct ChangePage {
    /// The changes, in their order: what others refer to comes first.
    changes: Vec<Change>,
    /// The cursor behind the last change: send it as `after`, now or at the next poll.
    next: String,
    /// Whether there are more changes now.
    has_more: bool,
    /// The instant up to which the changes are complete, once all pages are read.
    complete_until: Timestamp,
}

/// A record that changed. A record that changed several times appears once, with its last change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Change {
    /// The kind of the record, such as `user`, `item`, `framework` or `badge`.
    kind: &'static str,
    /// The id of the record.
    id: String,
    /// When it changed.
    changed: Timestamp,
    /// `removed`: the record is gone, has another id by now, or no longer belongs to the organizations of the caller.
    #[schemars(with = "String")]
    state: ChangeState,
    /// The record, if it is one of OneRoster. Other records are read at their own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum ChangeState {
    Present,
    Deleted,
    Removed,
}

async fn list(context: Context) -> Result<Answer> {
    let cursor = match context.query_value("after") {
        None => ChangeCursor::START,
        Some(text) => ChangeCursor::read(&text).ok_or_else(|| {
            let message = "the cursor does not come from this list; send the 'next' of a page";
            Problem::new(ProblemKind::BadSelection, message)
        })?,
    };
    let rule = "must be a whole number of at least 1";
    let limit = context.parsed_query_value::<NonZeroU64>("limit", rule)?;
    let limit = limit.map_or(CHANGES_PAGE_DEFAULT_RECORDS, NonZeroU64::get);
    let limit = limit.min(CHANGES_PAGE_MAX_RECORDS);
    let until = match cursor.until {
        Some(until) => until,
        None => context.app.db.records_complete_until(context.app.clock.now()).await?,
    };
    let rights = context.grant.as_ref().map(Grant::rights).unwrap_or_default();
    let reader = Reader {
        reach: context.reach(),
        dialect: context.dialect,
        base_url: context.base_url().to_owned(),
        sources: sources().map(|source| (source, rights.allow_any(source.scopes()))).collect(),
        until,
        limit: usize::try_from(limit).map_err(Problem::internal)?,
    };
    let deadline = Duration::from_millis(SCAN_MAX_MS);
    let page = context.app.db.scan(deadline, move |tx| reader.page(tx, cursor.after)).await?;
    Ok(Answer::of(&page))
}

/// Reads changes for a caller.
struct Reader {
    reach: Reach,
    dialect: PayloadDialect,
    base_url: String,
    /// Each source, and whether the caller may read it.
    sources: Vec<(ChangeSource, bool)>,
    until: Timestamp,
    limit: usize,
}

impl Reader {
    fn page(&self, tx: &mut Tx<'_>, after: Place) -> Result<ChangePage> {
        if after > ChangeCursor::START.after
            && record_clock::forgotten_until(tx)?.is_some_and(|until| after.0 < until)
        {
            let message = "the cursor is too old: read everything again, without 'after'";
            return Err(Problem::new(ProblemKind::Gone, message));
        }
        let mut found = self.found(tx, after)?;
        let has_more = found.len() > self.limit;
        found.truncate(self.limit);
        let cursor = match found.last() {
            Some((place, ..)) if has_more => {
                ChangeCursor { after: *place, until: Some(self.until) }
            }
            _ => ChangeCursor { after: (self.until, self.sources.len(), i64::MAX), until: None },
        };
        let changes = self.shown(tx, found)?;
        Ok(ChangePage { changes, next: cursor.text(), has_more, complete_until: self.until })
    }

    /// Finds one change more than the page holds, if there are so many. Behind the kinds come the notes of removed
    /// records.
    fn found(&self, tx: &mut Tx<'_>, after: Place) -> Result<Vec<(Place, &'static str, String)>> {
        let (stamp, kind, number) = after;
        let limit = i64::try_from(self.limit + 1).map_err(Problem::internal)?;
        let range = |rank: usize| {
            let number = match rank.cmp(&kind) {
                std::cmp::Ordering::Less => i64::MAX,
                std::cmp::Ordering::Equal => number,
                std::cmp::Ordering::Greater => i64::MIN,
            };
            ChangeRange { after: (stamp, number), until: self.until, limit }
        };
        let mut found = Vec::new();
        for (rank, (source, is_readable)) in self.sources.iter().enumerate() {
            if !is_readable {
                continue;
            }
            for row in source.changed(tx, &self.reach, &range(rank))? {
                let stamp = row.stamp.parse().map_err(Problem::internal)?;
                found.push(((stamp, rank, row.number), source.name(), row.id));
            }
        }
        let rank = self.sources.len();
        for note in roster::removed(tx, &self.reach, &range(rank))? {
            let of_kind = |(source, is_readable): &&(ChangeSource, bool)| {
                *is_readable && source.name() == note.kind
            };
            // A note of another kind only moves the cursor.
            let name = self.sources.iter().find(of_kind).map_or("", |(source, _)| source.name());
            found.push(((note.stamp, rank, note.number), name, note.id));
        }
        found.sort_unstable_by_key(|(place, ..)| *place);
        Ok(found)
    }

    fn shown(
        &self,
        tx: &mut Tx<'_>,
        found: Vec<(Place, &'static str, String)>,
    ) -> Result<Vec<Change>> {
        let mut records = std::collections::HashMap::new();
        for (rank, (source, _)) in self.sources.iter().enumerate() {
            let ChangeSource::Roster(kind) = source else { continue };
            let of_kind = found.iter().filter(|((_, at, _), ..)| *at == rank);
            let numbers: Vec<i64> = of_kind.map(|((.., number), ..)| *number).collect();
            if !numbers.is_empty() {
                let stored = roster::numbered(tx, kind, &numbers)?;
                records.extend(stored.into_iter().map(|(number, one)| ((rank, number), one)));
            }
        }
        let view = RecordView { base_url: &self.base_url, dialect: self.dialect, fields: None };
        let mut changes = Vec::with_capacity(found.len());
        for ((changed, rank, number), kind, id) in found {
            let (state, record) = match records.get(&(rank, number)) {
                Some(stored) => {
                    let mut text = String::new();
                    view.render(&stored.body, stored.extra.as_deref(), &mut text)?;
                    let record: Value = serde_json::from_str(&text).map_err(Problem::internal)?;
                    let is_deleted = record["status"] == record::Status::ToBeDeleted.as_str();
                    let state =
                        if is_deleted { ChangeState::Deleted } else { ChangeState::Present };
                    (state, Some(record))
                }
                None if rank < self.sources.len() => (ChangeState::Present, None),
                None if kind.is_empty() || self.is_there(tx, kind, &id)? => continue,
                None => (ChangeState::Removed, None),
            };
            changes.push(Change { kind, id, changed, state, record });
        }
        Ok(changes)
    }

    /// Whether the caller reaches a record with the id of one that was removed. Then its own change tells of it.
    fn is_there(&self, tx: &mut Tx<'_>, kind: &str, id: &str) -> Result<bool> {
        match (kinds::by_name(kind), ContentKind::from_name(kind)) {
            (Some(kind), _) => {
                let see = RecordUse::See;
                Ok(!roster::ids_within(tx, kind, &[id], &self.reach, see)?.is_empty())
            }
            (None, Some(kind)) => Ok(assessment::find(tx, kind, id)?.is_some()),
            (None, None) => Ok(false),
        }
    }
}

/// Kinds of records whose changes are listed, those first that others refer to.
#[derive(Clone, Copy)]
enum ChangeSource {
    Roster(&'static RecordKind),
    Document(ContentKind),
    Framework,
    Definition,
    Badge,
    LearnerRecord,
}

fn sources() -> impl Iterator<Item = ChangeSource> {
    let documents = [ContentKind::Stimulus, ContentKind::Item, ContentKind::Test];
    let others = [
        ChangeSource::Framework,
        ChangeSource::Definition,
        ChangeSource::Badge,
        ChangeSource::LearnerRecord,
    ];
    let roster = kinds::ALL.iter().copied().map(ChangeSource::Roster);
    roster.chain(documents.map(ChangeSource::Document)).chain(others)
}

impl ChangeSource {
    fn name(self) -> &'static str {
        match self {
            Self::Roster(kind) => kind.one,
            Self::Document(kind) => kind.name(),
            Self::Framework => "framework",
            Self::Definition => "badgeDefinition",
            Self::Badge => "badge",
            Self::LearnerRecord => "learnerRecord",
        }
    }

    /// The scopes of which a token needs one to read records of the kind.
    fn scopes(self) -> Scopes {
        match self {
            Self::Roster(kind) => access(kind, RouteEffect::ReadCore).scopes().unwrap_or_default(),
            Self::Document(ContentKind::Stimulus) => [QtiRead, AdaptiveRead].into_iter().collect(),
            Self::Document(_) => [QtiRead].into_iter().collect(),
            Self::Framework => [StandardsRead].into_iter().collect(),
            Self::Definition | Self::Badge => {
                [ObCredentialReadonly, CredentialsRead].into_iter().collect()
            }
            Self::LearnerRecord => [ClrCredentialReadonly, CredentialsRead].into_iter().collect(),
        }
    }

    fn changed(
        self,
        tx: &mut Tx<'_>,
        reach: &Reach,
        range: &ChangeRange,
    ) -> Result<Vec<ChangedRow>> {
        match self {
            Self::Roster(kind) => roster::changed(tx, kind, reach, range),
            Self::Document(kind) => assessment::changed(tx, kind, range),
            Self::Framework => standards::changed(tx, range),
            Self::Definition => lyceum_credentials::changed_definitions(tx, range),
            Self::Badge => lyceum_credentials::changed_badges(tx, reach, range),
            Self::LearnerRecord => lyceum_credentials::changed_learner_records(tx, reach, range),
        }
    }
}

fn readable() -> Access {
    Access::Any(sources().flat_map(|source| source.scopes().iter()).collect())
}

/// A place in the order of changes: stamp, kind, number.
type Place = (Timestamp, usize, i64);

/// Where a page ended.
struct ChangeCursor {
    after: Place,
    /// The instant up to which the pages of this poll go.
    until: Option<Timestamp>,
}

impl ChangeCursor {
    const START: Self = Self { after: (Timestamp::from_milliseconds(0), 0, i64::MIN), until: None };

    fn text(&self) -> String {
        let (stamp, kind, number) = self.after;
        let until = self.until.map(|until| until.milliseconds().to_string()).unwrap_or_default();
        URL_SAFE_NO_PAD.encode(format!("{} {kind} {number} {until}", stamp.milliseconds()))
    }

    fn read(text: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let mut parts = text.split(' ');
        let stamp = Timestamp::from_milliseconds(parts.next()?.parse().ok()?);
        let after = (stamp, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let until = match parts.next()? {
            "" => None,
            until => Some(Timestamp::from_milliseconds(until.parse().ok()?)),
        };
        Some(Self { after, until })
    }
}
