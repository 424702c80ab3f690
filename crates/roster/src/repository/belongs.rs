//! The records that belong to the record of a path, as conditions on table `t`.

use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{Sql, Tx, dialect};
use serde_json::Value;

use super::reach::require_within;
use super::read::find;
use crate::collections::{ScopePath, ScopedCollection, named_by};
use crate::kind::{Field, RecordKind};
use crate::kinds::{CLASS, COURSE, LINE_ITEM, USER};
use crate::record::{Record, members};
use crate::rules::{ROLE_AT_ORG, role_at_org};

/// A scoped collection with the ids of its path: parameter names and values, in order.
#[derive(Clone, Debug)]
pub struct PathScope {
    /// The requested collection.
    pub scoped: ScopedCollection,
    /// `(parameter, id)` in the order of the path.
    pub ids: Vec<(&'static str, String)>,
}

impl PathScope {
    pub(super) fn last(&self) -> &str {
        &self.ids.last().expect("a scoped path names a record").1
    }

    fn first(&self) -> &str {
        &self.ids.first().expect("a scoped path names a record").1
    }
}

/// Refuses ids of nothing, of records outside of the reach, and of records that do not belong together. Errors:
/// `NotFound`.
pub(super) fn check(tx: &mut Tx<'_>, scope: &PathScope, reach: &Reach) -> Result<()> {
    for (parameter, id) in &scope.ids {
        let kind = named_by(parameter).expect("parameters of scoped paths name kinds");
        require_within(tx, kind, id, reach)?;
    }
    let (first, last) = (scope.first(), scope.last());
    match (scope.scoped.belongs, scope.ids.len()) {
        (ScopePath::ResultOfLineItemInClass, _) => points_to(tx, &LINE_ITEM, last, "class", first),
        (ScopePath::ResultOfStudentInClass, _) | (_, 1) => Ok(()),
        _ => points_to(tx, &CLASS, last, "school", first),
    }
}

fn points_to(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    id: &str,
    field: &str,
    target: &str,
) -> Result<()> {
    let at = kind.columns().position(|(f, _)| f.name == field).expect("references have columns");
    let points = find(tx, kind, id)?
        .map(|stored| Record::stored(kind, &stored.body, stored.extra.as_deref()))
        .transpose()?
        .is_some_and(|record| record.columns[at].as_deref() == Some(target));
    if points { Ok(()) } else { Err(Problem::not_found(kind.one, id)) }
}

/// The link that drives the list, if one does: rows come from it in the order of the list.
pub(super) fn driver(scope: &PathScope) -> Option<(String, String)> {
    match scope.scoped.belongs {
        ScopePath::ByLink(field) => Some((field.to_owned(), scope.last().to_owned())),
        ScopePath::ByRoleAt(role) => {
            Some((ROLE_AT_ORG.to_owned(), role_at_org(role, scope.last())))
        }
        _ => None,
    }
}

/// Appends the condition that a record belongs to the scope. `driven` says that the list is
/// driven by the scope's link.
pub(super) fn condition(
    tx: &mut Tx<'_>,
    sql: &mut Sql,
    scope: &PathScope,
    driven: bool,
) -> Result<()> {
    let id = scope.last();
    if let Some((field, value)) = driver(scope) {
        if driven {
            sql.push("TRUE");
        } else {
            sql.push("EXISTS (SELECT 1 FROM roster_link b WHERE b.field = ").bind(field.as_str());
            sql.push(" AND b.value = ").bind(value.as_str()).push(" AND b.owner = t.seq)");
        }
        return Ok(());
    }
    match scope.scoped.belongs {
        ScopePath::ByLink(_) | ScopePath::ByRoleAt(_) => unreachable!("these have a driver"),
        ScopePath::ByField(name) => {
            let kind = crate::collections::at(scope.scoped.of).expect("declared").kind;
            let field = kind.field(name).and_then(Field::column_name);
            sql.push(&format!("t.{} = ", field.expect("references have columns"))).bind(id)
        }
        ScopePath::Enrolled(role) => {
            sql.push("t.sourced_id IN (SELECT e.user_id FROM enrollments e WHERE e.class_id = ");
            sql.bind(id);
            in_role(sql, role)
        }
        ScopePath::ClassOf(role) => {
            sql.push("t.sourced_id IN (SELECT e.class_id FROM enrollments e WHERE e.user_id = ");
            sql.bind(id);
            in_role(sql, role)
        }
        ScopePath::CourseOfSchool => sql
            .push("(t.org_id = ")
            .bind(id)
            .push(" OR t.sourced_id IN (SELECT c.course_id FROM classes c WHERE c.school_id = ")
            .bind(id)
            .push("))"),
        ScopePath::SessionOfSchool => sql
            .push("(t.org_id = ")
            .bind(id)
            .push(
                " OR EXISTS (SELECT 1 FROM roster_link l JOIN classes c ON c.seq = l.owner WHERE ",
            )
            .push("l.field = 'class.terms' AND l.value = t.sourced_id AND c.school_id = ")
            .bind(id)
            .push("))"),
        ScopePath::GradingPeriodOf => sql.push("t.parent_id = ").bind(id),
        ScopePath::CategoryOfClass => sql
            .push("(t.sourced_id IN (SELECT i.category_id FROM line_items i WHERE i.class_id = ")
            .bind(id)
            .push(
                ") OR NOT EXISTS (SELECT 1 FROM line_items i WHERE i.category_id = t.sourced_id))",
            ),
        ScopePath::ResultOfClass => result_of_class(sql, id),
        ScopePath::ResultOfStudentInClass => {
            sql.push("t.student_id = ").bind(id).push(" AND ");
            result_of_class(sql, scope.first())
        }
        ScopePath::ResultOfLineItemInClass => sql.push("t.line_item_id = ").bind(id),
        ScopePath::ScoreScaleOfSchool => sql
            .push("t.class_id IN (SELECT c.sourced_id FROM classes c WHERE c.school_id = ")
            .bind(id)
            .push(")"),
        ScopePath::AgentOf => {
            let agents = named_ids(tx, &USER, id, "agents")?;
            among(sql, &agents)
        }
        ScopePath::ResourceOf => resources(tx, sql, scope)?,
    };
    Ok(())
}

fn in_role<'a>(sql: &'a mut Sql, role: Option<&str>) -> &'a mut Sql {
    if let Some(role) = role {
        sql.push(" AND e.role = ").bind(role);
    }
    sql.push(" AND e.status = 'active')")
}

fn result_of_class<'a>(sql: &'a mut Sql, class: &str) -> &'a mut Sql {
    sql.push("(t.class_id = ")
        .bind(class)
        .push(" OR t.line_item_id IN (SELECT i.sourced_id FROM line_items i WHERE i.class_id = ")
        .bind(class)
        .push("))")
}

/// The resources of a record; for a course also those of its components.
fn resources<'a>(tx: &mut Tx<'_>, sql: &'a mut Sql, scope: &PathScope) -> Result<&'a mut Sql> {
    let (parameter, id) = scope.ids.last().expect("a scoped path names a record");
    let kind = named_by(parameter).expect("parameters of scoped paths name kinds");
    let named = named_ids(tx, kind, id, "resources")?;
    sql.push("(");
    among(sql, &named);
    if kind.one == COURSE.one {
        sql.push(" OR t.sourced_id IN (SELECT r.resource_id FROM component_resources r ")
            .push("JOIN course_components c ON c.sourced_id = r.course_component_id ")
            .push("WHERE r.status = 'active' AND c.course_id = ")
            .bind(id.as_str())
            .push(")");
    }
    Ok(sql.push(")"))
}

/// The ids in a multi-valued reference of the record.
fn named_ids(tx: &mut Tx<'_>, kind: &RecordKind, id: &str, field: &str) -> Result<Vec<String>> {
    let Some(stored) = find(tx, kind, id)? else { return Ok(Vec::new()) };
    let object = members(&stored.body, None)?;
    let references = object.get(field).and_then(Value::as_array);
    Ok(references
        .into_iter()
        .flatten()
        .filter_map(|reference| Some(reference.get("sourcedId")?.as_str()?.to_owned()))
        .collect())
}

fn among<'a>(sql: &'a mut Sql, ids: &[String]) -> &'a mut Sql {
    let list = Value::from(ids).to_string();
    let placeholder = sql.placeholder(list.as_str());
    let is_among = dialect::is_one_of(sql.dialect, "t.sourced_id", &placeholder);
    sql.push(&is_among)
}
