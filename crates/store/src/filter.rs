//! Filters of lists. [`bind`] looks the fields of a filter up and reads its values; [`BoundFilter::push_to`] writes the
//! SQL, in which the table goes by `t`. This module alone decides which values and operators a type of field takes, and
//! how they compare.

use lyceum_core::filter::{FilterExpression, FilterOperator, FilterValue, refused};
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Result, message};

use crate::{Param, Sql, dialect};

/// A filter whose fields are known.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundFilter {
    /// All must hold.
    And(Vec<BoundFilter>),
    /// At least one must hold.
    Or(Vec<BoundFilter>),
    /// A comparison.
    Clause(Clause),
}

/// A comparison of a field with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The field.
    pub location: ValueLocation,
    /// Whether texts compare without regard to ASCII case. The operand is in lower case then, and always for `~`.
    pub is_folded: bool,
    /// The comparison.
    pub op: FilterOperator,
    /// The value, in the form in which the field's values compare.
    pub operand: Operand,
}

/// Where a field's value is found.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueLocation {
    /// A column.
    Column {
        /// Its name.
        name: String,
        /// Whether an index finds the few records that have a value.
        indexed: bool,
    },
    /// A scalar inside a column with JSON.
    Json {
        /// The name of the column.
        column: &'static str,
        /// The names that lead to it.
        path: Vec<String>,
    },
    /// A list.
    List(ListLocation),
}

/// A list in a column with JSON: of scalars, or of objects of which one member counts.
#[derive(Clone, Debug, PartialEq)]
pub struct ListLocation {
    /// The name of the column.
    pub column: &'static str,
    /// The name of the list.
    pub name: &'static str,
    /// The member of its objects that counts, as a path.
    pub leaf: Vec<&'static str>,
    /// The rows with its members, if there are any.
    pub rows: Option<MemberRows>,
}

/// Rows with the members of a list, in a table with the columns `field`, `value` and `owner`, which is `t.seq`.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberRows {
    /// The table.
    pub table: &'static str,
    /// The `field` of the rows.
    pub field: String,
}

/// A value to compare with.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// A whole number, for a column of whole numbers.
    WholeNumber(i64),
    /// All members of a list, in any order.
    Members(Vec<String>),
    /// Values of which a list has at least one.
    OneOf(Vec<String>),
}

/// A field that filters can name.
#[derive(Clone, Debug)]
pub struct FilterField {
    /// Where its value is found.
    pub location: ValueLocation,
    /// The type of its values.
    pub ty: ValueType,
}

/// The type of a field's values, which decides how they compare.
#[derive(Clone, Copy, Debug)]
pub enum ValueType {
    /// Texts that compare exactly; `~` finds their parts without regard to ASCII case.
    Exact,
    /// Texts that compare without regard to ASCII case.
    Folded,
    /// Numbers in JSON.
    Number,
    /// A column of whole numbers.
    WholeNumber,
    /// Dates. A part of one is enough for `~`.
    Date,
    /// Instants.
    Instant {
        /// Whether `~` finds parts of their texts.
        has_parts: bool,
    },
    /// Values of any type: a value without quotes is a number, all others compare as [`ValueType::Folded`].
    Any,
    /// The members of a list.
    List {
        /// The values in the text of a clause, in the form in which members compare.
        values: fn(&str) -> Vec<String>,
        /// Whether members compare without regard to ASCII case.
        is_folded: bool,
        /// Whether `=` compares all members. Otherwise, one is enough.
        is_whole: bool,
    },
}

impl FilterField {
    /// A column without an index.
    pub fn column(name: &str, ty: ValueType) -> Self {
        Self { location: ValueLocation::Column { name: name.to_owned(), indexed: false }, ty }
    }

    /// A member of the JSON in a column.
    pub fn json(column: &'static str, path: &[&str], ty: ValueType) -> Self {
        let path = path.iter().map(|name| (*name).to_owned()).collect();
        Self { location: ValueLocation::Json { column, path }, ty }
    }

    /// A member that nobody declared, in the JSON of a column. Its `path` has dots between the names. Errors: `BadFilter`
    /// for names that SQL cannot contain.
    pub fn undeclared(column: &'static str, path: &str) -> Result<Self> {
        let is_plain = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-:".contains(&b))
        };
        let names: Vec<&str> = path.split('.').collect();
        if names.iter().all(|name| is_plain(name)) {
            return Ok(Self::json(column, &names, ValueType::Any));
        }
        Err(refused(message!(
            "'{path}' cannot be filtered; a name may contain letters, digits, _ - and :"
        )))
    }
}

/// Binds a filter to fields. Errors: `BadFilter` for an operator or a value that does not fit a field, and those of
/// `field`.
pub fn bind(
    expr: &FilterExpression,
    field: &dyn Fn(&str) -> Result<FilterField>,
) -> Result<BoundFilter> {
    let all = |parts: &[FilterExpression]| -> Result<_> {
        parts.iter().map(|part| bind(part, field)).collect()
    };
    Ok(match expr {
        FilterExpression::And(parts) => BoundFilter::And(all(parts)?),
        FilterExpression::Or(parts) => BoundFilter::Or(all(parts)?),
        FilterExpression::Clause(name, op, value) => {
            BoundFilter::Clause(field(name)?.compared(name, *op, value)?)
        }
    })
}

impl FilterField {
    fn compared(self, name: &str, op: FilterOperator, value: &FilterValue) -> Result<Clause> {
        let text = &value.text;
        let is_part = op == FilterOperator::Contains;
        let wrong =
            |what: &str| refused(message!("'{name}' must be compared with {what} (got '{text}')"));
        let is_folded = match self.ty {
            ValueType::Folded | ValueType::Any => true,
            ValueType::List { is_folded, .. } => is_folded,
            _ => false,
        };
        let operand = match self.ty {
            ValueType::Number | ValueType::WholeNumber if is_part => {
                return Err(refused(message!(
                    "'{name}' is a number, and ~ works only on texts and lists; use = != > >= < <="
                )));
            }
            ValueType::Instant { has_parts: false } if is_part => {
                return Err(refused(message!(
                    "'{name}' is an instant, and ~ works only on texts and lists; use = != > >= < <="
                )));
            }
            ValueType::Number => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Operand::Number(number),
                _ => return Err(wrong("a number")),
            },
            ValueType::WholeNumber => {
                Operand::WholeNumber(text.parse().map_err(|_| wrong("a whole number"))?)
            }
            ValueType::Date if !is_part => {
                Operand::Text(date(text).ok_or_else(|| wrong("a date such as 2026-01-15"))?)
            }
            ValueType::Instant { .. } if !is_part => {
                let instant: Timestamp =
                    text.parse().map_err(|_| wrong("an instant such as 2026-01-15T08:00:00Z"))?;
                Operand::Text(instant.to_string())
            }
            ValueType::List { values, is_whole, .. } => match op {
                FilterOperator::Contains => Operand::OneOf(values(text)),
                FilterOperator::Equal | FilterOperator::NotEqual => match is_whole {
                    true => Operand::Members(values(text)),
                    false => Operand::OneOf(values(text)),
                },
                FilterOperator::Greater
                | FilterOperator::GreaterOrEqual
                | FilterOperator::Less
                | FilterOperator::LessOrEqual => {
                    return Err(refused(message!(
                        "'{name}' is a list, which has no order; use = != or ~"
                    )));
                }
            },
            ValueType::Any if !value.quoted && !is_part => match text.parse() {
                Ok(number) => Operand::Number(number),
                Err(_) => Operand::Text(text.to_ascii_lowercase()),
            },
            _ if is_folded || is_part => Operand::Text(text.to_ascii_lowercase()),
            _ => Operand::Text(text.clone()),
        };
        Ok(Clause { location: self.location, is_folded, op, operand })
    }
}

fn date(text: &str) -> Option<String> {
    match parse_date(text) {
        Some(date) => Some(date.to_string()),
        // A day compares with an instant as its midnight; dates have no finer grain.
        None => text.parse::<Timestamp>().ok().map(|instant| instant.date().to_string()),
    }
}

impl BoundFilter {
    /// Appends the condition to a statement.
    pub fn push_to(&self, sql: &mut Sql) -> Result<()> {
        match self {
            Self::And(parts) => sql.joined(parts, " AND ", |sql, part| part.push_to(sql)),
            Self::Or(parts) => sql.joined(parts, " OR ", |sql, part| part.push_to(sql)),
            Self::Clause(clause) => clause.push_to(sql),
        }
    }
}

impl Clause {
    fn push_to(&self, sql: &mut Sql) -> Result<()> {
        let expr = match &self.location {
            ValueLocation::Column { name, .. } => format!("t.{name}"),
            ValueLocation::Json { column, path } => {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                dialect::json_text(sql.dialect, column, &path)?
            }
            ValueLocation::List(list) => return self.push_list_to(sql, list),
        };
        match &self.operand {
            Operand::Text(text) if self.is_folded => {
                compare(sql, &format!("lower({expr})"), self.op, text.as_str());
            }
            Operand::Text(text) => compare(sql, &expr, self.op, text.as_str()),
            Operand::Number(number) => {
                let expr = dialect::number(sql.dialect, &expr);
                compare(sql, &expr, self.op, Param::Real(*number));
            }
            Operand::WholeNumber(number) => compare(sql, &expr, self.op, *number),
            Operand::Members(_) | Operand::OneOf(_) => {
                unreachable!("only lists compare with several values")
            }
        }
        Ok(())
    }

    fn push_list_to(&self, sql: &mut Sql, list: &ListLocation) -> Result<()> {
        let (values, is_whole) = match &self.operand {
            Operand::Members(values) => (values, true),
            Operand::OneOf(values) => (values, false),
            _ => unreachable!("lists compare with several values"),
        };
        if self.op == FilterOperator::NotEqual {
            sql.push("NOT ");
        }
        sql.push("(");
        if is_whole {
            let members = dialect::json_members(sql.dialect, list.column, &[list.name])?;
            let count = i64::try_from(values.len()).expect("a filter is short");
            sql.push(&format!("(SELECT count(*) FROM {members}) = ")).bind(count);
        }
        for (index, value) in values.iter().enumerate() {
            if is_whole {
                sql.push(" AND ");
            } else if index > 0 {
                sql.push(" OR ");
            }
            list.push_member_to(sql, value, self.is_folded)?;
        }
        sql.push(")");
        Ok(())
    }
}

impl ListLocation {
    /// Appends the condition that a member is the value.
    fn push_member_to(&self, sql: &mut Sql, value: &str, is_folded: bool) -> Result<()> {
        let Self { column, name, leaf, rows } = self;
        if let Some(MemberRows { table, field }) = rows {
            sql.push(&format!("EXISTS (SELECT 1 FROM {table} m WHERE m.field = "));
            sql.bind(field.as_str()).push(" AND m.value = ").bind(value);
            sql.push(" AND m.owner = t.seq)");
            return Ok(());
        }
        let from = dialect::json_members(sql.dialect, column, &[name])?;
        let member = match leaf.as_slice() {
            [] => "members.member".to_owned(),
            leaf => dialect::json_text(sql.dialect, "members.member", leaf)?,
        };
        let expr = if is_folded { format!("lower({member})") } else { member };
        sql.push(&format!("EXISTS (SELECT 1 FROM {from} WHERE {expr} = ")).bind(value).push(")");
        Ok(())
    }
}

/// Appends a comparison of an expression with a value. `!=` is the complement of `=`: it holds where there is no value
/// (docs/decisions/006).
fn compare(sql: &mut Sql, expr: &str, op: FilterOperator, param: impl Into<Param>) {
    let sign = match op {
        FilterOperator::Contains => {
            let placeholder = sql.placeholder(param);
            let contains = dialect::contains(sql.dialect, expr, &placeholder);
            sql.push(&contains);
            return;
        }
        FilterOperator::NotEqual => {
            sql.push(&format!("({expr} IS NULL OR {expr} <> ")).bind(param).push(")");
            return;
        }
        FilterOperator::Equal => "=",
        FilterOperator::Greater => ">",
        FilterOperator::GreaterOrEqual => ">=",
        FilterOperator::Less => "<",
        FilterOperator::LessOrEqual => "<=",
    };
    sql.push(&format!("{expr} {sign} ")).bind(param);
}
