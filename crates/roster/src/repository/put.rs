//! Writes records: body, columns, links and counters together.

use std::collections::HashMap;
use std::sync::LazyLock;

use lyceum_core::{Detail, Problem, ProblemKind, Result, message};
use lyceum_store::{Tx, Value, dialect};

use super::announce::announce;
use super::read::find;
use super::{followers, moves, organizations, references, sources};
use crate::kind::{OrganizationPath, RecordKind};
use crate::kinds::{self, CLASS};
use crate::record::{ListLink, Record, Status, StoredRecord};
use crate::rules;

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The record is new.
    Created,
    /// The record was there and changed.
    Updated,
    /// The record was there and says the same.
    Unchanged,
}

/// A write that was done.
#[derive(Clone, Debug)]
pub struct WrittenRecord {
    /// The outcome.
    pub outcome: WriteOutcome,
    /// The record as it is stored now.
    pub stored: StoredRecord,
}

/// Creates a record. Sending the same record again is not an error (a safe retry).
///
/// Errors: `Conflict` when another record has the sourcedId; `Invalid` for references to nothing.
pub fn create(tx: &mut Tx<'_>, record: &Record) -> Result<WrittenRecord> {
    let refusal = match insert(tx, record) {
        Ok(Some(put)) => return Ok(put),
        Ok(None) => Problem::internal("a record disappeared inside a transaction"),
        Err(problem) if problem.kind == ProblemKind::Invalid => problem,
        Err(problem) => return Err(problem),
    };
    // The records that a repeated record refers to may have been deleted since; it is accepted all the same.
    match find(tx, record.kind, &record.sourced_id)? {
        None => Err(refusal),
        Some(stored) if record.same_as(&stored.body, stored.extra.as_deref()) => {
            Ok(WrittenRecord { outcome: WriteOutcome::Unchanged, stored })
        }
        Some(stored) => Err(id_taken(record, &stored)),
    }
}

/// The problem that the sourcedId of a new record is taken, with how to fix it.
pub(crate) fn id_taken(record: &Record, stored: &StoredRecord) -> Problem {
    let (one, id) = (record.kind.one, &record.sourced_id);
    let message = if stored.is_active() {
        message!(
            "a {one} with the sourcedId '{id}' exists already with other values; change it with \
             PUT or PATCH, or send another sourcedId"
        )
    } else {
        message!(
            "the {one} with the sourcedId '{id}' is deleted; restore it with PATCH and \
             {{\"{one}\": {{\"status\": \"active\"}}}}, or send another sourcedId"
        )
    };
    let details = vec![Detail { path: format!("{one}.sourcedId"), message: message.clone() }];
    Problem { details, ..Problem::new(ProblemKind::Conflict, message) }
}

/// Replaces a record. `expected` is the version that the client saw, if it sent one.
///
/// Errors: `NotFound`; `PreconditionFailed` when the version is another; `Invalid`.
pub fn replace(tx: &mut Tx<'_>, record: &Record, expected: Option<i64>) -> Result<WrittenRecord> {
    match find(tx, record.kind, &record.sourced_id)? {
        Some(stored) => update(tx, record, stored, expected),
        None => Err(Problem::not_found(record.kind.one, &record.sourced_id)),
    }
}

/// Replaces a record, or creates it.
pub fn upsert(tx: &mut Tx<'_>, record: &Record, expected: Option<i64>) -> Result<WrittenRecord> {
    match find(tx, record.kind, &record.sourced_id)? {
        Some(stored) => update(tx, record, stored, expected),
        None if expected.is_some() => Err(changed_meanwhile(record.kind, &record.sourced_id)),
        None => create(tx, record),
    }
}

fn insert(tx: &mut Tx<'_>, record: &Record) -> Result<Option<WrittenRecord>> {
    references::check(tx, record)?;
    rules::check(tx, record, None)?;
    let stored = add(tx, record)?;
    Ok(stored.map(|stored| WrittenRecord { outcome: WriteOutcome::Created, stored }))
}

/// The statements that are the same for every record of a kind. Most requests read or write one record, so rendering
/// the text for each would cost a measurable part of them.
pub(super) struct Statements {
    insert: String,
    overwrite: String,
    pub(super) are_in_use: String,
    pub(super) find: String,
}

static STATEMENTS: LazyLock<HashMap<&str, Statements>> =
    LazyLock::new(|| kinds::ALL.iter().map(|kind| (kind.one, Statements::render(kind))).collect());

impl Statements {
    fn render(kind: &RecordKind) -> Self {
        let columns = insert_columns(kind);
        let marks: Vec<String> = (1..=columns.len()).map(|n| format!("${n}")).collect();
        let insert = format!(
            "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT (sourced_id) DO NOTHING",
            kind.table,
            columns.join(", "),
            marks.join(", ")
        );
        let (indexed, others): (Vec<_>, Vec<_>) =
            kind.columns().partition(|(field, _)| field.is_indexed());
        let mut overwrite = format!(
            "UPDATE {} SET version = version + 1, source_modified = NULL, date_last_modified = $1, \
             body = $2, extra = $3",
            kind.table
        );
        let mut places = 4..;
        let mut say = |words: &str, place: Option<i32>| {
            overwrite += words;
            overwrite += &place.expect("there is no last number").to_string();
        };
        for (_, column) in others {
            say(&format!(", {column} = $"), places.next());
        }
        say(" WHERE status = 'active' AND sourced_id = $", places.next());
        for (_, column) in indexed {
            say(&format!(" AND {column} IS NOT DISTINCT FROM $"), places.next());
        }
        let is_in_use = |id: &str| {
            let table = kind.table;
            format!("EXISTS (SELECT 1 FROM {table} WHERE sourced_id = {id} AND status = 'active')")
        };
        let are_in_use = format!("SELECT {} AND {}", is_in_use("$1"), is_in_use("$2"));
        let find = format!(
            "SELECT {} FROM {} t WHERE t.sourced_id = $1",
            StoredRecord::COLUMNS,
            kind.table
        );
        Self { insert, overwrite, are_in_use, find }
    }

    pub(super) fn of(kind: &RecordKind) -> &'static Self {
        STATEMENTS.get(kind.one).expect("every kind is declared in the list of all")
    }
}

/// Creates a record whose references are known to exist and whose kind has no rules, and returns it as it
/// is stored; `None` if a record, deleted or not, has its id.
pub(crate) fn add(tx: &mut Tx<'_>, record: &Record) -> Result<Option<StoredRecord>> {
    organizations::check_depth(tx, record, None)?;
    let record = stamped(tx, record)?;
    let mut values = Vec::with_capacity(record.columns.len() + 7);
    add_values(&record, 1, &mut values);
    let insert = &Statements::of(record.kind).insert;
    let Some(seq) = tx.insert(insert, "seq", &values)? else { return Ok(None) };
    insert_links(tx, &[(seq, &record.links)])?;
    organizations::place(tx, record.kind, &[&record.sourced_id])?;
    moves::share_course(tx, &record)?;
    tally(tx, &record, seq, 1);
    announce(tx, &[&record], true)?;
    Ok(Some(StoredRecord { seq, version: 1, body: record.body, extra: record.extra }))
}

/// The record with the stamp of the transaction.
fn stamped(tx: &mut Tx<'_>, record: &Record) -> Result<Record> {
    Ok(record.stamped(tx.stamp_rows(record.kind.table, record.date_last_modified)?))
}

/// Writes a record in use over the stored one that is in use and has the same id and indexed fields. Returns whether
/// there is one. Only the index of dates is written. The record's references
/// are known to exist; its kind has neither lists nor rules, so that nothing beside the row changes.
pub(crate) fn overwrite(tx: &mut Tx<'_>, record: &Record) -> Result<bool> {
    let kind = record.kind;
    assert!(
        rules::stand_alone(kind) && record.status == Status::Active,
        "what is written blindly has nothing beside its row"
    );
    let record = stamped(tx, record)?;
    let fields = kind.fields.iter().filter(|field| field.has_column());
    let (indexed, others): (Vec<_>, Vec<_>) =
        fields.zip(&record.columns).partition(|(field, _)| field.is_indexed());
    let mut values: Vec<Value<'_>> =
        vec![record.stamp().into(), (&record.body).into(), record.extra.as_ref().into()];
    values.extend(others.iter().map(|(_, value)| Value::from(value.as_ref())));
    values.push((&record.sourced_id).into());
    values.extend(indexed.iter().map(|(_, value)| Value::from(value.as_ref())));
    let is_written = tx.execute(&Statements::of(kind).overwrite, &values)? == 1;
    if is_written {
        announce(tx, &[&record], false)?;
    }
    Ok(is_written)
}

fn insert_columns(kind: &RecordKind) -> Vec<String> {
    ["sourced_id", "status", "date_last_modified", "source_modified"]
        .into_iter()
        .map(str::to_owned)
        .chain(kind.columns().map(|(_, column)| column))
        .chain(["body", "extra", "version"].map(str::to_owned))
        .collect()
}

fn add_values<'r>(record: &'r Record, version: i64, values: &mut Vec<Value<'r>>) {
    values.extend([
        Value::from(&record.sourced_id),
        record.status.as_str().into(),
        record.stamp().into(),
        record.source_modified.as_ref().into(),
    ]);
    values.extend(record.columns.iter().map(|column| Value::from(column.as_ref())));
    values.extend([Value::from(&record.body), record.extra.as_ref().into(), version.into()]);
}

fn insert_links(tx: &mut Tx<'_>, owners: &[(i64, &[ListLink])]) -> Result<()> {
    let mut values = Vec::new();
    for (owner, links) in owners {
        for link in *links {
            values.extend([Value::from(&link.field), (&link.value).into(), (*owner).into()]);
        }
    }
    if !values.is_empty() {
        tx.send_rows("roster_link", &["field", "value", "owner"], &values, "")?;
    }
    Ok(())
}

pub(super) fn update(
    tx: &mut Tx<'_>,
    record: &Record,
    stored: StoredRecord,
    expected: Option<i64>,
) -> Result<WrittenRecord> {
    expect(record.kind, &record.sourced_id, &stored, expected)?;
    if record.same_as(&stored.body, stored.extra.as_deref()) {
        return Ok(WrittenRecord { outcome: WriteOutcome::Unchanged, stored });
    }
    references::check(tx, record)?;
    rewrite(tx, record, &stored)
}

/// Writes the record over the stored one; its references are known to exist.
fn rewrite(tx: &mut Tx<'_>, record: &Record, stored: &StoredRecord) -> Result<WrittenRecord> {
    rules::check(tx, record, Some(stored))?;
    rewrite_all(tx, record.kind, &[(record, stored)])?;
    let Record { body, extra, .. } = stamped(tx, record)?;
    let stored = StoredRecord { seq: stored.seq, version: stored.version + 1, body, extra };
    Ok(WrittenRecord { outcome: WriteOutcome::Updated, stored })
}

/// Writes each record over the stored one; they are known to be right. The enrollments of classes follow them.
pub(super) fn rewrite_all(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    records: &[(&Record, &StoredRecord)],
) -> Result<()> {
    let stamped = |(record, stored): &(&Record, _)| Ok((stamped(tx, record)?, *stored));
    let records: Vec<(Record, &StoredRecord)> =
        records.iter().map(stamped).collect::<Result<_>>()?;
    let Some((first, _)) = records.first() else { return Ok(()) };
    let columns = insert_columns(kind);
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut values = Vec::with_capacity(records.len() * (columns.len() + 2));
    for (record, stored) in &records {
        add_values(record, stored.version + 1, &mut values);
        values.extend([Value::Int(stored.seq), Value::Int(stored.version)]);
    }
    let changed = tx.update_rows(kind.table, &columns, &["seq", "version"], &values)?;
    if changed != records.len() as u64 {
        return Err(changed_meanwhile(first.kind, &first.sourced_id));
    }
    let (mut moved, mut former) = (Vec::new(), Vec::new());
    for (record, stored) in &records {
        if rules::stand_alone(kind) && kind.organization != OrganizationPath::School {
            if stored.is_active() {
                tx.tally(kind.path, stored.seq, -1);
            }
            tally(tx, record, stored.seq, 1);
            continue;
        }
        let before = record.read_former(stored)?;
        relink(tx, stored.seq, &before.links, &record.links)?;
        tally(tx, &before, stored.seq, -1);
        tally(tx, record, stored.seq, 1);
        if before.column("parent") != record.column("parent") {
            moved.push(record.sourced_id.as_str());
        }
        former.push((record, before));
    }
    organizations::place(tx, kind, &moved)?;
    former.iter().try_for_each(|(record, before)| moves::follow(tx, record, before))?;
    let written: Vec<&Record> = records.iter().map(|(record, _)| record).collect();
    announce(tx, &written, false)?;
    let mut classes = former.iter().filter(|_| *kind == CLASS);
    classes.try_for_each(|(class, before)| followers::move_enrollments(tx, class, before))
}

fn relink(tx: &mut Tx<'_>, owner: i64, before: &[ListLink], after: &[ListLink]) -> Result<()> {
    for removed_link in before.iter().filter(|link| !after.contains(link)) {
        tx.send(
            "DELETE FROM roster_link WHERE field = $1 AND value = $2 AND owner = $3",
            &[(&removed_link.field).into(), (&removed_link.value).into(), owner.into()],
        )?;
    }
    let new: Vec<ListLink> = after.iter().filter(|link| !before.contains(link)).cloned().collect();
    insert_links(tx, &[(owner, &new)])
}

fn tally(tx: &mut Tx<'_>, record: &Record, seq: i64, delta: i64) {
    if record.status == Status::Active {
        for collection in record.collections() {
            tx.tally(collection, seq, delta);
        }
        for count in record.organization_counts() {
            tx.tally_part(count, seq, delta);
        }
    }
}

/// Rejects a change if the client sent the version that it saw and the stored version is another one.
///
/// Errors: `PreconditionFailed`.
pub(crate) fn expect(
    kind: &RecordKind,
    id: &str,
    stored: &StoredRecord,
    expected: Option<i64>,
) -> Result<()> {
    match expected {
        Some(expected) if expected != stored.version => Err(changed_meanwhile(kind, id)),
        _ => Ok(()),
    }
}

fn changed_meanwhile(kind: &RecordKind, id: &str) -> Problem {
    Problem::new(
        ProblemKind::PreconditionFailed,
        message!(
            "the {kind.one} '{id}' has changed since it was read; read it again and send its new ETag"
        ),
    )
}

/// Writes many records of one kind, each id at most once: new ones are created, others replaced.
/// The caller has checked the references ([`super::missing`]); rules are checked here.
pub fn put_all(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    records: &[Record],
) -> Result<Vec<WriteOutcome>> {
    let ids: Vec<&str> = records.iter().map(|record| record.sourced_id.as_str()).collect();
    let present = present(tx, kind, &ids)?;
    let outcomes = put_among(tx, kind, records, &present)?;
    // Only when all are written it shows whether they make a cycle together.
    let written = records.iter().zip(&outcomes);
    let written = written.filter(|(_, outcome)| **outcome != WriteOutcome::Unchanged);
    let written: Vec<_> =
        written.map(|(record, _)| (record, present.get(&record.sourced_id))).collect();
    rules::refused(tx, &written)?.into_values().next().map_or(Ok(outcomes), Err)
}

/// [`put_all`] where the caller has read which of the records are stored, and has checked the rules.
pub(crate) fn put_among(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    records: &[Record],
    present: &HashMap<String, StoredRecord>,
) -> Result<Vec<WriteOutcome>> {
    let new: Vec<&Record> =
        records.iter().filter(|record| !present.contains_key(&record.sourced_id)).collect();
    insert_all(tx, kind, &new)?;
    let is_same = |record: &Record, stored: &StoredRecord| {
        record.same_as(&stored.body, stored.extra.as_deref())
    };
    let mut changed = Vec::new();
    let mut outcomes = Vec::with_capacity(records.len());
    for record in records {
        outcomes.push(match present.get(&record.sourced_id) {
            None => WriteOutcome::Created,
            Some(stored) if is_same(record, stored) => {
                sources::confirm(tx, record, stored)?;
                WriteOutcome::Unchanged
            }
            Some(stored) => {
                changed.push((record, stored));
                WriteOutcome::Updated
            }
        });
    }
    rewrite_all(tx, kind, &changed)?;
    Ok(outcomes)
}

/// The outcome of creating many records.
#[derive(Debug, Default)]
pub struct Creation {
    /// The numbers of the created records.
    pub created: Vec<usize>,
    /// The numbers of the records whose ids belong to other records, and why. Nothing is stored for them.
    pub taken_ids: Vec<(usize, Problem)>,
}

/// Creates many records of one kind, each id at most once. Creating the same record again is not an error. The
/// caller has checked the references ([`super::missing`]) and the kind's rules.
pub fn create_all(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    records: &[Record],
) -> Result<Creation> {
    let ids: Vec<&str> = records.iter().map(|record| record.sourced_id.as_str()).collect();
    let present = present(tx, kind, &ids)?;
    let mut creation = Creation::default();
    let mut new = Vec::new();
    for (at, record) in records.iter().enumerate() {
        match present.get(&record.sourced_id) {
            None => {
                creation.created.push(at);
                new.push(record);
            }
            Some(stored) if record.same_as(&stored.body, stored.extra.as_deref()) => {}
            Some(stored) => creation.taken_ids.push((at, id_taken(record, stored))),
        }
    }
    insert_all(tx, kind, &new)?;
    Ok(creation)
}

fn insert_all(tx: &mut Tx<'_>, kind: &'static RecordKind, records: &[&Record]) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let records: Vec<Record> =
        records.iter().map(|record| stamped(tx, record)).collect::<Result<_>>()?;
    let columns = insert_columns(kind);
    let columns: Vec<&str> =
        std::iter::once("seq").chain(columns.iter().map(String::as_str)).collect();
    let mut values = Vec::with_capacity(records.len() * columns.len());
    let mut owners = Vec::with_capacity(records.len());
    let seqs = tx.take_numbers(kind.table, "seq", records.len())?;
    for (record, seq) in records.iter().zip(seqs) {
        values.push(Value::Int(seq));
        add_values(record, 1, &mut values);
        owners.push((seq, record.links.as_slice()));
        tally(tx, record, seq, 1);
    }
    // Where another transaction inserted one of them meanwhile, the store runs this one again.
    let conflict = "ON CONFLICT (sourced_id) DO NOTHING";
    let inserted = tx.insert_rows(kind.table, &columns, &values, conflict)?;
    if inserted < records.len() as u64 {
        return Err(Problem::internal("an existing record was handled as a new one"));
    }
    insert_links(tx, &owners)?;
    let records: Vec<&Record> = records.iter().collect();
    let ids: Vec<&str> = records.iter().map(|record| record.sourced_id.as_str()).collect();
    organizations::place(tx, kind, &ids)?;
    records.iter().try_for_each(|record| moves::share_course(tx, record))?;
    announce(tx, &records, true)
}

/// The records that are stored, deleted ones included, by their sourcedIds.
pub fn present(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    ids: &[&str],
) -> Result<HashMap<String, StoredRecord>> {
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT {}, t.sourced_id FROM {} t WHERE {}",
        StoredRecord::COLUMNS,
        kind.table,
        dialect::is_one_of(tx.dialect(), "t.sourced_id", "$1")
    );
    let mut found = HashMap::new();
    tx.query(&sql, &[list.as_str().into()], |row| {
        found.insert(row.text(4)?.to_owned(), StoredRecord::read(row)?);
        Ok(true)
    })?;
    Ok(found)
}
