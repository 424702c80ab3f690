//! The members of projects.

use lyceum_core::Result;
use lyceum_store::Tx;

/// Makes a person a member of a project; one who is stays one.
pub fn join(tx: &mut Tx<'_>, project: &str, person: &str) -> Result<()> {
    let sql = "INSERT INTO project_members (project, person) VALUES ($1, $2) \
               ON CONFLICT (project, person) DO NOTHING";
    tx.send(sql, &[project.into(), person.into()])?;
    Ok(())
}

/// Ends a person's membership, if there is one.
pub fn leave(tx: &mut Tx<'_>, project: &str, person: &str) -> Result<()> {
    let sql = "DELETE FROM project_members WHERE project = $1 AND person = $2";
    tx.send(sql, &[project.into(), person.into()])?;
    Ok(())
}

/// The slugs of the projects that a person is a member of.
pub(crate) fn of_person(tx: &mut Tx<'_>, person: &str) -> Result<Vec<String>> {
    let sql = "SELECT project FROM project_members WHERE person = $1 ORDER BY project";
    tx.all(sql, &[person.into()], |row| row.string(0))
}

/// Whether a person is a member of a project.
pub(crate) fn is_member(tx: &mut Tx<'_>, project: &str, person: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM project_members WHERE project = $1 AND person = $2";
    Ok(tx.query_one(sql, &[project.into(), person.into()], |_| Ok(()))?.is_some())
}

/// Whether anybody is a member of a project.
pub fn has_members(tx: &mut Tx<'_>, project: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM project_members WHERE project = $1 LIMIT 1";
    Ok(tx.query_one(sql, &[project.into()], |_| Ok(()))?.is_some())
}
