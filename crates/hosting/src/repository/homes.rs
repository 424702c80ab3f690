//! The nodes that have the files of projects.

use lyceum_core::Result;
use lyceum_project::Uses;
use lyceum_store::{Tx, dialect};

use super::nodes::KnownNode;
use super::{json_in, json_of, leases};

/// The node that holds a project's files.
#[derive(Clone, Debug)]
pub(crate) struct HomeNode {
    pub(crate) node: KnownNode,
    pub(crate) mark: String,
    /// The files that must exist.
    pub(crate) kept: Uses,
    /// Rises with each node that becomes the holder.
    pub(crate) token: i64,
    /// The epoch that the next holder must find in the replicas: the token, unless the node has taken the project and has
    /// not acknowledged anything yet.
    pub(crate) replicated_token: i64,
    /// Whether the lease of the node has not ended, by the clock of the database.
    pub(crate) has_lease: bool,
    /// The end of the node's lease, which changes with each renewal; 0 if the node has ended it.
    pub(crate) lease_until_ms: i64,
}

/// The location of a project's files, as recorded in the database.
#[derive(Clone, Debug)]
pub(crate) struct FilesLocation {
    /// The version that is served.
    pub(crate) version: i64,
    /// The name of its database file, unless it is the first one.
    pub(crate) database: Option<String>,
    /// `None` before the first deploy.
    pub(crate) home: Option<HomeNode>,
}

/// The location of a project's files; `None` if the project does not exist.
pub(crate) fn find(tx: &mut Tx<'_>, slug: &str) -> Result<Option<FilesLocation>> {
    let sql = format!(
        "SELECT p.active, p.database, h.node, h.mark, h.kept, n.name, n.address, n.generation, h.token, \
         CASE WHEN n.lease_until_ms > {} THEN 1 ELSE 0 END, n.lease_until_ms, \
         CASE WHEN h.replicated_of = h.token THEN h.replicated_token ELSE h.token END \
         FROM projects p LEFT JOIN project_homes h ON h.slug = p.slug \
         LEFT JOIN nodes n ON n.id = h.node WHERE p.slug = $1",
        dialect::now_ms(tx.dialect())
    );
    tx.query_one(&sql, &[slug.into()], |row| {
        let home = match row.opt_text(2)? {
            None => None,
            Some(id) => Some(HomeNode {
                node: KnownNode {
                    id: id.to_owned(),
                    name: row.opt_text(5)?.unwrap_or(id).to_owned(),
                    address: row.opt_text(6)?.unwrap_or_default().to_owned(),
                    generation: row.opt_int(7)?.unwrap_or_default(),
                },
                mark: row.string(3)?,
                kept: json_in(row.text(4)?)?,
                token: row.int(8)?,
                has_lease: row.int(9)? == 1,
                lease_until_ms: row.opt_int(10)?.unwrap_or_default(),
                replicated_token: row.int(11)?,
            }),
        };
        let database = row.opt_text(1)?.map(str::to_owned);
        Ok(FilesLocation { version: row.int(0)?, database, home })
    })
}

/// Records the node of a project that had none; returns whether it had none.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    slug: &str,
    (node, mark): (&str, &str),
    kept: Uses,
) -> Result<bool> {
    // The time is later than the token of a deleted project with the same slug.
    let sql = format!(
        "INSERT INTO project_homes (slug, node, mark, kept, token) VALUES ($1, $2, $3, $4, {}) \
         ON CONFLICT DO NOTHING",
        dialect::now_ms(tx.dialect())
    );
    let kept = json_of(&kept);
    let inserted = tx.execute(&sql, &[slug.into(), node.into(), mark.into(), (&kept).into()])?;
    leases::count_move(tx, slug, None)?;
    Ok(inserted == 1)
}

pub(crate) fn keep(tx: &mut Tx<'_>, slug: &str, kept: Uses) -> Result<()> {
    let sql = "UPDATE project_homes SET kept = $1 WHERE slug = $2";
    tx.send(sql, &[(&json_of(&kept)).into(), slug.into()])
}

/// Records that another node holds the files now. The token follows the clock as in [`insert`], so that it is larger than
/// all earlier ones also in a database that was restored from a backup: replicas in a bucket may be newer than that. The
/// next holder must find a replica of the node.
pub(crate) fn move_to(tx: &mut Tx<'_>, slug: &str, node: &str, mark: &str) -> Result<()> {
    leases::count_move(tx, slug, Some(node))?;
    let now = dialect::now_ms(tx.dialect());
    let sql = format!(
        "UPDATE project_homes SET node = $1, mark = $2, replicated_token = NULL, replicated_of = NULL, \
         token = CASE WHEN token >= {now} THEN token + 1 ELSE {now} END WHERE slug = $3"
    );
    tx.send(&sql, &[node.into(), mark.into(), slug.into()])
}

/// Lets the next holder use the replicas of an epoch, as long as the present holder has not stored its own.
pub(crate) fn await_replica(tx: &mut Tx<'_>, slug: &str, replicated_token: i64) -> Result<()> {
    let sql =
        "UPDATE project_homes SET replicated_token = $1, replicated_of = token WHERE slug = $2";
    tx.send(sql, &[replicated_token.into(), slug.into()])
}

/// Records that the replicas have a state of the holder; returns whether the node holds the project with that token.
pub(crate) fn set_replicated(
    tx: &mut Tx<'_>,
    slug: &str,
    (node, token): (&str, i64),
) -> Result<bool> {
    let sql = "UPDATE project_homes SET replicated_token = token, replicated_of = token \
               WHERE slug = $1 AND node = $2 AND token = $3";
    Ok(tx.execute(sql, &[slug.into(), node.into(), token.into()])? == 1)
}
