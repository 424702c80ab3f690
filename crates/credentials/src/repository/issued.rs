//! Issued credentials.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, columns, named_column, parsed};

use crate::issued::{CredentialForm, CredentialText, IssuedCredential, NewCredential, Page};
use crate::status::StatusEntry;

columns!(IssuedCredential {
    id: "id",
    issued_by: "issued_by",
    learner: "learner",
    place: "status_list, status_index",
    signed: "issuer, credential, valid_from, form, body",
    revoked: "revoked",
    reason: "reason",
});
columns!(CredentialText {
    issuer: "issuer",
    credential: "credential",
    valid_from: "valid_from" => parsed,
    form: "form",
    body: "body",
});
columns!(StatusEntry { list: "status_list", index: "status_index" });
named_column!(CredentialForm, CredentialForm::from_name);

const COLUMNS: &str = IssuedCredential::COLUMNS;

/// The condition that the content was not erased. Erased credentials are only entries of status lists.
const HAS_CONTENT: &str = "body <> ''";

fn first_with(tx: &mut Tx<'_>, condition: &str, value: &str) -> Result<Option<IssuedCredential>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM issued_credentials WHERE {condition} = $1 AND {HAS_CONTENT} \
         ORDER BY seq LIMIT 1"
    );
    tx.row(&sql, &[value.into()])
}

/// The credential with that random id, else the first that calls itself so.
pub(crate) fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<IssuedCredential>> {
    match first_with(tx, "id", id)? {
        None => first_with(tx, "credential", id),
        found => Ok(found),
    }
}

pub(crate) fn of_award(tx: &mut Tx<'_>, award: &str) -> Result<Option<IssuedCredential>> {
    first_with(tx, "award", award)
}

/// The credential of that issuer with that id.
pub(crate) fn of_issuer(
    tx: &mut Tx<'_>,
    issuer: &str,
    credential: &str,
) -> Result<Option<IssuedCredential>> {
    let sql =
        format!("SELECT {COLUMNS} FROM issued_credentials WHERE issuer = $1 AND credential = $2");
    tx.row(&sql, &[issuer.into(), credential.into()])
}

pub(crate) fn insert(tx: &mut Tx<'_>, new: &NewCredential, now: Timestamp) -> Result<()> {
    let (now, valid_from) = (tx.stamp(now)?.to_string(), new.signed.valid_from.to_string());
    tx.send(
        "INSERT INTO issued_credentials (id, issuer, credential, issued_by, learner, award, form, \
         body, valid_from, created, updated, status_list, status_index) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12)",
        &[
            (&new.id).into(),
            (&new.signed.issuer).into(),
            (&new.signed.credential).into(),
            new.issued_by.as_deref().into(),
            new.learner.as_deref().into(),
            new.award.as_deref().into(),
            new.signed.form.name().into(),
            (&new.signed.body).into(),
            (&valid_from).into(),
            (&now).into(),
            new.place.map(|place| place.list).into(),
            new.place.map(|place| place.index).into(),
        ],
    )?;
    Ok(())
}

pub(crate) fn replace(
    tx: &mut Tx<'_>,
    id: &str,
    signed: &CredentialText,
    now: Timestamp,
) -> Result<()> {
    let (now, valid_from) = (tx.stamp(now)?.to_string(), signed.valid_from.to_string());
    tx.send(
        "UPDATE issued_credentials SET form = $1, body = $2, valid_from = $3, updated = $4 \
         WHERE id = $5",
        &[
            signed.form.name().into(),
            (&signed.body).into(),
            (&valid_from).into(),
            (&now).into(),
            id.into(),
        ],
    )?;
    Ok(())
}

/// Marks a credential as revoked. Its award can be issued again.
pub(crate) fn revoke(
    tx: &mut Tx<'_>,
    id: &str,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    let now = tx.stamp(now)?.to_string();
    tx.send(
        "UPDATE issued_credentials SET revoked = $1, reason = $2, updated = $1, award = NULL \
         WHERE id = $3 AND revoked IS NULL",
        &[(&now).into(), reason.into(), id.into()],
    )?;
    Ok(())
}

pub(crate) fn list(tx: &mut Tx<'_>, page: &Page) -> Result<(Vec<IssuedCredential>, u64)> {
    super::page(tx, COLUMNS, "issued_credentials r", "", HAS_CONTENT, page)
}

pub(crate) fn of_learner(
    tx: &mut Tx<'_>,
    learner: &str,
    most: usize,
) -> Result<Vec<IssuedCredential>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM issued_credentials \
         WHERE learner = $1 AND revoked IS NULL ORDER BY seq LIMIT $2"
    );
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    tx.rows(&sql, &[learner.into(), most.into()])
}

/// The revoked credentials and learner records of an issuer of this server: their ids and reasons.
pub(crate) fn revoked(tx: &mut Tx<'_>, issuer: &str) -> Result<Vec<(String, Option<String>)>> {
    let mut found = Vec::new();
    tx.query(
        "SELECT credential, reason, revoked FROM issued_credentials \
         WHERE issued_by = $1 AND revoked IS NOT NULL \
         UNION ALL SELECT r.id, r.reason, r.revoked FROM learner_records r \
         JOIN learner_record_places p ON p.record = r.id \
         WHERE p.issuer = $1 AND r.revoked IS NOT NULL ORDER BY 3, 1",
        &[issuer.into()],
        |row| {
            found.push((row.text(0)?.to_owned(), row.opt_text(1)?.map(str::to_owned)));
            Ok(true)
        },
    )?;
    Ok(found)
}
