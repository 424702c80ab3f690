//! Apps, as facts name them.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

/// Milliseconds of a bucket of facts.
const BUCKET_MS: i64 = 15 * 60 * 1000;

/// The names of all apps.
pub(crate) fn app_names(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    tx.query("SELECT DISTINCT app FROM event_contexts WHERE app <> ''", &[], |row| {
        names.push(row.text(0)?.to_owned());
        Ok(true)
    })?;
    Ok(names)
}

/// How many did something in an app, and how many of them since the instant. Reads all facts of
/// the app.
pub(crate) fn app_users(tx: &mut Tx<'_>, app: &str, since: Timestamp) -> Result<(i64, i64)> {
    let sql = "SELECT count(DISTINCT f.actor), \
               count(DISTINCT CASE WHEN f.bucket >= $1 THEN f.actor END) FROM event_facts f \
               WHERE f.context IN (SELECT c.id FROM event_contexts c WHERE c.app = $2)";
    let since = since.milliseconds() / BUCKET_MS;
    let counts =
        tx.query_one(sql, &[since.into(), app.into()], |row| Ok((row.int(0)?, row.int(1)?)))?;
    Ok(counts.unwrap_or_default())
}
