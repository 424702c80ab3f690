//! The apps that facts name.

use lyceum_core::Result;
use lyceum_store::Tx;

/// The names of all apps.
pub(crate) fn app_names(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    tx.query("SELECT DISTINCT app FROM event_contexts WHERE app <> ''", &[], |row| {
        names.push(row.text(0)?.to_owned());
        Ok(true)
    })?;
    Ok(names)
}
