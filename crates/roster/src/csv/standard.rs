//! The standard export, whose rows follow the CSV binding. Deleted records are not exported, because bulk files have
//! no status. A required cell is derived if a record has no value, and an optional cell that the binding forbids is
//! blank. A record that the binding cannot express is left out and reported.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use lyceum_core::{Message, Reach, Result, message};
use lyceum_store::Tx;
use serde_json::Value;

use super::binding::{self, is_guid, requires, unfit};
use super::candidate::csv;
use super::cell::{encode, id_of};
use super::export::each;
use super::fault::CsvError;
use super::files::{self, CsvFile, JoinedFile, JoinedShape};
use super::parts::{PartRow, profile_guid, rows_at_best};
use crate::kind::FieldType;
use crate::kinds;
use crate::limits::IMPORT_MAX_REPORTED_FAULTS;
use crate::record::Object;

/// The facts about other records that the standard export needs.
#[derive(Default)]
pub(super) struct StandardExport {
    keys: RandomState,
    /// The part of the roster that is exported.
    reach: Reach,
    /// The records within the reach that were read, if it is limited.
    within: HashSet<u64>,
    /// Records that are not exported: deleted, or left out.
    absent: HashSet<u64>,
    /// Values of classes for line items and scales that lack them.
    classes: HashMap<String, ClassPlace>,
    /// The first organization without a parent, or the first root of the reach.
    top: String,
    /// The first records and parts that are left out, up to `IMPORT_MAX_REPORTED_FAULTS`.
    pub(super) left_out: Vec<CsvError>,
    pub(super) left_out_count: u64,
}

#[derive(Default)]
struct ClassPlace {
    school: String,
    course: String,
    term: String,
}

impl StandardExport {
    pub(super) fn of(reach: Reach) -> Self {
        let top = match &reach {
            Reach::Organizations(roots) => roots.first().cloned().unwrap_or_default(),
            Reach::Everything | Reach::ClassesOf(_) => String::new(),
        };
        Self { reach, top, ..Self::default() }
    }

    /// Reads what the records of the file need from others.
    pub(super) fn prepare(&mut self, tx: &mut Tx<'_>, file: &'static CsvFile) -> Result<()> {
        let mut needed = HashSet::new();
        if matches!(file.name, "lineItems" | "scoreScales") {
            each(tx, file, &self.reach, |object| {
                if file.name == "scoreScales" || reference(object, "academicSession").is_none() {
                    needed.extend(reference(object, "class"));
                }
                Ok(())
            })?;
        }
        if needed.is_empty() {
            return Ok(());
        }
        let reach = self.reach.clone();
        each(tx, files::of_kind(&kinds::CLASS), &reach, |object| {
            let id = text(object, "sourcedId");
            if needed.contains(id) {
                let of = |field| reference(object, field).unwrap_or_default();
                let terms = object.get("terms").and_then(Value::as_array);
                let mut terms = terms.into_iter().flatten().filter_map(id_of);
                let term = terms.find(|id| self.is_usable("academicSession", id));
                let (school, course) = (of("school"), of("course"));
                let term = term.unwrap_or_default().to_owned();
                self.classes.insert(id.to_owned(), ClassPlace { school, course, term });
            }
            Ok(())
        })
    }

    fn hash(&self, kind: &str, id: &str) -> u64 {
        self.keys.hash_one((kind, id))
    }

    fn is_usable(&self, kind: &str, id: &str) -> bool {
        let kind = kinds::by_name(kind).map_or(kind, |kind| kind.one);
        let hash = self.hash(kind, id);
        !self.absent.contains(&hash) && (!self.reach.is_limited() || self.within.contains(&hash))
    }

    /// Whether the record is exported; reports why it is not.
    pub(super) fn takes(&mut self, file: &'static CsvFile, object: &Object) -> bool {
        let id = text(object, "sourcedId");
        let hash = self.hash(file.kind.one, id);
        if self.reach.is_limited() {
            self.within.insert(hash);
        }
        let problem = match text(object, "status") == "active" {
            false => None,
            true => match self.row(file, object) {
                Ok(_) if file.name == "users" && !self.has_role(file, object) => {
                    Some(("", "has no role that OneRoster 1.2 can express".into()))
                }
                Ok(_) => {
                    if file.name == "orgs" && self.top.is_empty() && !object.contains_key("parent")
                    {
                        id.clone_into(&mut self.top);
                    }
                    return true;
                }
                Err((header, problem)) => Some((header, problem)),
            },
        };
        self.absent.insert(hash);
        if let Some((header, problem)) = problem {
            self.note(file, header, id, &problem);
        }
        false
    }

    fn note(&mut self, file: &CsvFile, header: &str, id: &str, problem: &Message) {
        self.left_out_count += 1;
        if self.left_out.len() < IMPORT_MAX_REPORTED_FAULTS {
            let problem = message!("the row '{id}' is not exported: {problem}");
            let remedy = match self.reach.is_limited() {
                true => "fix the record, or export more organizations",
                false => "fix the record, or export with --complete",
            };
            self.left_out.push(CsvError::of_row(&csv(file), 0, problem, remedy).at(header, ""));
        }
    }

    fn has_role(&self, file: &'static CsvFile, object: &Object) -> bool {
        file.parts().filter(|(_, part)| part.field == "roles").any(|(roles, part)| {
            rows(roles, part, object).iter().any(|row| self.part(roles, object, row).is_ok())
        })
    }

    /// The cells of a record. Errors: the column for which the record has no valid value, and why.
    pub(super) fn row(
        &self,
        file: &'static CsvFile,
        object: &Object,
    ) -> Result<Vec<String>, (&'static str, Message)> {
        let blank = || String::new();
        let mut cells = vec![text(object, "sourcedId").to_owned(), blank(), blank()];
        if let Some(unfit) = unfit(file, "sourcedId", &cells[0]) {
            return Err(("sourcedId", unfit.problem));
        }
        for (header, name) in file.columns {
            let mut cell = self.cell(file, header, name, object);
            if cell.is_empty() && requires(file, header) {
                cell = self.derived(file, header, object);
            }
            match unfit(file, header, &cell) {
                None => cells.push(cell),
                Some(_) if !requires(file, header) => cells.push(blank()),
                Some(unfit) => return Err((*header, unfit.problem)),
            }
        }
        Ok(cells)
    }

    fn cell(&self, file: &CsvFile, header: &str, name: &str, object: &Object) -> String {
        let Some((field, value)) = file.kind.field(name).zip(object.get(name)) else {
            return String::new();
        };
        match (field.ty, value) {
            (FieldType::Reference(kind), one) => {
                let id = id_of(one).filter(|id| self.is_usable(kind, id));
                id.unwrap_or_default().to_owned()
            }
            (FieldType::References(kind), Value::Array(all)) => {
                let present = all.iter().filter(|one| {
                    id_of(one).is_some_and(|id| is_guid(id) && self.is_usable(kind, id))
                });
                encode(field, &present.cloned().collect()).unwrap_or_default()
            }
            (_, value) => {
                let cell = encode(field, value).unwrap_or_default();
                one_line(if binding::is_day(file, header) { day(&cell) } else { &cell })
            }
        }
    }

    /// The value of a required cell that the record does not have.
    pub(super) fn derived(&self, file: &CsvFile, header: &str, object: &Object) -> String {
        let class = || reference(object, "class").and_then(|id| self.classes.get(&id));
        let of_class =
            |of: fn(&ClassPlace) -> &String| class().map(of).cloned().unwrap_or_default();
        match (file.name, header) {
            ("classes", "classType") => "scheduled".to_owned(),
            ("courses", "orgSourcedId") => self.top.clone(),
            ("users", "username") => {
                let email = text(object, "email");
                let name = if email.is_empty() { text(object, "sourcedId") } else { email };
                name.to_owned()
            }
            ("scoreScales", "orgSourcedId") => of_class(|class| &class.school),
            ("scoreScales", "courseSourcedId") => of_class(|class| &class.course),
            ("lineItems", "academicSessionSourcedId") => {
                let period = reference(object, "gradingPeriod");
                let period = period.filter(|id| self.is_usable("academicSession", id));
                period.unwrap_or_else(|| of_class(|class| &class.term))
            }
            _ => String::new(),
        }
    }

    /// The cells of a part. Errors: the column for which it has no valid value, and why.
    fn part(
        &self,
        file: &'static CsvFile,
        object: &Object,
        row: &PartRow,
    ) -> Result<Vec<String>, (&'static str, Message)> {
        let mut cells = vec![row.id.clone(), String::new(), String::new()];
        if let Some(unfit) = unfit(file, "sourcedId", &row.id) {
            return Err(("sourcedId", unfit.problem));
        }
        for ((header, _), cell) in file.columns.iter().zip(&row.cells) {
            let target = match *header {
                "orgSourcedId" => "org",
                "resourceSourcedId" => "resource",
                "scoreScaleSourcedId" => "scoreScale",
                _ => "",
            };
            let mut cell = one_line(cell);
            if *header == "userProfileSourcedId" {
                cell = self.profile(object, &cell);
            }
            let is_absent =
                !target.is_empty() && !cell.is_empty() && !self.is_usable(target, &cell);
            match unfit(file, header, &cell) {
                Some(unfit) if requires(file, header) => return Err((*header, unfit.problem)),
                None if is_absent => {
                    return Err((*header, message!("the {target} '{cell}' is not in the export")));
                }
                None => cells.push(cell),
                Some(_) => cells.push(String::new()),
            }
        }
        Ok(cells)
    }

    /// The GUID of the user's profile with that id; empty if the export has no such row.
    fn profile(&self, object: &Object, id: &str) -> String {
        let found = files::by_name("userProfiles").and_then(|file| {
            let part = file.part.as_ref()?;
            let profiles = object.get(part.field)?.as_array()?;
            let at = profiles.iter().position(|one| {
                one["profileId"].as_str().is_some_and(|known| profile_guid(known) == id)
            })?;
            rows(file, part, object)
                .into_iter()
                .nth(at)
                .filter(|row| self.part(file, object, row).is_ok())
        });
        found.map(|row| row.id).unwrap_or_default()
    }

    /// The rows of a part file for a record. Reports parts that are left out.
    pub(super) fn parts(
        &mut self,
        file: &'static CsvFile,
        part: &JoinedFile,
        object: &Object,
    ) -> Vec<Vec<String>> {
        let mut written = Vec::new();
        for row in rows(file, part, object) {
            match self.part(file, object, &row) {
                Ok(cells) => written.push(cells),
                Err((header, problem)) => self.note(file, header, &row.id, &problem),
            }
        }
        written
    }

    /// Whether the record is exported. [`StandardExport::takes`] must have been called for all records.
    pub(super) fn has(&self, file: &CsvFile, object: &Object) -> bool {
        self.is_usable(file.kind.one, text(object, "sourcedId"))
    }
}

/// The rows of a part file for a record, each with a GUID.
fn rows(file: &'static CsvFile, part: &JoinedFile, object: &Object) -> Vec<PartRow> {
    let Some(value) = object.get(part.field) else { return Vec::new() };
    let owner = text(object, "sourcedId");
    let mut rows = rows_at_best(file, part, owner, value);
    for (row, number) in rows.iter_mut().zip(1..) {
        if part.shape == JoinedShape::Profile && !is_guid(&row.id) {
            row.id = format!("{owner}-{number}");
        }
    }
    rows
}

fn text<'o>(object: &'o Object, name: &str) -> &'o str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn reference(object: &Object, name: &str) -> Option<String> {
    object.get(name).and_then(id_of).map(str::to_owned)
}

/// The date of an instant.
pub(super) fn day(instant: &str) -> &str {
    instant.split('T').next().unwrap_or_default()
}

/// A text without line breaks, which the binding forbids.
pub(super) fn one_line(text: &str) -> String {
    match text.contains(['\r', '\n']) {
        true => {
            text.split(['\r', '\n']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
        }
        false => text.to_owned(),
    }
}
