//! Filters and orders of lists: the members that can be named, and their SQL.

use lyceum_core::filter::{FilterExpression, FilterOperator, FilterValue, refused};
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Problem, ProblemKind, Result};
use lyceum_store::{Param, Sql, SqlDialect, dialect};

use crate::class::{Class, Type};

/// Whether a filter can be compiled. Errors: `BadFilter` for unknown members and values that do not
/// fit them.
pub(crate) fn check(class: &'static Class, expr: &FilterExpression) -> Result<()> {
    // What one store compiles, the other does, too.
    compile(&mut Sql::new(SqlDialect::Sqlite), class, expr)
}

/// Appends the condition. The table goes by `t`.
pub(super) fn compile(sql: &mut Sql, class: &'static Class, expr: &FilterExpression) -> Result<()> {
    match expr {
        FilterExpression::And(parts) => {
            sql.joined(parts, " AND ", |sql, part| compile(sql, class, part))
        }
        FilterExpression::Or(parts) => {
            sql.joined(parts, " OR ", |sql, part| compile(sql, class, part))
        }
        FilterExpression::Clause(name, op, literal) => clause(sql, class, name, *op, literal),
    }
}

/// The name as the class has it.
fn case_name(name: &str) -> &str {
    if name == "sourcedId" { "identifier" } else { name }
}

fn clause(
    sql: &mut Sql,
    class: &'static Class,
    name: &str,
    op: FilterOperator,
    literal: &FilterValue,
) -> Result<()> {
    let text = &literal.text;
    let path: Vec<&str> = name.split('.').map(case_name).collect();
    let ty = class.field(path[0]).map(|field| field.ty);
    match (ty, path.as_slice()) {
        (Some(Type::Uuid), ["identifier"]) => sql.compare("t.id", op, text.as_str()),
        (Some(Type::Instant), ["lastChangeDateTime"]) if op != FilterOperator::Contains => {
            let instant: Timestamp = text.parse().map_err(|_| {
                refused(format!(
                    "'{name}' must be compared with an instant such as 2026-01-15T08:00:00Z (got \
                     '{text}')"
                ))
            })?;
            sql.compare("t.changed", op, Param::Text(instant.to_string()));
        }
        (Some(Type::Text | Type::Uri | Type::Date | Type::Word(..)), [member]) => {
            let member = dialect::json_text(sql.dialect, "t.body", &[member])?;
            sql.compare(&format!("lower({member})"), op, text.to_ascii_lowercase().as_str());
        }
        (Some(Type::Integer), [member]) if op != FilterOperator::Contains => {
            let number = text.parse::<f64>();
            let number = number.map_err(|_| {
                refused(format!("'{name}' must be compared with a number (got '{text}')"))
            })?;
            let member = dialect::json_text(sql.dialect, "t.body", &[member])?;
            let member = dialect::number(sql.dialect, &member);
            sql.compare(&member, op, Param::Real(number));
        }
        (Some(Type::Object(inner)), [outer, member]) if inner.field(member).is_some() => {
            let member = dialect::json_text(sql.dialect, "t.body", &[outer, member])?;
            sql.compare(&format!("lower({member})"), op, text.to_ascii_lowercase().as_str());
        }
        (Some(Type::Texts), [list])
            if matches!(
                op,
                FilterOperator::Equal | FilterOperator::NotEqual | FilterOperator::Contains
            ) =>
        {
            let members = dialect::json_members(sql.dialect, "t.body", &[list])?;
            let not = if op == FilterOperator::NotEqual { "NOT " } else { "" };
            sql.push(&format!(
                "{not}EXISTS (SELECT 1 FROM {members} WHERE lower(members.member) = "
            ));
            sql.bind(text.to_ascii_lowercase().as_str()).push(")");
        }
        (Some(_), _) => {
            return Err(refused(format!("'{name}' cannot be compared with this operator")));
        }
        (None, _) => {
            let names: Vec<&str> = class.fields.iter().map(|field| field.name).collect();
            let names = names.join(", ");
            return Err(refused(format!("there is no member '{name}'; the members are {names}")));
        }
    }
    Ok(())
}

/// The SQL that orders a list by a member. Errors: `BadSelection` for a member by which lists cannot be ordered.
pub(super) fn order(sql: SqlDialect, class: &'static Class, name: &str) -> Result<String> {
    match (case_name(name), class.field(case_name(name)).map(|field| field.ty)) {
        ("identifier", _) => Ok("t.id".to_owned()),
        ("lastChangeDateTime", _) => Ok("t.changed".to_owned()),
        (member, Some(Type::Text | Type::Uri | Type::Date | Type::Word(..))) => {
            // A missing member is first in both stores.
            Ok(format!("COALESCE({}, '')", dialect::json_text(sql, "t.body", &[member])?))
        }
        _ => Err(Problem {
            details: vec![Detail {
                path: "sort".to_owned(),
                message: format!("'{name}' cannot be used to sort a {}", class.name),
            }],
            ..Problem::new(
                ProblemKind::BadSelection,
                format!(
                    "the parameter 'sort' must name a member with text ('{name}' cannot be used \
                     to sort)"
                ),
            )
        }),
    }
}
