//! Rows that are parts of a record: roles of users, resources of classes, objectives of results.

use serde_json::{Value, json};

use super::cell::{CellError, decode, encode, id_of};
use super::files::{CsvFile, JoinedFile, JoinedShape};
use crate::kind::Field;
use crate::record::Object;

/// A row of a part file.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PartRow {
    /// The index of its file among the part files.
    #[serde(skip)]
    pub(super) of: usize,
    /// The line on which it begins.
    pub(super) line: u64,
    /// Its `sourcedId`.
    pub(super) id: String,
    /// Whether the part is deleted.
    pub(super) deleted: bool,
    /// Its cells, in the order of the file's columns.
    pub(super) cells: Vec<String>,
}

impl PartRow {
    /// The cell of a column.
    pub(super) fn cell(&self, file: &CsvFile, header: &str) -> &str {
        let at = file.columns.iter().position(|(name, _)| *name == header);
        at.map_or("", |at| &self.cells[at])
    }
}

/// A part of a field, independent of how the field groups its parts.
#[derive(Clone, Debug, PartialEq)]
struct FieldPart {
    /// The values that identify the part.
    key: Vec<String>,
    value: Value,
    /// The row that it came from.
    row: Option<usize>,
}

/// A field that was assembled from its parts.
pub(super) struct AssembledField {
    /// Its value; `None` if no part is left.
    pub(super) value: Option<Value>,
    /// Paths inside the field, such as `[1]` or `[0].learningObjectiveIds[2]`, with the rows of the parts there.
    pub(super) origins: Vec<(String, usize)>,
}

/// Assembles a field from its previous value and the rows. There is no previous value if the rows are complete.
///
/// Errors: the row that does not fit, its column, and why.
pub(super) fn assemble(
    file: &'static CsvFile,
    part: &JoinedFile,
    before: Option<&Value>,
    rows: &[PartRow],
) -> Result<AssembledField, (usize, &'static str, CellError)> {
    let merging = before.is_some();
    let mut members = before.map(|value| explode(part, value)).unwrap_or_default();
    for (at, row) in rows.iter().enumerate() {
        let mut member = member(file, part, row).map_err(|(column, unfit)| (at, column, unfit))?;
        member.row = Some(at);
        let former = members.iter().position(|one| merging && one.key == member.key);
        match (row.deleted, former) {
            (true, Some(former)) => drop(members.remove(former)),
            (true, None) => {}
            (false, Some(former)) => members[former] = member,
            (false, None) => members.push(member),
        }
    }
    if matches!(part.shape, JoinedShape::TheLink(_)) {
        members.drain(..members.len().saturating_sub(1));
    }
    Ok(implode(part, members))
}

/// The part that a row describes.
fn member(
    file: &'static CsvFile,
    part: &JoinedFile,
    row: &PartRow,
) -> Result<FieldPart, (&'static str, CellError)> {
    let cell = |header: &str| row.cell(file, header).to_owned();
    let (key, value) = match part.shape {
        JoinedShape::Object(keys) => {
            let object = object(file, part, row)?;
            (key_of(keys, &object), Value::Object(object))
        }
        JoinedShape::Profile => {
            let mut object = object(file, part, row)?;
            object.insert("profileId".into(), profile_uri(&row.id).into());
            let cells = [("type", cell("credentialType")), ("username", cell("username"))];
            let credential: Object = cells
                .into_iter()
                .filter(|(_, cell)| !cell.is_empty())
                .map(|(name, cell)| (name.to_owned(), cell.into()))
                .collect();
            if !credential.is_empty() {
                object.insert("credentials".into(), json!([credential]));
            }
            (vec![profile_uri(&row.id)], Value::Object(object))
        }
        JoinedShape::Link(column) | JoinedShape::TheLink(column) => {
            (vec![cell(column)], json!({ "sourcedId": cell(column) }))
        }
        JoinedShape::Objective => {
            let (source, id) = (cell("source"), cell("learningObjectiveId"));
            (vec![source, id.clone()], id.into())
        }
        JoinedShape::ObjectiveScore => {
            let (source, id) = (cell("source"), cell("learningObjectiveId"));
            let mut object = Object::new();
            object.insert("learningObjectiveId".into(), id.clone().into());
            for field in score_fields(part, file) {
                let score = decode(field, row.cell(file, field.name));
                if let Some(score) = score.map_err(|unfit| (field.name, unfit))? {
                    object.insert(field.name.into(), score);
                }
            }
            (vec![source, id], Value::Object(object))
        }
    };
    Ok(FieldPart { key, value, row: None })
}

fn object(
    file: &'static CsvFile,
    part: &JoinedFile,
    row: &PartRow,
) -> Result<Object, (&'static str, CellError)> {
    let fields = part.members(file.kind);
    let mut object = Object::new();
    for ((header, name), cell) in file.columns.iter().zip(&row.cells) {
        let Some(field) = fields.iter().find(|field| field.name == *name) else { continue };
        if let Some(value) = decode(field, cell).map_err(|unfit| (*header, unfit))? {
            let value = if field.name == USER_PROFILE { profile_uri(cell).into() } else { value };
            object.insert((*name).into(), value);
        }
    }
    Ok(object)
}

/// The field of a role that refers to a profile.
const USER_PROFILE: &str = "userProfile";
/// The prefix of a profile's GUID from CSV, because the REST binding requires a URI.
const PROFILE: &str = "urn:lyceum:userProfile:";

/// The id of a user profile, a URI, from a GUID in CSV.
fn profile_uri(guid: &str) -> String {
    if guid.contains(':') { guid.to_owned() } else { format!("{PROFILE}{guid}") }
}

/// The value in CSV for the id of a user profile.
pub(super) fn profile_guid(uri: &str) -> &str {
    uri.strip_prefix(PROFILE).unwrap_or(uri)
}

/// `score` and `textScore` in a learning objective set.
fn score_fields(part: &JoinedFile, file: &CsvFile) -> impl Iterator<Item = &'static Field> {
    let inner = part.members(file.kind).iter().find_map(|field| match field.ty {
        crate::kind::FieldType::Objects(inner) => Some(inner),
        _ => None,
    });
    inner.unwrap_or_default().iter().filter(|field| field.name != "learningObjectiveId")
}

fn key_of(keys: &[&str], object: &Object) -> Vec<String> {
    keys.iter()
        .map(|key| match object.get(*key) {
            Some(Value::String(text)) => text.clone(),
            Some(reference) => id_of(reference).unwrap_or_default().to_owned(),
            None => String::new(),
        })
        .collect()
}

/// The name of the list in a learning objective set.
fn inner_list(shape: JoinedShape) -> &'static str {
    if shape == JoinedShape::Objective {
        "learningObjectiveIds"
    } else {
        "learningObjectiveResults"
    }
}

/// Splits a stored field into its parts.
fn explode(part: &JoinedFile, value: &Value) -> Vec<FieldPart> {
    let text = |value: &Value, name: &str| -> String {
        value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let all = match value {
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    };
    let mut members = Vec::new();
    for one in all {
        let key = match part.shape {
            JoinedShape::Object(keys) => {
                one.as_object().map(|o| key_of(keys, o)).unwrap_or_default()
            }
            JoinedShape::Profile => vec![text(one, "profileId")],
            JoinedShape::Link(_) | JoinedShape::TheLink(_) => vec![text(one, "sourcedId")],
            JoinedShape::Objective | JoinedShape::ObjectiveScore => {
                let source = text(one, "source");
                let inner = one.get(inner_list(part.shape)).and_then(Value::as_array);
                for value in inner.into_iter().flatten() {
                    let id = match value {
                        Value::String(id) => id.clone(),
                        other => text(other, "learningObjectiveId"),
                    };
                    let key = vec![source.clone(), id];
                    members.push(FieldPart { key, value: value.clone(), row: None });
                }
                continue;
            }
        };
        members.push(FieldPart { key, value: one.clone(), row: None });
    }
    members
}

/// Combines parts into a field.
fn implode(part: &JoinedFile, members: Vec<FieldPart>) -> AssembledField {
    let mut origins = Vec::new();
    let mut list: Vec<Value> = Vec::new();
    for member in members {
        let path = match part.shape {
            JoinedShape::Objective | JoinedShape::ObjectiveScore => {
                let inner = inner_list(part.shape);
                let source = &member.key[0];
                let set = list.iter().position(|set| set["source"] == source.as_str());
                let set = set.unwrap_or_else(|| {
                    list.push(json!({ "source": source, inner: [] }));
                    list.len() - 1
                });
                let into = list[set][inner].as_array_mut().expect("made as an array");
                into.push(member.value);
                format!("[{set}].{inner}[{}]", into.len() - 1)
            }
            JoinedShape::TheLink(_) => {
                list.push(member.value);
                String::new()
            }
            _ => {
                list.push(member.value);
                format!("[{}]", list.len() - 1)
            }
        };
        origins.extend(member.row.map(|row| (path, row)));
    }
    let value = match part.shape {
        JoinedShape::TheLink(_) => list.pop(),
        _ if list.is_empty() => None,
        _ => Some(Value::Array(list)),
    };
    AssembledField { value, origins }
}

/// The rows for a field, as far as rows can express it.
pub(super) fn rows_at_best(
    file: &'static CsvFile,
    part: &JoinedFile,
    owner: &str,
    value: &Value,
) -> Vec<PartRow> {
    let members = explode(part, value);
    let numbered = members.iter().zip(1..);
    numbered.filter_map(|(member, number)| row_of(file, part, owner, member, number)).collect()
}

/// The rows of a delta for a field, without `status` and `dateLastModified`; `None` if rows cannot express the whole
/// field.
pub(super) fn rows_of(
    file: &'static CsvFile,
    part: &JoinedFile,
    owner: &str,
    value: &Value,
) -> Option<Vec<PartRow>> {
    let rows: Vec<PartRow> = explode(part, value)
        .iter()
        .zip(1..)
        .map(|(member, number)| row_of(file, part, owner, member, number))
        .collect::<Option<_>>()?;
    let nothing = Value::Array(Vec::new());
    let back = assemble(file, part, Some(&nothing), &rows).ok()?;
    is_equal_but_types(back.value.as_ref()?, value).then_some(rows)
}

fn row_of(
    file: &'static CsvFile,
    part: &JoinedFile,
    owner: &str,
    member: &FieldPart,
    number: usize,
) -> Option<PartRow> {
    let fields = part.members(file.kind);
    let mut id = format!("{owner}-{number}");
    let text = |path: &str| -> String {
        member.value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut cells = Vec::with_capacity(file.columns.len());
    for (header, name) in file.columns {
        let field = fields.iter().find(|field| field.name == *name);
        let value = member.value.get(*name);
        let cell = match (part.shape, *header) {
            (_, header) if header == part.owner => owner.to_owned(),
            (JoinedShape::Profile, "credentialType") => text("/credentials/0/type"),
            (JoinedShape::Profile, "username") => text("/credentials/0/username"),
            (JoinedShape::Link(column) | JoinedShape::TheLink(column), header)
                if header == column =>
            {
                member.key[0].clone()
            }
            (JoinedShape::Objective | JoinedShape::ObjectiveScore, "source") => {
                member.key[0].clone()
            }
            (JoinedShape::Objective | JoinedShape::ObjectiveScore, "learningObjectiveId") => {
                member.key[1].clone()
            }
            (JoinedShape::ObjectiveScore, header) => {
                let field = score_fields(part, file).find(|field| field.name == header);
                match (field, member.value.get(header)) {
                    (Some(field), Some(score)) => encode(field, score)?,
                    _ => String::new(),
                }
            }
            _ => match (field, value) {
                (Some(field), Some(value)) if field.name == USER_PROFILE => {
                    profile_guid(value.as_str()?).to_owned()
                }
                (Some(field), Some(value)) => encode(field, value)?,
                _ => String::new(),
            },
        };
        cells.push(cell);
    }
    if part.shape == JoinedShape::Profile {
        profile_guid(&member.key[0]).clone_into(&mut id);
    }
    Some(PartRow { of: 0, line: 0, id, deleted: false, cells })
}

/// Whether two values are equal, ignoring the types of references, which reading adds.
fn is_equal_but_types(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let is_reference = |o: &Object| o.contains_key("sourcedId");
            if is_reference(a) && is_reference(b) {
                return id_of(&Value::Object(a.clone())) == id_of(&Value::Object(b.clone()));
            }
            a.len() == b.len()
                && a.iter().all(|(key, value)| {
                    b.get(key).is_some_and(|other| is_equal_but_types(value, other))
                })
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal_but_types(a, b))
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::files;

    fn round_trip(name: &str, value: &Value) -> Option<Value> {
        let file = files::by_name(name).unwrap();
        let part = file.part.as_ref().unwrap();
        let rows = rows_of(file, part, "owner", value)?;
        assemble(file, part, None, &rows).ok()?.value
    }

    #[test]
    fn values_of_every_shape_are_read_back() {
        for (name, value) in [
            ("classResources", json!([{"sourcedId": "r1"}, {"sourcedId": "r2"}])),
            ("lineItemScoreScales", json!({"sourcedId": "s1"})),
            (
                "roles",
                json!([
                    {"roleType": "primary", "role": "student", "beginDate": "2026-01-01", "org": {"sourcedId": "o"}},
                    {"roleType": "secondary", "role": "aide", "org": {"sourcedId": "o"}, "userProfile": "urn:p"},
                ]),
            ),
            (
                "userProfiles",
                json!([{
                    "profileType": "t", "vendorId": "v", "profileId": "urn:lyceum:userProfile:p",
                    "credentials": [{"type": "c", "username": "u"}],
                }]),
            ),
            (
                "lineItemLearningObjectiveIds",
                json!([
                    {"source": "case", "learningObjectiveIds": ["a", "b"]},
                    {"source": "unknown", "learningObjectiveIds": ["c"]},
                ]),
            ),
            (
                "resultLearningObjectiveIds",
                json!([{"source": "case", "learningObjectiveResults": [
                    {"learningObjectiveId": "a", "score": 0.5, "textScore": "B"},
                    {"learningObjectiveId": "b"},
                ]}]),
            ),
        ] {
            assert_eq!(round_trip(name, &value).as_ref(), Some(&value), "{name}");
        }
    }

    #[test]
    fn fields_that_rows_cannot_express_stay_in_the_record() {
        for (name, value) in [
            ("classResources", json!([])),
            ("classResources", json!([{"sourcedId": "r1", "note": 1}])),
            ("roles", json!([{"roleType": "primary", "more": true}])),
            (
                "userProfiles",
                json!([{"profileId": "p", "credentials": [
                {"type": "a", "username": "b"}, {"type": "c", "username": "d"}]}]),
            ),
            ("userProfiles", json!([{"profileId": "p", "credentials": []}])),
            (
                "lineItemLearningObjectiveIds",
                json!([
                {"source": "case", "learningObjectiveIds": ["a"]},
                {"source": "case", "learningObjectiveIds": ["b"]}]),
            ),
            (
                "lineItemLearningObjectiveIds",
                json!([{"source": "case", "learningObjectiveIds": []}]),
            ),
        ] {
            assert_eq!(round_trip(name, &value), None, "{name} {value}");
        }
    }

    #[test]
    fn a_delta_changes_single_parts() {
        let file = files::by_name("roles").unwrap();
        let part = file.part.as_ref().unwrap();
        let before = json!([
            {"roleType": "primary", "role": "student", "org": {"sourcedId": "a", "type": "org"}},
            {"roleType": "secondary", "role": "aide", "org": {"sourcedId": "a", "type": "org"}},
        ]);
        let row = |deleted, role: &str, org: &str| PartRow {
            of: 0,
            line: 2,
            id: "x".into(),
            deleted,
            cells: ["u", "secondary", role, "", "", org, ""].map(str::to_owned).to_vec(),
        };
        let rows = [row(true, "aide", "a"), row(false, "student", "a"), row(false, "aide", "b")];
        let after = assemble(file, part, Some(&before), &rows).ok().unwrap();
        assert_eq!(
            after.value.unwrap(),
            json!([
                {"roleType": "secondary", "role": "student", "org": {"sourcedId": "a"}},
                {"roleType": "secondary", "role": "aide", "org": {"sourcedId": "b"}},
            ])
        );
        assert_eq!(after.origins, [("[0]".to_owned(), 1), ("[1]".to_owned(), 2)]);
    }
}
