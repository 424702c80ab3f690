//! The records that lie within a reach: the one rule, as a condition of statements.
//!
//! The condition of a record costs a few look-ups in `roster_org_below`, whatever the size of the roster is.

use std::collections::HashSet;

use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{Sql, Tx, dialect};

use super::read::find;
use super::references::require;
use super::walk::OrganizationWalk;
use crate::kind::{Field, FieldType, OrganizationPath, RecordKind};
use crate::kinds::{self, CLASS, USER};
use crate::record::StoredRecord;

/// The way in which a caller uses a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordUse {
    /// Reads it, or refers to it.
    See,
    /// Changes or deletes it. All organizations of the record must lie within the reach.
    Change,
}

/// Appends the condition that the record of table `alias` lies within the reach.
pub(super) fn condition(
    sql: &mut Sql,
    (kind, alias): (&'static RecordKind, &str),
    reach: &Reach,
    does: RecordUse,
) -> Result<()> {
    match reach {
        Reach::Everything => sql.push("TRUE"),
        // A teacher's classes are a part to look at.
        Reach::ClassesOf(_) if does == RecordUse::Change => sql.push("FALSE"),
        Reach::Organizations(_) | Reach::ClassesOf(_) => {
            return ReachCondition { reach, does }.of(sql, (kind, alias));
        }
    };
    Ok(())
}

/// Appends the condition that the record of the kind whose sourcedId is in the column lies within the reach.
pub fn refers_within(
    sql: &mut Sql,
    (kind, column): (&'static RecordKind, &str),
    reach: &Reach,
) -> Result<()> {
    if !reach.is_limited() {
        sql.push("TRUE");
        return Ok(());
    }
    sql.push(&format!("EXISTS (SELECT 1 FROM {} w WHERE w.sourced_id = {column} AND ", kind.table));
    condition(sql, (kind, "w"), reach, RecordUse::See)?;
    sql.push(")");
    Ok(())
}

/// The ids whose records lie within the reach.
pub fn ids_within(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    ids: &[&str],
    reach: &Reach,
    does: RecordUse,
) -> Result<HashSet<String>> {
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let mut sql = Sql::new(tx.dialect());
    let placeholder = sql.placeholder(list.as_str());
    let is_one = dialect::is_one_of(sql.dialect, "t.sourced_id", &placeholder);
    sql.push(&format!("SELECT t.sourced_id FROM {} t WHERE {is_one} AND ", kind.table));
    condition(&mut sql, (kind, "t"), reach, does)?;
    Ok(tx.all(&sql.text, &sql.values(), |row| row.string(0))?.into_iter().collect())
}

/// Calls `each` with the sourcedId and the e-mail address of each user within the reach. Under a limited reach it reads
/// only these users.
pub fn each_user_within(
    tx: &mut Tx<'_>,
    reach: &Reach,
    mut each: impl FnMut(&str, &str),
) -> Result<()> {
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT t.sourced_id, t.email FROM ");
    match reach {
        Reach::Everything => {
            sql.push("users t");
        }
        Reach::Organizations(_) => {
            let walk = OrganizationWalk::of(&USER, reach)?;
            let walk = walk.ok_or_else(|| Problem::internal("users belong to organizations"))?;
            sql.push("users t WHERE ");
            walk.within(&mut sql, None);
        }
        Reach::ClassesOf(teacher) => {
            sql.push("(SELECT CAST(").bind(teacher.as_str()).push(
                " AS TEXT) AS id UNION SELECT m.user_id FROM enrollments m WHERE m.status = 'active' AND ",
            );
            ReachCondition { reach, does: RecordUse::See }.own_class(&mut sql, "m.class_id")?;
            sql.push(") k JOIN users t ON t.sourced_id = k.id");
        }
    }
    tx.query(&sql.text, &sql.values(), |row| {
        each(row.text(0)?, row.opt_text(1)?.unwrap_or_default());
        Ok(true)
    })
}

/// Hands every record of the kind within the reach to `each`, in the order of their sourcedIds. Under a limited reach
/// it reads only these records, if an index leads to them.
pub fn each_within(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    reach: &Reach,
    mut each: impl FnMut(&str, Option<&str>) -> Result<()>,
) -> Result<()> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT t.body, t.extra FROM {} t WHERE ", kind.table));
    match OrganizationWalk::of(kind, reach)? {
        Some(walk) => walk.within(&mut sql, None),
        None => condition(&mut sql, (kind, "t"), reach, RecordUse::See)?,
    }
    sql.push(" ORDER BY t.sourced_id");
    tx.query(&sql.text, &sql.values(), |row| {
        each(row.text(0)?, row.opt_text(1)?)?;
        Ok(true)
    })
}

/// Whether the record of the kind with that sourcedId lies within the reach.
pub fn is_within(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    sourced_id: &str,
    reach: &Reach,
) -> Result<bool> {
    let see = RecordUse::See;
    Ok(!reach.is_limited() || !ids_within(tx, kind, &[sourced_id], reach, see)?.is_empty())
}

/// The record of the kind with that sourcedId if it lies within the reach, deleted ones included.
pub fn find_within(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    sourced_id: &str,
    reach: &Reach,
) -> Result<Option<StoredRecord>> {
    if !reach.is_limited() {
        return find(tx, kind, sourced_id);
    }
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT {} FROM {} t", StoredRecord::COLUMNS, kind.table));
    sql.push(" WHERE t.sourced_id = ").bind(sourced_id).push(" AND ");
    condition(&mut sql, (kind, "t"), reach, RecordUse::See)?;
    tx.query_one(&sql.text, &sql.values(), StoredRecord::read)
}

/// Refuses a path whose record does not exist or lies outside of the reach. Errors: `NotFound`.
pub fn require_within(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    sourced_id: &str,
    reach: &Reach,
) -> Result<()> {
    if !reach.is_limited() {
        return require(tx, kind, sourced_id);
    }
    match find_within(tx, kind, sourced_id, reach)? {
        Some(_) => Ok(()),
        None => Err(Problem::not_found(kind.one, sourced_id)),
    }
}

/// The condition for a reach that is limited.
#[derive(Clone, Copy)]
struct ReachCondition<'r> {
    reach: &'r Reach,
    does: RecordUse,
}

impl ReachCondition<'_> {
    fn of(self, sql: &mut Sql, (kind, t): (&'static RecordKind, &str)) -> Result<()> {
        match kind.organization {
            OrganizationPath::Itself => self.organization(sql, &format!("{t}.sourced_id")),
            OrganizationPath::School => match self.reach {
                Reach::ClassesOf(_) => {
                    let class = if *kind == CLASS { "sourced_id" } else { "class_id" };
                    self.own_class(sql, &format!("{t}.{class}"))
                }
                _ => self.organization(sql, &format!("{t}.school_id")),
            },
            OrganizationPath::Roles => self.user(sql, t),
            OrganizationPath::Course => self.course(sql, t),
            OrganizationPath::Through(field) => self.through(sql, (kind, t), field),
            OrganizationPath::ThroughIfAny(field) => {
                if self.does == RecordUse::See {
                    sql.push(&format!("({t}.{} IS NULL OR ", column(kind, field)));
                } else {
                    sql.push("(");
                }
                self.through(sql, (kind, t), field)?;
                sql.push(")");
                Ok(())
            }
            OrganizationPath::UserOfSameId => {
                self.exists(sql, (&USER, t), &format!("{t}.sourced_id"))
            }
            OrganizationPath::Shared => {
                sql.push(if self.does == RecordUse::See { "TRUE" } else { "FALSE" });
                Ok(())
            }
        }
    }

    /// The organization of the expression lies within the reach. For a teacher it is the school of an own class.
    fn organization(self, sql: &mut Sql, expression: &str) -> Result<()> {
        match self.reach {
            Reach::Everything => sql.push("TRUE"),
            Reach::Organizations(roots) => {
                let list = serde_json::to_string(roots).map_err(Problem::internal)?;
                let placeholder = sql.placeholder(list.as_str());
                let is_root = dialect::is_one_of(sql.dialect, "b.root", &placeholder);
                sql.push(&format!(
                    "EXISTS (SELECT 1 FROM roster_org_below b WHERE b.org = {expression} AND {is_root})"
                ))
            }
            Reach::ClassesOf(_) => {
                sql.push(&format!("{expression} IN (SELECT c.school_id FROM classes c WHERE "));
                self.own_class(sql, "c.sourced_id")?;
                sql.push(")")
            }
        };
        Ok(())
    }

    /// The class of the expression is one that the teacher teaches.
    fn own_class(self, sql: &mut Sql, expression: &str) -> Result<()> {
        let Reach::ClassesOf(teacher) = self.reach else {
            return Err(Problem::internal("only the reach of a teacher consists of classes"));
        };
        sql.push(&format!(
            "{expression} IN (SELECT e.class_id FROM enrollments e WHERE e.user_id = "
        ))
        .bind(teacher.as_str())
        .push(" AND e.role = 'teacher' AND e.status = 'active')");
        Ok(())
    }

    /// A user is seen if one of the roles is, and changed if all are.
    fn user(self, sql: &mut Sql, t: &str) -> Result<()> {
        if let Reach::ClassesOf(teacher) = self.reach {
            sql.push(&format!("({t}.sourced_id = ")).bind(teacher.as_str()).push(&format!(
                " OR {t}.sourced_id IN (SELECT m.user_id FROM enrollments m WHERE m.status = 'active' AND "
            ));
            self.own_class(sql, "m.class_id")?;
            sql.push("))");
            return Ok(());
        }
        let roles = dialect::json_members(sql.dialect, &format!("{t}.body"), &["roles"])?;
        let org = dialect::json_text(sql.dialect, "members.member", &["org", "sourcedId"])?;
        sql.push(&format!("EXISTS (SELECT 1 FROM {roles} WHERE "));
        self.organization(sql, &org)?;
        sql.push(")");
        if self.does == RecordUse::Change {
            sql.push(&format!(" AND NOT EXISTS (SELECT 1 FROM {roles} WHERE NOT "));
            self.organization(sql, &org)?;
            sql.push(&format!(") AND ({t}.primary_org_id IS NULL OR "));
            self.organization(sql, &format!("{t}.primary_org_id"))?;
            sql.push(")");
        }
        Ok(())
    }

    fn course(self, sql: &mut Sql, t: &str) -> Result<()> {
        let org = format!("{t}.org_id");
        if self.does == RecordUse::Change {
            return self.organization(sql, &org);
        }
        sql.push(&format!("({org} IS NULL OR "));
        if let Reach::Organizations(roots) = self.reach {
            self.organization(sql, &org)?;
            let list = serde_json::to_string(roots).map_err(Problem::internal)?;
            let placeholder = sql.placeholder(list.as_str());
            let is_below = dialect::is_one_of(sql.dialect, "b.org", &placeholder);
            sql.push(&format!(
                " OR EXISTS (SELECT 1 FROM roster_org_below b WHERE b.root = {org} AND {is_below}) OR "
            ));
        }
        sql.push(&format!(
            "EXISTS (SELECT 1 FROM classes k WHERE k.course_id = {t}.sourced_id AND "
        ));
        self.of(sql, (&CLASS, "k"))?;
        sql.push("))");
        Ok(())
    }

    fn through(
        self,
        sql: &mut Sql,
        (kind, t): (&'static RecordKind, &str),
        field: &str,
    ) -> Result<()> {
        let declared = kind.field(field).expect("the path names a field");
        let FieldType::Reference(target) = declared.ty else {
            return Err(Problem::internal("the path to an organization is a reference"));
        };
        let target = kinds::by_name(target).expect("references point to declared kinds");
        // A result of a student belongs to each school of the student.
        let does = if *target == USER { RecordUse::See } else { self.does };
        let of_target = ReachCondition { does, ..self };
        of_target.exists(sql, (target, t), &format!("{t}.{}", column(kind, field)))
    }

    /// The record of the target's kind with the sourcedId of the expression lies within the reach.
    fn exists(
        self,
        sql: &mut Sql,
        (target, t): (&'static RecordKind, &str),
        expression: &str,
    ) -> Result<()> {
        let inner = format!("{t}x");
        sql.push(&format!(
            "EXISTS (SELECT 1 FROM {} {inner} WHERE {inner}.sourced_id = {expression} AND ",
            target.table
        ));
        self.of(sql, (target, &inner))?;
        sql.push(")");
        Ok(())
    }
}

fn column(kind: &RecordKind, field: &str) -> String {
    kind.field(field).and_then(Field::column_name).expect("single references have columns")
}
