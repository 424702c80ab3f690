//! Writes of callers who are limited to a part of the roster. A record must lie within the reach before and after the
//! write, and may refer only to records within it. A record outside of the reach is answered like one that does not
//! exist.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lyceum_core::{Detail, Problem, ProblemKind, Reach, Result, message, messages};
use lyceum_store::Tx;

use crate::kind::{OrganizationPath, RecordKind};
use crate::kinds::{self, COURSE, ENROLLMENT, ORG, USER};
use crate::record::{Object, Record, RecordReference, StoredRecord};
use crate::repository::{self, RecordUse};

/// Refuses a reach that names an organization or a teacher who does not exist. Errors: `Invalid`.
pub fn check(tx: &mut Tx<'_>, reach: &Reach) -> Result<()> {
    let (kind, field, ids) = match reach {
        Reach::Everything => return Ok(()),
        Reach::Organizations(ids) => {
            (&ORG, "organization", ids.iter().map(String::as_str).collect())
        }
        Reach::ClassesOf(teacher) => (&USER, "teacher", vec![teacher.as_str()]),
    };
    let known = repository::in_use(tx, kind, &ids)?;
    match ids.into_iter().find(|id| !known.contains(*id)) {
        Some(id) => Err(Problem::invalid(field, messages::unknown_reference(kind.one, id))),
        None => Ok(()),
    }
}

/// Refuses to change a record outside of the reach. Errors: `NotFound` if the caller does not see it; `Forbidden`.
pub fn check_change(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    sourced_id: &str,
    reach: &Reach,
) -> Result<()> {
    if !reach.is_limited() {
        return Ok(());
    }
    let mut within = |does| {
        repository::ids_within(tx, kind, &[sourced_id], reach, does).map(|ids| !ids.is_empty())
    };
    match (within(RecordUse::See)?, within(RecordUse::Change)?) {
        (false, _) => Err(Problem::not_found(kind.one, sourced_id)),
        (true, false) => Err(not_only_within(kind, sourced_id, reach)),
        (true, true) => Ok(()),
    }
}

/// Refuses an enrollment by course unless the default class may be created: its school must be changeable, and the
/// course seen. Errors: `Invalid`.
pub(crate) fn check_default_class(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    object: &Object,
    reach: &Reach,
) -> Result<()> {
    let id = |name: &str| object.get(name)?.get("sourcedId")?.as_str();
    let (None, Some(course)) = (id("class"), id("course")) else { return Ok(()) };
    if *kind != ENROLLMENT || !reach.is_limited() {
        return Ok(());
    }
    let mut require = |kind: &'static RecordKind, (field, id): (&str, &str), does| {
        if repository::ids_within(tx, kind, &[id], reach, does)?.is_empty() {
            let path = format!("enrollment.{field}.sourcedId");
            return Err(Problem::invalid(path, messages::unknown_reference(kind.one, id)));
        }
        Ok(())
    };
    match id("school") {
        Some(school) => {
            require(&ORG, ("school", school), RecordUse::Change)?;
            require(&COURSE, ("course", course), RecordUse::See)
        }
        None => require(&COURSE, ("course", course), RecordUse::Change),
    }
}

/// Keeps those of the items whose records of the kind lie within the reach. `id` is the sourcedId of an item's record.
pub fn keep_within<T>(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    reach: &Reach,
    does: RecordUse,
    items: &mut Vec<T>,
    id: impl Fn(&T) -> &str,
) -> Result<()> {
    if reach.is_limited() {
        let ids: Vec<&str> = items.iter().map(&id).collect();
        let within = repository::ids_within(tx, kind, &ids, reach, does)?;
        items.retain(|item| within.contains(id(item)));
    }
    Ok(())
}

/// Refuses changes of the record, and of what belongs to it, under the reach of a teacher, which is a part to look at.
/// What belongs to a user, such as results, may be changed if the user is seen. Errors: `Forbidden`.
pub fn check_changes(kind: &RecordKind, id: &str, reach: &Reach) -> Result<()> {
    match reach {
        Reach::ClassesOf(_) => Err(not_only_within(kind, id, reach)),
        Reach::Everything | Reach::Organizations(_) => Ok(()),
    }
}

/// Refuses the write of one record, as [`refused`]. `before` is the record stored under its id.
pub(crate) fn check_write(
    tx: &mut Tx<'_>,
    record: &Record,
    before: Option<&StoredRecord>,
    reach: &Reach,
) -> Result<()> {
    let refused = refused(tx, record.kind, &[(record, before)], reach)?;
    refused.into_values().next().map_or(Ok(()), Err)
}

/// The records of the kind that the caller may not write, by sourcedId, each with the record stored under its id. A
/// few statements for all of them.
pub(crate) fn refused<'r>(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    records: &[(&'r Record, Option<&StoredRecord>)],
    reach: &Reach,
) -> Result<HashMap<&'r str, Problem>> {
    if !reach.is_limited() || records.is_empty() {
        return Ok(HashMap::new());
    }
    let stored: Vec<&str> = records
        .iter()
        .filter(|(_, before)| before.is_some())
        .map(|(record, _)| record.sourced_id.as_str())
        .collect();
    let seen = repository::ids_within(tx, kind, &stored, reach, RecordUse::See)?;
    let changeable = repository::ids_within(tx, kind, &stored, reach, RecordUse::Change)?;
    let mut written = Vec::with_capacity(records.len());
    let mut refused = HashMap::new();
    for (record, before) in records {
        let id = record.sourced_id.as_str();
        let former = before.map(|stored| record.read_former(stored)).transpose()?;
        if former.is_some() && !seen.contains(id) {
            refused.insert(id, Problem::not_found(kind.one, id));
        } else if former.is_some() && !changeable.contains(id) {
            refused.insert(id, not_only_within(kind, id, reach));
        } else {
            written.push(WriteWithin { record, former });
        }
    }
    let targets = Targets::of(tx, &written, reach)?;
    for write in &written {
        if let Err(problem) = write.check(&targets, reach) {
            refused.insert(&write.record.sourced_id, problem);
        }
    }
    Ok(refused)
}

/// A record with the one that it replaces, which lies within the reach.
struct WriteWithin<'r> {
    record: &'r Record,
    former: Option<Record>,
}

impl WriteWithin<'_> {
    /// References that the stored record does not have.
    fn new_references(&self) -> impl Iterator<Item = &RecordReference> {
        let former = self.former.as_ref().map_or(&[][..], |former| &former.references);
        let is_former = |one: &RecordReference| {
            former.iter().any(|it| it.kind == one.kind && it.sourced_id == one.sourced_id)
        };
        self.record.references.iter().filter(move |one| !is_former(one))
    }

    /// The record to which the field refers. Changes of that record change this one's organizations.
    fn owner(&self) -> Option<(&'static RecordKind, &str)> {
        let field = match self.record.kind.organization {
            OrganizationPath::Through(field) | OrganizationPath::ThroughIfAny(field) => field,
            OrganizationPath::UserOfSameId => return Some((&USER, &self.record.sourced_id)),
            _ => return None,
        };
        let id = self.record.column(field)?;
        let owner = self.record.references.iter().find(|one| one.sourced_id == id)?;
        Some((owner.kind, id))
    }

    fn check(&self, targets: &Targets, reach: &Reach) -> Result<()> {
        let record = self.record;
        let is_unseen = |one: &&RecordReference| !targets.are_seen(one.kind, &one.sourced_id);
        let unseen = self.new_references().filter(is_unseen).map(|one| Detail {
            path: one.path.clone(),
            message: messages::unknown_reference(one.kind.one, &one.sourced_id),
        });
        let unseen: Vec<Detail> = unseen.collect();
        if !unseen.is_empty() {
            return Err(Problem::invalid_all(unseen));
        }
        // Every new reference lies within the reach, and every former one did, so it is enough to have one.
        let is_within = match record.kind.organization {
            OrganizationPath::Itself => {
                self.former
                    .as_ref()
                    .is_some_and(|former| former.column("parent") == record.column("parent"))
                    || record.column("parent").is_some()
            }
            OrganizationPath::School => record.column("school").is_some(),
            OrganizationPath::Roles => record.references.iter().any(is_role),
            OrganizationPath::Course => record.column("org").is_some(),
            OrganizationPath::Through(_)
            | OrganizationPath::ThroughIfAny(_)
            | OrganizationPath::UserOfSameId => {
                self.owner().is_some_and(|(kind, id)| targets.are_changeable(kind, id))
            }
            OrganizationPath::Shared => false,
        };
        let changes = matches!(reach, Reach::Organizations(_));
        if is_within && changes {
            Ok(())
        } else {
            Err(not_only_within(record.kind, &record.sourced_id, reach))
        }
    }
}

fn is_role(reference: &RecordReference) -> bool {
    *reference.kind == ORG && reference.path.starts_with("user.roles")
}

/// The records that others refer to, as far as they lie within the reach.
struct Targets {
    seen: HashSet<(&'static str, String)>,
    changeable: HashSet<(&'static str, String)>,
}

impl Targets {
    fn of(tx: &mut Tx<'_>, writes: &[WriteWithin<'_>], reach: &Reach) -> Result<Self> {
        let mut to_see: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
        let mut to_change: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
        for write in writes {
            for one in write.new_references() {
                to_see.entry(one.kind.one).or_default().insert(&one.sourced_id);
            }
            if let Some((kind, id)) = write.owner() {
                to_change.entry(kind.one).or_default().insert(id);
            }
        }
        let mut within = |ids: BTreeMap<&'static str, BTreeSet<&str>>, does| -> Result<_> {
            let mut found = HashSet::new();
            for (one, ids) in ids {
                let kind = kinds::by_name(one).expect("references point to declared kinds");
                // A result of a student belongs to each school of the student.
                let is_student = *kind == USER
                    && writes[0].record.kind.organization != OrganizationPath::UserOfSameId;
                let does = if is_student { RecordUse::See } else { does };
                let ids: Vec<&str> = ids.into_iter().collect();
                let ids = repository::ids_within(tx, kind, &ids, reach, does)?;
                found.extend(ids.into_iter().map(|id| (one, id)));
            }
            Ok(found)
        };
        Ok(Self {
            seen: within(to_see, RecordUse::See)?,
            changeable: within(to_change, RecordUse::Change)?,
        })
    }

    fn are_seen(&self, kind: &RecordKind, id: &str) -> bool {
        self.seen.contains(&(kind.one, id.to_owned()))
    }

    fn are_changeable(&self, kind: &RecordKind, id: &str) -> bool {
        self.changeable.contains(&(kind.one, id.to_owned()))
    }
}

fn not_only_within(kind: &RecordKind, id: &str, reach: &Reach) -> Problem {
    let message = message!(
        "the {kind.one} '{id}' does not belong only to {reach}, to which your access is limited; ask for a client, \
         key or account without this limit"
    );
    Problem::new(ProblemKind::Forbidden, message)
}
