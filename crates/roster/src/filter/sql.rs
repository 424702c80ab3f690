//! Writes the SQL of a bound filter. The record's table goes by `t`.

use lyceum_core::Result;
use lyceum_store::{Param, Sql, SqlDialect, dialect};

use super::bind::{BoundFilter, Clause, ListComparison, Operand, ValueLocation};
use lyceum_core::filter::FilterOperator;

/// Appends the condition of the filter.
pub(crate) fn compile(sql: &mut Sql, bound: &BoundFilter) -> Result<()> {
    match bound {
        BoundFilter::And(parts) => sql.joined(parts, " AND ", compile),
        BoundFilter::Or(parts) => sql.joined(parts, " OR ", compile),
        BoundFilter::Clause(clause) => compile_clause(sql, clause),
    }
}

/// The condition of the filter alone, for the store.
pub fn condition(store: SqlDialect, bound: &BoundFilter) -> Result<String> {
    let mut sql = Sql::new(store);
    compile(&mut sql, bound)?;
    Ok(sql.text)
}

fn compile_clause(sql: &mut Sql, clause: &Clause) -> Result<()> {
    match (&clause.location, &clause.operand) {
        (ValueLocation::List { .. }, Operand::Texts(values)) => return list(sql, clause, values),
        (ValueLocation::Column { name, folded, .. }, Operand::Text(text)) => {
            let column = format!("t.{name}");
            let expr = if *folded { format!("lower({column})") } else { column };
            sql.compare(&expr, clause.op, Param::Text(text.clone()));
        }
        (ValueLocation::Json { extra, path, folded }, operand) => {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let text = dialect::json_text(sql.dialect, source(*extra), &path)?;
            match operand {
                Operand::Number(number) => {
                    let expr = dialect::number(sql.dialect, &text);
                    sql.compare(&expr, clause.op, Param::Real(*number));
                }
                Operand::Text(value) => {
                    let expr = if *folded { format!("lower({text})") } else { text };
                    sql.compare(&expr, clause.op, Param::Text(value.clone()));
                }
                Operand::Texts(_) => unreachable!("scalars compare with one value"),
            }
        }
        _ => unreachable!("columns hold text, lists compare with lists"),
    }
    Ok(())
}

fn source(extra: bool) -> &'static str {
    if extra { "t.extra" } else { "t.body" }
}

/// `=` on a list of scalars: the same members, in any order. Elsewhere: one member is a value.
fn list(sql: &mut Sql, clause: &Clause, values: &[String]) -> Result<()> {
    let ValueLocation::List { extra, name, leaf, .. } = &clause.location else {
        unreachable!("only lists come here")
    };
    if clause.op == FilterOperator::NotEqual {
        sql.push("NOT ");
    }
    let whole = leaf.is_empty() && clause.op != FilterOperator::Contains;
    sql.push("(");
    if whole {
        let members = dialect::json_members(sql.dialect, source(*extra), &[name])?;
        let count = i64::try_from(values.len()).expect("a filter is short");
        sql.push(&format!("(SELECT count(*) FROM {members}) = ")).bind(count);
    }
    for (index, value) in values.iter().enumerate() {
        if whole {
            sql.push(" AND ");
        } else if index > 0 {
            sql.push(" OR ");
        }
        has_member(sql, clause, value)?;
    }
    sql.push(")");
    Ok(())
}

fn has_member(sql: &mut Sql, clause: &Clause, value: &str) -> Result<()> {
    let ValueLocation::List { link, extra, name, leaf, members } = &clause.location else {
        unreachable!("only lists come here")
    };
    if let Some(link) = link {
        sql.push("EXISTS (SELECT 1 FROM roster_link m WHERE m.field = ").bind(link.as_str());
        sql.push(" AND m.value = ").bind(value).push(" AND m.owner = t.seq)");
        return Ok(());
    }
    let from = dialect::json_members(sql.dialect, source(*extra), &[name])?;
    let member = match leaf.as_slice() {
        [] => "members.member".to_owned(),
        leaf => dialect::json_text(sql.dialect, "members.member", leaf)?,
    };
    let expr = match members {
        ListComparison::Exact => member,
        ListComparison::Folded | ListComparison::Grades => format!("lower({member})"),
    };
    sql.push(&format!("EXISTS (SELECT 1 FROM {from} WHERE {expr} = ")).bind(value).push(")");
    Ok(())
}
