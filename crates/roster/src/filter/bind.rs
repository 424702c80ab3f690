//! Looks the fields of a filter up in a kind's declaration.

use lyceum_core::Result;
use lyceum_core::time::{Timestamp, parse_date};

use crate::grade;
use crate::kind::{Field, FieldType, RecordKind};
use lyceum_core::filter::{FilterExpression, FilterOperator, FilterValue, refused};

/// A filter whose fields are known.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundFilter {
    /// All must hold.
    And(Vec<BoundFilter>),
    /// One must hold.
    Or(Vec<BoundFilter>),
    /// A comparison.
    Clause(Clause),
}

/// A comparison of a field with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The field.
    pub location: ValueLocation,
    /// The comparison.
    pub op: FilterOperator,
    /// The value, in the form in which the field's values compare.
    pub operand: Operand,
}

/// Where a field's value is found.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueLocation {
    /// A column. Texts of `folded` ones compare without regard to ASCII case.
    Column {
        /// Its name.
        name: String,
        /// Whether ASCII case is ignored.
        folded: bool,
        /// Whether an index finds the few records that have a value.
        indexed: bool,
    },
    /// A scalar inside the record's JSON.
    Json {
        /// Whether it stands among the platform's members.
        extra: bool,
        /// The names that lead to it.
        path: Vec<String>,
        /// Whether ASCII case is ignored.
        folded: bool,
    },
    /// A list: of scalars, or of objects of which one member counts.
    List {
        /// The `roster_link.field` that holds its members, if they are linked.
        link: Option<String>,
        /// Whether it stands among the platform's members.
        extra: bool,
        /// The name of the list.
        name: &'static str,
        /// The member of its objects that counts, as a path.
        leaf: Vec<&'static str>,
        /// The comparison of its members.
        members: ListComparison,
    },
}

/// The comparison of a list's members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListComparison {
    /// As they are.
    Exact,
    /// Without regard to ASCII case.
    Folded,
    /// As grades, by value.
    Grades,
}

/// A value to compare with.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// Text, already folded where the place is.
    Text(String),
    /// A number.
    Number(f64),
    /// The values of a comma-separated list.
    Texts(Vec<String>),
}

/// Binds a filter to a kind. Errors: `BadFilter` naming the field and what could stand there.
pub fn bind(kind: &'static RecordKind, expr: &FilterExpression) -> Result<BoundFilter> {
    Ok(match expr {
        FilterExpression::And(parts) => BoundFilter::And(all(kind, parts)?),
        FilterExpression::Or(parts) => BoundFilter::Or(all(kind, parts)?),
        FilterExpression::Clause(name, op, literal) => {
            BoundFilter::Clause(clause(kind, name, *op, literal)?)
        }
    })
}

fn all(kind: &'static RecordKind, parts: &[FilterExpression]) -> Result<Vec<BoundFilter>> {
    parts.iter().map(|part| bind(kind, part)).collect()
}

/// Whether the filter names one of the fields at any place.
pub(crate) fn names(expr: &FilterExpression, fields: &[&str]) -> bool {
    match expr {
        FilterExpression::And(parts) | FilterExpression::Or(parts) => {
            parts.iter().any(|part| names(part, fields))
        }
        FilterExpression::Clause(name, _, _) => fields.contains(&name.as_str()),
    }
}

fn clause(
    kind: &'static RecordKind,
    name: &str,
    op: FilterOperator,
    literal: &FilterValue,
) -> Result<Clause> {
    match name {
        "sourcedId" => {
            return scalar(column("sourced_id", false, true), FieldType::Uri, name, op, literal);
        }
        "status" => {
            return scalar(column("status", false, false), FieldType::Uri, name, op, literal);
        }
        "dateLastModified" => {
            let location = column("date_last_modified", false, true);
            return scalar(location, FieldType::Instant, name, op, literal);
        }
        _ => {}
    }
    // OneRoster 1.1 had one role a user; clients still filter by it.
    let name = if (kind.one, name) == ("user", "role") { "roles.role" } else { name };
    if let Some(path) = name.strip_prefix("metadata.") {
        return free(path, op, literal);
    }
    let (head, rest) = name.split_once('.').unwrap_or((name, ""));
    if let Some(field) = kind.field(head) {
        return declared(kind, field, rest, name, op, literal);
    }
    // The published guide flattens references: `userSourcedId` is `user.sourcedId`.
    if let Some(field) = head.strip_suffix("SourcedId").and_then(|head| kind.field(head)) {
        return declared(kind, field, "sourcedId", name, op, literal);
    }
    Err(unknown(kind, name))
}

fn declared(
    kind: &'static RecordKind,
    field: &'static Field,
    rest: &str,
    full: &str,
    op: FilterOperator,
    literal: &FilterValue,
) -> Result<Clause> {
    let link = format!("{}.{}", kind.one, field.name);
    let list = |link: Option<String>, leaf: Vec<&'static str>, how| {
        let location = ValueLocation::List {
            link,
            extra: field.platform,
            name: field.name,
            leaf,
            members: how,
        };
        members(location, how, full, op, literal)
    };
    match (field.ty, rest) {
        (FieldType::Secret, _) => Err(unknown(kind, full)),
        (FieldType::Reference(target), "sourcedId") => {
            // Whole districts may share an organization or a session, so such a filter may find many rows.
            let is_quick = !matches!(target, "org" | "academicSession");
            let name = field.column_name().expect("references have columns");
            let location = column(&name, false, is_quick);
            scalar(location, FieldType::Uri, full, op, literal)
        }
        (FieldType::References(_), "sourcedId") => {
            list(Some(link), vec!["sourcedId"], ListComparison::Exact)
        }
        (FieldType::Texts, "") => {
            list(field.is_indexed().then_some(link), vec![], ListComparison::Folded)
        }
        (FieldType::Grades, "") => {
            list(field.is_indexed().then_some(link), vec![], ListComparison::Grades)
        }
        (FieldType::WordList(_), "") => list(None, vec![], ListComparison::Exact),
        (FieldType::Objects(fields), rest) => {
            let (leaf, below) = rest.split_once('.').unwrap_or((rest, ""));
            let Some(leaf) = fields.iter().find(|field| field.name == leaf) else {
                return Err(unknown(kind, full));
            };
            let linked = |how, path| {
                list(leaf.is_indexed().then(|| format!("{link}.{}", leaf.name)), path, how)
            };
            match (leaf.ty, below) {
                (FieldType::Reference(_), "sourcedId") => {
                    linked(ListComparison::Exact, vec![leaf.name, "sourcedId"])
                }
                (FieldType::Text, "") => linked(ListComparison::Folded, vec![leaf.name]),
                (FieldType::Uri | FieldType::Word(_) | FieldType::Date | FieldType::Flag, "") => {
                    linked(ListComparison::Exact, vec![leaf.name])
                }
                _ => Err(unknown(kind, full)),
            }
        }
        (FieldType::Reference(_) | FieldType::References(_) | FieldType::Json, _) => {
            Err(refused(format!("'{full}' cannot be filtered; use '{}.sourcedId'", field.name)))
        }
        (ty, "") => {
            let folded = matches!(ty, FieldType::Text);
            let location = match field.column_name() {
                Some(name) => column(&name, folded, field.is_indexed()),
                None => ValueLocation::Json {
                    extra: field.platform,
                    path: vec![field.name.to_owned()],
                    folded,
                },
            };
            scalar(location, ty, full, op, literal)
        }
        _ => Err(unknown(kind, full)),
    }
}

fn column(name: &str, folded: bool, indexed: bool) -> ValueLocation {
    ValueLocation::Column { name: name.to_owned(), folded, indexed }
}

/// A scalar of a declared type: the value must be one of that type.
fn scalar(
    location: ValueLocation,
    ty: FieldType,
    name: &str,
    op: FilterOperator,
    literal: &FilterValue,
) -> Result<Clause> {
    let text = &literal.text;
    let wrong =
        |what: &str| Err(refused(format!("'{name}' must be compared with {what} (got '{text}')")));
    let operand = match ty {
        FieldType::Number | FieldType::Integer if op == FilterOperator::Contains => {
            return Err(refused(format!(
                "'{name}' is a number, and ~ works only on texts and lists; use = != > >= < <="
            )));
        }
        FieldType::Number | FieldType::Integer => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Operand::Number(number),
            _ => return wrong("a number"),
        },
        // A part of a date is enough for `contains`.
        FieldType::Date | FieldType::Instant if op == FilterOperator::Contains => {
            Operand::Text(text.clone())
        }
        FieldType::Date => match date(text) {
            Some(text) => Operand::Text(text),
            None => return wrong("a date such as 2026-01-15"),
        },
        FieldType::Instant => match text.parse::<Timestamp>() {
            Ok(instant) => Operand::Text(instant.to_string()),
            Err(_) => return wrong("an instant such as 2026-01-15T08:00:00Z"),
        },
        FieldType::Text => Operand::Text(text.to_ascii_lowercase()),
        _ => Operand::Text(text.clone()),
    };
    Ok(Clause { location, op, operand })
}

fn date(text: &str) -> Option<String> {
    match parse_date(text) {
        Some(date) => Some(date.to_string()),
        // A day compares with an instant as its midnight; dates have no finer grain.
        None => text.parse::<Timestamp>().ok().map(|instant| instant.date().to_string()),
    }
}

fn members(
    location: ValueLocation,
    how: ListComparison,
    name: &str,
    op: FilterOperator,
    literal: &FilterValue,
) -> Result<Clause> {
    if matches!(
        op,
        FilterOperator::Greater
            | FilterOperator::GreaterOrEqual
            | FilterOperator::Less
            | FilterOperator::LessOrEqual
    ) {
        return Err(refused(format!("'{name}' is a list, which has no order; use = != or ~")));
    }
    let fold = |text: &str| match how {
        ListComparison::Exact => text.to_owned(),
        ListComparison::Folded => text.to_ascii_lowercase(),
        ListComparison::Grades => grade::comparable(text),
    };
    let values = literal.text.split(',').map(|part| fold(part.trim())).collect();
    Ok(Clause { location, op, operand: Operand::Texts(values) })
}

/// A field inside `metadata`: a value without quotes compares as a number or boolean.
fn free(path: &str, op: FilterOperator, literal: &FilterValue) -> Result<Clause> {
    let mut names = vec!["metadata".to_owned()];
    for name in path.split('.') {
        let plain = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-:".contains(&b));
        if !plain {
            return Err(refused(format!(
                "'metadata.{path}' cannot be filtered; a name may contain letters, digits, _ - \
                 and :"
            )));
        }
        names.push(name.to_owned());
    }
    let number = (!literal.quoted).then(|| literal.text.parse::<f64>().ok()).flatten();
    let operand = match number {
        Some(number) if op != FilterOperator::Contains => Operand::Number(number),
        _ => Operand::Text(literal.text.to_ascii_lowercase()),
    };
    Ok(Clause {
        location: ValueLocation::Json { extra: false, path: names, folded: true },
        op,
        operand,
    })
}

fn unknown(kind: &RecordKind, name: &str) -> lyceum_core::Problem {
    let known: Vec<&str> = ["sourcedId", "status", "dateLastModified", "metadata.…"]
        .into_iter()
        .chain(kind.fields.iter().filter(|f| !matches!(f.ty, FieldType::Secret)).map(|f| f.name))
        .collect();
    refused(format!("{} has no field '{name}'; it has {}", kind.one, known.join(", ")))
}
