//! A row that will become a record, with the parts that other files add to it.

use lyceum_core::{Detail, PayloadDialect, message};
use serde_json::Value;

use super::binding;
use super::cell::{self, CellError};
use super::fault::CsvError;
use super::files::{COMMON, CsvFile, JoinedShape};
use super::header::{REMOVE_COMMAS, RowWidth, trailing};
use super::layout::FileLayout;
use super::manifest::FileMode;
use super::parts::{PartRow, assemble};
use super::row_members::{RowMembers, overlay};
use super::rows::CsvRow;
use super::strict;
use crate::kind::{Field, FieldType};
use crate::record::{ModifiedTime, Object, Record};

/// A row with its values and errors.
#[derive(Default)]
pub(super) struct CandidateRow {
    pub(super) row: CsvRow,
    pub(super) id: String,
    /// Rows of part files, in the order of the files in the layout.
    pub(super) parts: Vec<PartRow>,
    /// Paths of the record that came from rows of part files, with the rows.
    origins: Vec<(String, usize)>,
    /// The record; `None` before [`CandidateRow::finish`], and if the row is rejected.
    pub(super) record: Option<Record>,
    pub(super) refusals: Vec<RejectedRow>,
    /// Warnings about values that were not read or were left out.
    pub(super) warnings: Vec<CsvError>,
    /// Warnings about values that do not fit each other. [`CandidateRow::finish`] computes them again.
    pub(super) mismatches: Vec<CsvError>,
}

/// A row that is not imported, with the reasons.
pub(super) struct RejectedRow {
    pub(super) faults: Vec<CsvError>,
    /// The name of its file with `.csv`, and its cells.
    pub(super) cells: Vec<String>,
}

/// The record cannot be assembled; whether it might be after some parts were left out.
struct AssemblyFailure(bool);

/// The column of a role with the user's profile.
const USER_PROFILE: &str = "userProfileSourcedId";

/// The row and column that caused an error.
enum ErrorCell {
    Own(String),
    Part(usize, &'static str),
}

impl CandidateRow {
    /// Reads the values of a row, without parts.
    pub(super) fn read(layout: &FileLayout, row: CsvRow, row_members: &mut RowMembers) -> Self {
        let mut candidate = Self { row, ..Self::default() };
        let (found, expected) = (candidate.row.len(), layout.header.names.len());
        let width = layout.header.width(&candidate.row);
        let line = candidate.row.line;
        if let RowWidth::Trailing(blank) = width {
            let warning = layout.fault(line, trailing("row", blank), REMOVE_COMMAS.into());
            candidate.warnings.push(warning);
        }
        let fits = !matches!(width, RowWidth::Differs);
        let mut faults = if fits {
            row_members.read(layout, &candidate.row)
        } else {
            vec![layout.fault(
                line,
                message!("the row has {found} fields, but the header has {expected}"),
                "look for a missing comma, or quote the field that contains one".into(),
            )]
        };
        if layout.is_strict && fits {
            faults.extend(strict::row(layout.file, &layout.header, &candidate.row, layout.mode));
        }
        if let Some(Value::String(id)) = row_members.get(COMMON[0]).filter(|_| fits) {
            candidate.id.clone_from(id);
        }
        if !faults.is_empty() {
            candidate.refuse(faults);
        }
        candidate
    }

    /// A candidate with only the parts of a record, for which the package has no row.
    pub(super) fn of_parts(id: String, parts: Vec<PartRow>) -> Self {
        Self { id, parts, ..Self::default() }
    }

    /// A row that was already assembled once.
    pub(super) fn reread(id: String, row: CsvRow) -> Self {
        Self { row, id, ..Self::default() }
    }

    /// Reads the row again, which had no errors the first time.
    pub(super) fn describe_members(&self, layout: &FileLayout, row_members: &mut RowMembers) {
        if self.row.is_empty() {
            row_members.of_parts(&self.id);
        } else {
            row_members.read(layout, &self.row);
        }
    }

    /// Assembles the record from what is stored, the row, and its parts. Wrong parts are left out and reported, and a
    /// wrong record is rejected.
    ///
    /// `row_members` has the values of the row. They are moved into the record.
    pub(super) fn finish(
        &mut self,
        layout: &FileLayout,
        row_members: &mut RowMembers,
        stored: Option<&Object>,
    ) {
        self.record = None;
        loop {
            match self.put_together(layout, row_members, stored) {
                Ok(record) => {
                    self.record = Some(record);
                    return;
                }
                Err(AssemblyFailure(false)) => return,
                Err(AssemblyFailure(true)) => self.describe_members(layout, row_members),
            }
        }
    }

    fn put_together(
        &mut self,
        layout: &FileLayout,
        row_members: &mut RowMembers,
        stored: Option<&Object>,
    ) -> Result<Record, AssemblyFailure> {
        let mut merged = stored.map(|stored| self.merged(layout, row_members, stored));
        let object = merged.as_mut().unwrap_or(&mut row_members.members);
        if let Err((part, column, unfit)) = self.add_parts(layout, object, stored) {
            let (file, row) = self.part(layout, part);
            let fault = CsvError::of_row(&csv(file), row.line, unfit.problem, unfit.remedy);
            let fault = fault.at(column, row.cell(file, column));
            self.refuse_part(layout, part, vec![fault]);
            return Err(AssemblyFailure(true));
        }
        let mut mismatches = self.drop_unknown_profiles(layout, object);
        mismatches.extend(self.unequal_subjects(layout, object));
        self.mismatches = mismatches;
        let stamp = ModifiedTime::Source(layout.now);
        Record::parse(layout.file.kind, object, PayloadDialect::Platform, stamp)
            .map_err(|problem| AssemblyFailure(self.blame(layout, &problem.details)))
    }

    /// Adds the parts to the values of the row. Errors: the part that does not fit, its column, and why.
    fn add_parts(
        &mut self,
        layout: &FileLayout,
        object: &mut Object,
        stored: Option<&Object>,
    ) -> Result<(), (usize, &'static str, CellError)> {
        self.origins.clear();
        let nothing = Value::Array(Vec::new());
        for (of, (file, part, mode)) in layout.parts.iter().enumerate() {
            let first = self.parts.partition_point(|row| row.of < of);
            let behind = self.parts.partition_point(|row| row.of <= of);
            if first == behind {
                continue;
            }
            let stored = || stored.and_then(|stored| stored.get(part.field)).unwrap_or(&nothing);
            let before = (*mode == FileMode::Delta).then(stored);
            let assembled = assemble(file, part, before, &self.parts[first..behind])
                .map_err(|(row, column, unfit)| (first + row, column, unfit))?;
            for (path, row) in assembled.origins {
                self.origins.push((format!("{}{path}", part.field), first + row));
            }
            object.insert(part.field.into(), assembled.value.unwrap_or_default());
        }
        Ok(())
    }

    /// Removes profiles from roles if the user does not have them.
    fn drop_unknown_profiles(&self, layout: &FileLayout, object: &mut Object) -> Vec<CsvError> {
        let mut warnings = Vec::new();
        let profiles = object.get("userProfiles").and_then(Value::as_array);
        let known: Vec<Value> =
            profiles.into_iter().flatten().map(|one| one["profileId"].clone()).collect();
        let Some(Value::Array(roles)) = object.get_mut("roles") else { return warnings };
        for (at, role) in roles.iter_mut().enumerate() {
            let origin = self.origins.iter().find(|(path, _)| *path == format!("roles[{at}]"));
            let is_unknown = |id: &Value| !known.contains(id);
            let (Some((_, part)), true) = (origin, role.get("userProfile").is_some_and(is_unknown))
            else {
                continue;
            };
            let (file, row) = self.part(layout, *part);
            let id = row.cell(file, USER_PROFILE);
            let problem =
                message!("the user '{self.id}' has no profile '{id}'; the reference is left out");
            let remedy = "add the profile to userProfiles.csv, or fix the cell";
            let warning = CsvError::of_row(&csv(file), row.line, problem, remedy);
            warnings.push(warning.at(USER_PROFILE, id));
            role.as_object_mut().map(|role| role.remove("userProfile"));
        }
        warnings
    }

    /// The warning about subjects and subject codes that cannot be pairs.
    fn unequal_subjects(&self, layout: &FileLayout, object: &Object) -> Option<CsvError> {
        let [subjects, codes] = ["subjects", "subjectCodes"]
            .map(|field| object.get(field).and_then(Value::as_array).map_or(0, Vec::len));
        if subjects == codes || subjects == 0 || codes == 0 {
            return None;
        }
        let problem = message!(
            "the row has another number of subjects ({subjects}) than of subjectCodes ({codes})"
        );
        let remedy = "write a code for each subject, in the same order";
        Some(layout.fault(self.row.line, problem, remedy.into()))
    }

    /// The stored record overlaid with the row. A column that the file lacks leaves its field unchanged. An empty
    /// cell clears the field, unless the row deletes the record. Members keep their order, so that a row with equal
    /// values changes nothing.
    fn merged(&self, layout: &FileLayout, row_members: &RowMembers, stored: &Object) -> Object {
        let mut merged = stored.clone();
        merged.remove(COMMON[2]);
        let own = row_members.members.iter().filter(|(name, value)| {
            let is_known =
                layout.file.kind.field(name).is_some() || COMMON.contains(&name.as_str());
            !(value.is_null() && (is_known || *name == "metadata"))
        });
        let own: Object = own
            .map(|(name, value)| {
                let was = stored.get(name).filter(|was| is_that_day(layout, name, value, was));
                (name.clone(), was.unwrap_or(value).clone())
            })
            .collect();
        if self.row.is_empty() {
            overlay(&mut merged, own);
            return merged;
        }
        merged.remove(COMMON[1]);
        let only_marks = layout.mode == FileMode::Delta && row_members.is_deletion();
        if !only_marks {
            merged.retain(|field, _| own.contains_key(field) || !layout.covers(field));
            let named = own.get("metadata").and_then(Value::as_object);
            if let Some(Value::Object(metadata)) = merged.get_mut("metadata")
                && !metadata.is_empty()
            {
                metadata.retain(|name, _| {
                    named.is_some_and(|own| own.contains_key(name))
                        || !layout.header.covers_metadata(name)
                });
                if metadata.is_empty() && named.is_none() {
                    merged.remove("metadata");
                }
            }
        }
        if let Some(forget) = layout.file.kind.rules.forget {
            forget(&mut merged, &own);
        }
        overlay(&mut merged, own);
        merged
    }

    /// Assigns the errors to rows. Returns true if all errors are in rows of part files: these are left out, and the
    /// record should be assembled again.
    pub(super) fn blame(&mut self, layout: &FileLayout, details: &[Detail]) -> bool {
        let mut own = Vec::new();
        let mut of_parts: Vec<(usize, Vec<CsvError>)> = Vec::new();
        for detail in details {
            match self.place(layout, &detail.path) {
                ErrorCell::Own(header) => own.push(self.own_fault(layout, &header, detail)),
                ErrorCell::Part(part, header) => {
                    let fault = self.part_fault(layout, part, header, detail);
                    match of_parts.iter_mut().find(|(one, _)| *one == part) {
                        Some((_, faults)) => faults.push(fault),
                        None => of_parts.push((part, vec![fault])),
                    }
                }
            }
        }
        let only_parts = own.is_empty();
        // In descending order, so that the indexes of the other parts stay valid.
        of_parts.sort_by_key(|(part, _)| std::cmp::Reverse(*part));
        for (part, faults) in of_parts {
            self.refuse_part(layout, part, faults);
        }
        if !only_parts {
            self.refuse(own);
        }
        only_parts
    }

    fn place(&self, layout: &FileLayout, path: &str) -> ErrorCell {
        let inner = path.split_once('.').map_or("", |(_, inner)| inner);
        for (origin, part) in &self.origins {
            let (file, _) = self.part(layout, *part);
            let shape = file.part.as_ref().map(|part| part.shape);
            if let Some(rest) = inner.strip_prefix(origin.as_str())
                && (rest.is_empty() || rest.starts_with(['.', '[']))
            {
                return ErrorCell::Part(*part, part_header(file, rest));
            }
            let set = origin.split_once('.').map(|(set, _)| set);
            if matches!(shape, Some(JoinedShape::Objective | JoinedShape::ObjectiveScore))
                && set.and_then(|set| inner.strip_prefix(set)) == Some(".source")
            {
                return ErrorCell::Part(*part, "source");
            }
        }
        let field = inner.split(['.', '[']).next().unwrap_or_default();
        ErrorCell::Own(layout.header_of(field, inner))
    }

    /// The part that a path of the record leads to, and its column.
    pub(super) fn part_at(&self, layout: &FileLayout, path: &str) -> Option<(usize, &'static str)> {
        match self.place(layout, path) {
            ErrorCell::Own(_) => None,
            ErrorCell::Part(part, header) => Some((part, header)),
        }
    }

    fn own_fault(&self, layout: &FileLayout, header: &str, detail: &Detail) -> CsvError {
        let field = detail.path.split(['.', '[']).nth(1).unwrap_or_default();
        let missing = detail.message.template().starts_with("is required");
        let part = layout.file.parts().find(|(_, part)| part.field == field);
        if let (true, Some((file, part)), false) = (missing, part, layout.header.covers(field)) {
            let (one, many) = (layout.file.kind.one, csv(file));
            let fault = layout.fault(
                self.row.line,
                message!("the {one} '{self.id}' has no row in {many}"),
                message!("add a row with the {part.owner} '{self.id}' to {many}"),
            );
            let mut parts = self.refusals.iter().flat_map(|refusal| &refusal.faults);
            return CsvError {
                is_consequence: layout.unread.iter().any(|unread| unread.name == file.name)
                    || parts.any(|part| part.is_consequence && part.file == many),
                ..fault
            };
        }
        let remedy = match (missing, header, layout.file.kind.field(field)) {
            (true, ..) => "fill the cell".into(),
            (_, "sourcedId", _) => {
                "write an id of 1 to 255 bytes without control characters".into()
            }
            (_, "status", _) => "write active or tobedeleted".into(),
            (_, "dateLastModified", _) => "write the instant as 2026-01-15T08:00:00Z".into(),
            // In OneRoster 1.1, the role is in the row of the user.
            (_, "role", Some(field)) if field.name == "roles" => {
                role_field(field).map_or_else(|| "".into(), cell::fix_for)
            }
            (_, "orgSourcedIds", Some(_)) => {
                "write the sourcedIds of the orgs, separated by commas".into()
            }
            (_, header, Some(_)) if binding::is_day(layout.file, header) => {
                "write the date as 2026-01-15".into()
            }
            (_, _, Some(field)) => cell::fix_for(field),
            _ => "fix the cell, or leave it empty".into(),
        };
        let value = layout.header.names.iter().position(|name| name == header);
        let value = value.map(|at| String::from_utf8_lossy(self.row.bytes(at)));
        layout
            .fault(
                self.row.line,
                if missing { "is required".into() } else { detail.message.clone() },
                remedy,
            )
            .at(header, value.as_deref().unwrap_or_default())
    }

    fn part_fault(
        &self,
        layout: &FileLayout,
        part: usize,
        header: &str,
        detail: &Detail,
    ) -> CsvError {
        let (file, row) = self.part(layout, part);
        let name = file.columns.iter().find(|(one, _)| *one == header).map_or("", |(_, name)| name);
        let fields = file.part.as_ref().map_or(&[][..], |part| part.members(file.kind));
        let field = fields.iter().find(|field| field.name == name || field.name == header);
        let remedy = match field {
            _ if detail.message.template().starts_with("is required") => "fill the cell".into(),
            Some(field) => cell::fix_for(field),
            None => "fix the cell".into(),
        };
        CsvError::of_row(&csv(file), row.line, detail.message.clone(), remedy)
            .at(header, if header == "sourcedId" { &row.id } else { row.cell(file, header) })
    }

    /// The part file and the row of a part.
    pub(super) fn part(&self, layout: &FileLayout, part: usize) -> (&'static CsvFile, &PartRow) {
        let row = &self.parts[part];
        (layout.parts[row.of].0, row)
    }

    /// Leaves a part out and reports the errors.
    pub(super) fn refuse_part(&mut self, layout: &FileLayout, part: usize, faults: Vec<CsvError>) {
        let row = self.parts.remove(part);
        debug_assert_eq!(csv(layout.parts[row.of].0), faults[0].file);
        let cells = [row.id, String::new(), String::new()].into_iter().chain(row.cells).collect();
        self.refusals.push(RejectedRow { faults, cells });
    }

    /// Rejects the row itself.
    pub(super) fn refuse(&mut self, faults: Vec<CsvError>) {
        self.record = None;
        self.refusals.push(RejectedRow { faults, cells: self.row.readable() });
    }
}

/// Whether a cell has the date of a stored instant. The stored time is then kept, because the column cannot contain
/// it.
fn is_that_day(layout: &FileLayout, field: &str, cell: &Value, stored: &Value) -> bool {
    let holds_days =
        layout.file.header_of(field).is_some_and(|it| binding::is_day(layout.file, it));
    let day = cell.as_str().filter(|cell| holds_days && cell.len() == "2026-01-15".len());
    day.zip(stored.as_str()).is_some_and(|(day, stored)| stored.starts_with(day))
}

/// The field of a role in a user's roles.
fn role_field(roles: &Field) -> Option<&'static Field> {
    let FieldType::Objects(fields) = roles.ty else { return None };
    fields.iter().find(|field| field.name == "role")
}

/// The column of a part file for a path inside the part.
fn part_header(file: &'static CsvFile, rest: &str) -> &'static str {
    let shape = file.part.as_ref().map(|part| part.shape);
    let name = rest.trim_start_matches('.').split(['.', '[']).next().unwrap_or_default();
    match (shape, name) {
        (Some(JoinedShape::Link(column) | JoinedShape::TheLink(column)), _) => column,
        (Some(JoinedShape::Objective), _) => "learningObjectiveId",
        (Some(JoinedShape::Profile), "profileId") => "sourcedId",
        (Some(JoinedShape::Profile), "credentials") => {
            if rest.rsplit('.').next() == Some("type") {
                "credentialType"
            } else {
                "username"
            }
        }
        _ => {
            let column =
                file.columns.iter().find(|(header, field)| *field == name || *header == name);
            column.map_or("", |(header, _)| header)
        }
    }
}

/// The name of a file with its ending.
pub(super) fn csv(file: &CsvFile) -> String {
    format!("{}.csv", file.name)
}
