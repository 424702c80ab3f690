//! Where the server of this data is reached.

use lyceum_core::Result;
use lyceum_store::Tx;

/// There is one row.
const ROW: i64 = 1;

/// The address that the last server reported; `None` if no server has run yet.
pub fn server_address(tx: &mut Tx<'_>) -> Result<Option<String>> {
    let sql = "SELECT public_url FROM server_address WHERE id = $1";
    tx.query_one(sql, &[ROW.into()], |row| row.string(0))
}

/// Notes the address of the server that starts on this data.
pub fn note_server_address(tx: &mut Tx<'_>, public_url: &str) -> Result<()> {
    if server_address(tx)?.as_deref() == Some(public_url) {
        return Ok(());
    }
    tx.send(
        "INSERT INTO server_address (id, public_url) VALUES ($1, $2) \
         ON CONFLICT (id) DO UPDATE SET public_url = excluded.public_url",
        &[ROW.into(), public_url.into()],
    )
}
