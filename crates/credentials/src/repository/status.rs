//! Places in status lists.

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;

/// Takes the next place of an issuer: the list, where its places begin, and how many were taken before.
/// A list with `size` places is followed by another.
pub(crate) fn allocate(
    tx: &mut Tx<'_>,
    issuer: &str,
    size: i64,
    first_index: i64,
) -> Result<(i64, i64, i64)> {
    let newest = tx.query_one(
        "SELECT list, used FROM status_lists WHERE issuer = $1 ORDER BY list DESC LIMIT 1",
        &[issuer.into()],
        |row| Ok((row.int(0)?, row.int(1)?)),
    )?;
    let list = match newest {
        Some((number, used)) if used < size => number,
        full => {
            let list = full.map_or(1, |(number, _)| number + 1);
            tx.send(
                "INSERT INTO status_lists (issuer, list, first_index, used) VALUES ($1, $2, $3, 0) \
                 ON CONFLICT DO NOTHING",
                &[issuer.into(), list.into(), first_index.into()],
            )?;
            list
        }
    };
    let place = tx.query_one(
        "UPDATE status_lists SET used = used + 1 WHERE issuer = $1 AND list = $2 \
         RETURNING first_index, used - 1",
        &[issuer.into(), list.into()],
        |row| Ok((row.int(0)?, row.int(1)?)),
    )?;
    let (first_index, before) = place.ok_or_else(|| Problem::internal("a status list is gone"))?;
    Ok((list, first_index, before))
}

/// Whether the issuer has that list.
pub(crate) fn exists(tx: &mut Tx<'_>, issuer: &str, list: i64) -> Result<bool> {
    let sql = "SELECT 1 FROM status_lists WHERE issuer = $1 AND list = $2";
    Ok(tx.query_one(sql, &[issuer.into(), list.into()], |_| Ok(()))?.is_some())
}

/// The places of a list whose credentials or learner records are revoked.
pub(crate) fn revoked(tx: &mut Tx<'_>, issuer: &str, list: i64) -> Result<Vec<i64>> {
    let mut places = Vec::new();
    tx.query(
        "SELECT status_index FROM issued_credentials \
         WHERE issued_by = $1 AND status_list = $2 AND revoked IS NOT NULL \
         UNION ALL SELECT p.place FROM learner_record_places p \
         JOIN learner_records r ON r.id = p.record \
         WHERE p.issuer = $1 AND p.list = $2 AND r.revoked IS NOT NULL",
        &[issuer.into(), list.into()],
        |row| {
            places.push(row.int(0)?);
            Ok(true)
        },
    )?;
    Ok(places)
}
