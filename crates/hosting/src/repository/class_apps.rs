//! Apps that are approved for classes.

use lyceum_core::text::folded;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, columns, dialect};
use schemars::JsonSchema;
use serde::Serialize;

use super::ms;

/// A deployed app with a page that people can open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassApp {
    /// Its name in addresses.
    pub slug: String,
    /// Its name for people.
    pub display_name: String,
    /// The emoji that represents it.
    pub emoji: Option<String>,
}

columns!(ClassApp { slug: "g.slug", display_name: "g.display_name", emoji: "g.emoji" });

/// Projects that serve a frontend now, with their games.
const DEPLOYED: &str = "FROM projects p JOIN games g ON g.slug = p.slug \
    JOIN deployments d ON d.slug = p.slug AND d.version = p.active AND d.frontend IS NOT NULL";

/// All apps, by name.
pub(crate) fn all(tx: &mut Tx<'_>) -> Result<Vec<ClassApp>> {
    let columns = ClassApp::COLUMNS;
    Ok(by_name(tx.rows(&format!("SELECT {columns} {DEPLOYED}"), &[])?))
}

/// The apps that are approved for one of the classes, each once, by name.
pub(crate) fn of_classes(tx: &mut Tx<'_>, classes: &[String]) -> Result<Vec<ClassApp>> {
    let classes = serde_json::to_string(classes).map_err(Problem::internal)?;
    let is_of_class = dialect::is_one_of(tx.dialect(), "class_id", "$1");
    let columns = ClassApp::COLUMNS;
    let sql = format!(
        "SELECT {columns} {DEPLOYED} WHERE p.slug IN \
         (SELECT slug FROM class_apps WHERE {is_of_class})"
    );
    Ok(by_name(tx.rows(&sql, &[classes.as_str().into()])?))
}

fn by_name(mut apps: Vec<ClassApp>) -> Vec<ClassApp> {
    apps.sort_by_cached_key(|app| (folded(&app.display_name), app.slug.clone()));
    apps
}

/// Returns `false` if the app was approved before.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: &str,
    (class, slug): (&str, &str),
) -> Result<bool> {
    let sql = "INSERT INTO class_apps (class_id, slug, approved_by, approved_ms) \
               VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    Ok(tx.execute(sql, &[class.into(), slug.into(), who.into(), ms(now)])? > 0)
}

/// Returns `false` if the app was not approved.
pub(crate) fn delete(tx: &mut Tx<'_>, (class, slug): (&str, &str)) -> Result<bool> {
    let sql = "DELETE FROM class_apps WHERE class_id = $1 AND slug = $2";
    Ok(tx.execute(sql, &[class.into(), slug.into()])? > 0)
}
