//! A row on its way to becoming a record, with the parts that other files add to it.

use lyceum_core::Detail;
use lyceum_core::time::Timestamp;
use serde_json::Value;

use super::cell::{self, Unfit, decode};
use super::fault::Fault;
use super::files::{self, COMMON, File, Part, Shape};
use super::header::{Header, Use};
use super::manifest::Mode;
use super::parts::{PartRow, assemble};
use super::rows::Row;
use crate::dialect::Dialect;
use crate::record::{Object, Record, Stamp};

/// What is known of a file of records before its first row.
#[derive(Clone)]
pub(super) struct Layout {
    pub(super) file: &'static File,
    pub(super) mode: Mode,
    pub(super) header: Header,
    /// The files of the package that hold parts of its records.
    pub(super) parts: Vec<(&'static File, &'static Part, Mode)>,
    pub(super) now: Timestamp,
}

/// A row, what it says, and what is wrong with it.
#[derive(Default)]
pub(super) struct Candidate {
    pub(super) row: Row,
    pub(super) id: String,
    object: Object,
    /// Rows of part files, each with the place of its file in the layout.
    pub(super) parts: Vec<(usize, PartRow)>,
    /// Paths of the record that came from rows of part files.
    origins: Vec<(String, usize)>,
    /// The record; `None` until [`Candidate::finish`], and where the row is refused.
    pub(super) record: Option<Record>,
    pub(super) refusals: Vec<Refusal>,
}

/// A row that is not imported, and why.
pub(super) struct Refusal {
    pub(super) faults: Vec<Fault>,
    /// The name of its file with `.csv`, and its cells.
    pub(super) cells: Vec<String>,
}

/// The row that is at fault, and its column.
enum Blame {
    Own(String),
    Part(usize, &'static str),
}

impl Candidate {
    /// Reads what a row says, without its parts.
    pub(super) fn read(layout: &Layout, row: Row) -> Self {
        let mut candidate = Self { row, ..Self::default() };
        let mut faults = Vec::new();
        let (found, expected) = (candidate.row.len(), layout.header.names.len());
        if found == expected {
            for (at, one) in layout.header.uses.iter().enumerate() {
                if let Err((value, unfit)) = candidate.cell(at, one) {
                    let fault = layout.fault(candidate.row.line, unfit.problem, unfit.mend);
                    faults.push(fault.at(&layout.header.names[at], &value));
                }
            }
            candidate.former_roles(layout);
        } else {
            faults.push(layout.fault(
                candidate.row.line,
                format!("the row has {found} fields, the header has {expected}"),
                "look for a missing comma, or quote the field that holds one".to_owned(),
            ));
        }
        if !faults.is_empty() {
            candidate.refuse(faults);
        }
        candidate
    }

    /// The parts alone of a record that the package has no row for.
    pub(super) fn of_parts(id: String, parts: Vec<(usize, PartRow)>) -> Self {
        let mut object = Object::new();
        object.insert("sourcedId".into(), id.clone().into());
        Self { id, object, parts, ..Self::default() }
    }

    /// A row that was put together before.
    pub(super) fn again(id: String, row: Row) -> Self {
        Self { row, id, ..Self::default() }
    }

    fn cell(&mut self, at: usize, one: &Use) -> Result<(), (String, Unfit)> {
        if self.row.bytes(at).is_empty() || matches!(one, Use::Nothing) {
            return Ok(());
        }
        let text = match self.row.text(at) {
            Ok(text) => text,
            Err(readable) => {
                let problem = "is not UTF-8".to_owned();
                let mend = "save the file with the encoding UTF-8".to_owned();
                return Err((readable, Unfit { problem, mend }));
            }
        };
        let refused = |unfit| (text.to_owned(), unfit);
        match one {
            Use::SourcedId => {
                text.clone_into(&mut self.id);
                self.object.insert(COMMON[0].into(), text.into());
            }
            Use::Status => drop(self.object.insert(COMMON[1].into(), text.into())),
            Use::Modified => drop(self.object.insert(COMMON[2].into(), text.into())),
            Use::Field(field) => {
                if let Some(value) = decode(field, text).map_err(refused)? {
                    self.object.insert(field.name.into(), value);
                }
            }
            Use::Metadata(name) => {
                let value = cell::metadata(text).map_err(refused)?;
                metadata_of(&mut self.object).insert(name.clone(), value);
            }
            Use::Extra => match serde_json::from_str::<Object>(text) {
                Ok(mut more) => {
                    more.retain(|name, _| !COMMON.contains(&name.as_str()));
                    overlay(&mut self.object, more);
                }
                Err(error) => {
                    let problem = format!("is not a JSON object ({error})");
                    let mend = "correct the JSON, or leave the cell empty".to_owned();
                    return Err(refused(Unfit { problem, mend }));
                }
            },
            Use::FormerRole | Use::FormerOrgs | Use::Part(_) | Use::Nothing => {}
        }
        Ok(())
    }

    /// The roles of a user of OneRoster 1.1: one role, at several organizations.
    fn former_roles(&mut self, layout: &Layout) {
        let text = |place: Option<usize>| place.and_then(|at| self.row.text(at).ok());
        let role = text(layout.header.place(|one| matches!(one, Use::FormerRole)));
        let orgs = text(layout.header.place(|one| matches!(one, Use::FormerOrgs)));
        let (Some(role), Some(orgs)) = (role.filter(|role| !role.is_empty()), orgs) else { return };
        // 1.2 split the administrator of 1.1 by what they administer.
        let role = if role == "administrator" { "siteAdministrator" } else { role };
        let roles: Vec<Value> = cell::list(orgs)
            .unwrap_or_default()
            .into_iter()
            .map(|org| {
                serde_json::json!({
                    "roleType": "primary", "role": role, "org": { "sourcedId": org }
                })
            })
            .collect();
        self.object.insert("roles".into(), roles.into());
    }

    /// Whether the row says that the record is gone.
    pub(super) fn is_deletion(&self) -> bool {
        self.object.get("status").is_some_and(|status| status == "tobedeleted")
    }

    /// Puts the record together: what is stored of it, the row, its parts. Parts at fault are
    /// left out and reported; a record at fault is refused.
    pub(super) fn finish(&mut self, layout: &Layout, stored: Option<&Object>) {
        self.record = None;
        loop {
            let object = match self.assembled(layout, stored) {
                Ok(object) => object,
                Err((part, column, unfit)) => {
                    let (file, row) = self.part(layout, part);
                    let fault = Fault::of_row(&csv(file), row.line, unfit.problem, unfit.mend);
                    let fault = fault.at(column, row.cell(file, column));
                    self.refuse_part(layout, part, vec![fault]);
                    continue;
                }
            };
            let stamp = Stamp::Keep(layout.now);
            match Record::parse(layout.file.kind, &object, Dialect::Platform, stamp) {
                Ok(record) => {
                    self.record = Some(record);
                    return;
                }
                Err(problem) => {
                    if !self.blame(layout, &problem.details) {
                        return;
                    }
                }
            }
        }
    }

    fn assembled(
        &mut self,
        layout: &Layout,
        stored: Option<&Object>,
    ) -> Result<Object, (usize, &'static str, Unfit)> {
        let mut object = match stored {
            Some(stored) => self.merged(layout, stored),
            None => self.object.clone(),
        };
        self.origins.clear();
        for (index, (file, part, mode)) in layout.parts.iter().enumerate() {
            let (places, rows): (Vec<usize>, Vec<PartRow>) = self
                .parts
                .iter()
                .enumerate()
                .filter(|(_, (of, _))| *of == index)
                .map(|(place, (_, row))| (place, row.clone()))
                .unzip();
            if rows.is_empty() {
                if *mode == Mode::Bulk && !self.object.contains_key(part.field) {
                    object.remove(part.field);
                }
                continue;
            }
            let nothing = Value::Array(Vec::new());
            let before = match mode {
                Mode::Bulk => None,
                Mode::Delta => {
                    Some(stored.and_then(|stored| stored.get(part.field)).unwrap_or(&nothing))
                }
            };
            let made = assemble(file, part, before, &rows)
                .map_err(|(row, column, unfit)| (places[row], column, unfit))?;
            for (path, row) in made.origins {
                self.origins.push((format!("{}{path}", part.field), places[row]));
            }
            match made.value {
                Some(value) => object.insert(part.field.into(), value),
                None => object.remove(part.field),
            };
        }
        Ok(object)
    }

    /// What is stored, overlaid with the row. A column that the file lacks leaves its field as it
    /// is; an empty cell clears it, except where the row deletes the record. Members keep their
    /// order, so that a row that says the same changes nothing.
    fn merged(&self, layout: &Layout, stored: &Object) -> Object {
        let mut merged = stored.clone();
        merged.remove(COMMON[2]);
        if !self.row.is_empty() {
            merged.remove(COMMON[1]);
        }
        overlay(&mut merged, self.object.clone());
        let only_marks = layout.mode == Mode::Delta && self.is_deletion();
        let clears = !self.row.is_empty() && !only_marks;
        if clears {
            let own = &self.object;
            merged.retain(|field, _| own.contains_key(field) || !layout.header.covers(field));
            let named = own.get("metadata").and_then(Value::as_object);
            if let Some(Value::Object(metadata)) = merged.get_mut("metadata")
                && !metadata.is_empty()
            {
                metadata.retain(|name, _| {
                    named.is_some_and(|own| own.contains_key(name))
                        || !layout.header.covers_metadata(name)
                });
                if metadata.is_empty() {
                    merged.remove("metadata");
                }
            }
        }
        merged
    }

    /// Finds out which rows the faults are in. True where all are in rows of part files: these
    /// are dropped, and the record is worth another try.
    pub(super) fn blame(&mut self, layout: &Layout, details: &[Detail]) -> bool {
        let mut own = Vec::new();
        let mut of_parts: Vec<(usize, Vec<Fault>)> = Vec::new();
        for detail in details {
            match self.place(layout, &detail.path) {
                Blame::Own(header) => own.push(self.own_fault(layout, &header, detail)),
                Blame::Part(part, header) => {
                    let fault = self.part_fault(layout, part, header, detail);
                    match of_parts.iter_mut().find(|(one, _)| *one == part) {
                        Some((_, faults)) => faults.push(fault),
                        None => of_parts.push((part, vec![fault])),
                    }
                }
            }
        }
        let only_parts = own.is_empty();
        // From behind, so that the places of the others stay right.
        of_parts.sort_by_key(|(part, _)| std::cmp::Reverse(*part));
        for (part, faults) in of_parts {
            self.refuse_part(layout, part, faults);
        }
        if !only_parts {
            self.refuse(own);
        }
        only_parts
    }

    fn place(&self, layout: &Layout, path: &str) -> Blame {
        let inner = path.split_once('.').map_or("", |(_, inner)| inner);
        for (origin, part) in &self.origins {
            let (file, _) = self.part(layout, *part);
            let shape = file.part.as_ref().map(|part| part.shape);
            if let Some(rest) = inner.strip_prefix(origin.as_str())
                && (rest.is_empty() || rest.starts_with(['.', '[']))
            {
                return Blame::Part(*part, part_header(file, rest));
            }
            let set = origin.split_once('.').map(|(set, _)| set);
            if matches!(shape, Some(Shape::Objective | Shape::ObjectiveScore))
                && set.and_then(|set| inner.strip_prefix(set)) == Some(".source")
            {
                return Blame::Part(*part, "source");
            }
        }
        let field = inner.split(['.', '[']).next().unwrap_or_default();
        Blame::Own(layout.header_of(field, inner))
    }

    /// The part that a path of the record leads to, and its column.
    pub(super) fn part_at(&self, layout: &Layout, path: &str) -> Option<(usize, &'static str)> {
        match self.place(layout, path) {
            Blame::Own(_) => None,
            Blame::Part(part, header) => Some((part, header)),
        }
    }

    fn own_fault(&self, layout: &Layout, header: &str, detail: &Detail) -> Fault {
        let field = detail.path.split(['.', '[']).nth(1).unwrap_or_default();
        let missing = detail.message.starts_with("is required");
        let part = layout.file.parts().find(|(_, part)| part.field == field);
        if let (true, Some((file, part)), false) = (missing, part, layout.header.covers(field)) {
            let (one, many) = (layout.file.kind.one, csv(file));
            return layout.fault(
                self.row.line,
                format!("the {one} '{}' has no row in {many}", self.id),
                format!("add a row with the {} '{}' to {many}", part.owner, self.id),
            );
        }
        let mend = match (missing, header, layout.file.kind.field(field)) {
            (true, ..) => "fill the cell".to_owned(),
            (_, "sourcedId", _) => {
                "write an id of 1 to 255 bytes without control characters".to_owned()
            }
            (_, "status", _) => "write active or tobedeleted".to_owned(),
            (_, "dateLastModified", _) => "write the instant as 2026-01-15T08:00:00Z".to_owned(),
            (_, _, Some(field)) => cell::mend(field),
            _ => "correct the cell, or leave it empty".to_owned(),
        };
        let value = layout.header.names.iter().position(|name| name == header);
        let value = value.map(|at| String::from_utf8_lossy(self.row.bytes(at)));
        layout
            .fault(
                self.row.line,
                if missing { "is required".into() } else { detail.message.clone() },
                mend,
            )
            .at(header, value.as_deref().unwrap_or_default())
    }

    fn part_fault(&self, layout: &Layout, part: usize, header: &str, detail: &Detail) -> Fault {
        let (file, row) = self.part(layout, part);
        let name = file.columns.iter().find(|(one, _)| *one == header).map_or("", |(_, name)| name);
        let members = file.part.as_ref().map_or(&[][..], |part| part.members(file.kind));
        let field = members.iter().find(|field| field.name == name || field.name == header);
        let mend = match field {
            _ if detail.message == "is required" => "fill the cell".to_owned(),
            Some(field) => cell::mend(field),
            None => "correct the cell".to_owned(),
        };
        Fault::of_row(&csv(file), row.line, detail.message.clone(), mend)
            .at(header, if header == "sourcedId" { &row.id } else { row.cell(file, header) })
    }

    /// The part file and the row of a part.
    pub(super) fn part(&self, layout: &Layout, part: usize) -> (&'static File, &PartRow) {
        let (of, row) = &self.parts[part];
        (layout.parts[*of].0, row)
    }

    /// Leaves a part out and reports it.
    pub(super) fn refuse_part(&mut self, layout: &Layout, part: usize, faults: Vec<Fault>) {
        let (of, row) = self.parts.remove(part);
        debug_assert_eq!(csv(layout.parts[of].0), faults[0].file);
        let cells = [row.id, String::new(), String::new()].into_iter().chain(row.cells).collect();
        self.refusals.push(Refusal { faults, cells });
    }

    /// Refuses the row itself.
    pub(super) fn refuse(&mut self, faults: Vec<Fault>) {
        self.record = None;
        self.refusals.push(Refusal { faults, cells: self.row.readable() });
    }
}

impl Layout {
    /// The layout of parts whose records the package has no row for.
    pub(super) fn of_parts(
        file: &'static File,
        parts: Vec<(&'static File, &'static Part, Mode)>,
        now: Timestamp,
    ) -> Self {
        Self { file, mode: Mode::Delta, header: Header::unusable(), parts, now }
    }

    /// Whether rows can be judged without what is stored.
    pub(super) fn stands_alone(&self) -> bool {
        self.mode == Mode::Bulk && self.parts.iter().all(|(_, _, mode)| *mode == Mode::Bulk)
    }

    pub(super) fn fault(&self, line: u64, problem: String, mend: String) -> Fault {
        Fault::of_row(&csv(self.file), line, problem, mend)
    }

    /// The column that a fault in the field is to be looked for in.
    pub(super) fn header_of(&self, field: &str, inner: &str) -> String {
        let of_field = |one: &Use| match one {
            Use::Field(found) => found.name == field,
            Use::FormerOrgs => field == "roles" && inner.contains(".org"),
            Use::FormerRole => field == "roles" && !inner.contains(".org"),
            _ => false,
        };
        match self.header.place(of_field) {
            Some(at) => self.header.names[at].clone(),
            None if COMMON.contains(&field) => field.to_owned(),
            None if field.is_empty() => String::new(),
            None => match self.file.header_of(field) {
                Some(header) => header.to_owned(),
                None => files::EXTRA.to_owned(),
            },
        }
    }
}

/// The column of a part file that a path inside the part leads to.
fn part_header(file: &'static File, rest: &str) -> &'static str {
    let shape = file.part.as_ref().map(|part| part.shape);
    let name = rest.trim_start_matches('.').split(['.', '[']).next().unwrap_or_default();
    match (shape, name) {
        (Some(Shape::Link(column) | Shape::TheLink(column)), _) => column,
        (Some(Shape::Objective), _) => "learningObjectiveId",
        (Some(Shape::Profile), "profileId") => "sourcedId",
        (Some(Shape::Profile), "credentials") => {
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
pub(super) fn csv(file: &File) -> String {
    format!("{}.csv", file.name)
}

fn metadata_of(object: &mut Object) -> &mut Object {
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Object::new()));
    if !metadata.is_object() {
        *metadata = Value::Object(Object::new());
    }
    metadata.as_object_mut().expect("made an object above")
}

/// Lays one object over another, metadata member by member.
fn overlay(object: &mut Object, more: Object) {
    for (name, value) in more {
        match value {
            Value::Object(metadata) if name == "metadata" => {
                metadata_of(object).extend(metadata);
            }
            value => drop(object.insert(name, value)),
        }
    }
}
