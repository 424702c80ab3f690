//! Issued credentials.

use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_store::{Tx, columns, named_column, parsed};

/// A place in a status list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusEntry {
    /// The number of the list, from 1 for each issuer.
    pub list: i64,
    /// The place in it, from 0.
    pub index: i64,
}

/// The form in which a credential was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialForm {
    /// JSON with an embedded proof.
    Json,
    /// A compact JWS.
    Jws,
}

impl CredentialForm {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Jws => "jws",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Json, Self::Jws].into_iter().find(|form| form.name() == name)
    }
}

/// The text of a signed credential, with the members by which it is found.
#[derive(Clone, Debug)]
pub struct CredentialText {
    /// The id of its issuer.
    pub issuer: String,
    /// Its own id.
    pub credential: String,
    /// From when it is valid.
    pub valid_from: Timestamp,
    /// The form in which it was signed.
    pub form: CredentialForm,
    /// The JSON or the JWS, as it was signed.
    pub body: String,
}

/// A credential that is about to be stored.
#[derive(Clone, Debug)]
pub struct NewCredential {
    /// Its random id.
    pub id: String,
    /// The id of the issuer of this server that issued it.
    pub issued_by: Option<String>,
    /// The sourcedId of the learner.
    pub learner: Option<String>,
    /// The key by which a repeated request finds its award.
    pub award: Option<String>,
    /// Its place in a status list.
    pub place: Option<StatusEntry>,
    /// The credential.
    pub signed: CredentialText,
}

/// A stored credential.
#[derive(Clone, Debug)]
pub struct IssuedCredential {
    /// Its random id, part of its public address.
    pub id: String,
    /// The id of the issuer of this server; `None` if another server issued it.
    pub issued_by: Option<String>,
    /// The sourcedId of the learner, if this server issued it.
    pub learner: Option<String>,
    /// Its place in a status list.
    pub place: Option<StatusEntry>,
    /// The credential.
    pub signed: CredentialText,
    /// When it was revoked.
    pub revoked: Option<String>,
    /// Why it was revoked.
    pub reason: Option<String>,
}

/// The selected part of the list of credentials.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The most credentials on the page.
    pub limit: u64,
    /// The number of credentials before the page.
    pub offset: u64,
    /// Only credentials that became valid after this.
    pub since: Option<Timestamp>,
    /// Only credentials of the user with this sourcedId.
    pub learner: Option<String>,
    /// Only credentials of learners within this reach.
    pub reach: Reach,
}

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
