//! Assessment banks, and the turns of users.

use std::collections::HashSet;

use lyceum_core::{Problem, Result};
use lyceum_store::{Param, Row, Sql, Tx, dialect};
use schemars::JsonSchema;
use serde::Serialize;

use super::references;
use crate::ContentKind;
use crate::Page;
use crate::body::Object;

/// A bank as it is stored and shown.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AssessmentBank")]
pub struct Bank {
    /// Its identifier.
    pub identifier: String,
    /// Its title.
    pub title: String,
    /// The identifiers of its tests, in the order of their turns.
    pub tests: Vec<String>,
    /// Further data from its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
    /// The number of times it was written.
    pub version: i64,
    /// When it was first stored.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
}

const COLUMNS: &str = "identifier, title, tests, metadata, version, created_at, updated_at";

fn read(row: &Row<'_>) -> Result<Bank> {
    let text = |column| row.text(column).map(str::to_owned);
    let metadata = row.opt_text(3)?.map(serde_json::from_str).transpose();
    Ok(Bank {
        identifier: text(0)?,
        title: text(1)?,
        tests: serde_json::from_str(row.text(2)?).map_err(Problem::internal)?,
        metadata: metadata.map_err(Problem::internal)?,
        version: row.int(4)?,
        created_at: text(5)?,
        updated_at: text(6)?,
    })
}

pub(crate) fn get(tx: &mut Tx<'_>, identifier: &str) -> Result<Option<Bank>> {
    let sql = format!("SELECT {COLUMNS} FROM assessment_bank WHERE identifier = $1");
    tx.query_one(&sql, &[identifier.into()], read)
}

/// The identifiers that are banks.
pub(crate) fn existing(tx: &mut Tx<'_>, identifiers: &[&str]) -> Result<HashSet<String>> {
    let sql = format!(
        "SELECT identifier FROM assessment_bank WHERE {}",
        dialect::is_one_of(tx.dialect(), "identifier", "$1")
    );
    let names = serde_json::to_string(identifiers).map_err(Problem::internal)?;
    let mut known = HashSet::new();
    tx.query(&sql, &[names.as_str().into()], |row| {
        known.insert(row.text(0)?.to_owned());
        Ok(true)
    })?;
    Ok(known)
}

pub(crate) fn list(tx: &mut Tx<'_>, page: &Page) -> Result<(Vec<Bank>, u64)> {
    let mut condition = Sql::new(tx.dialect());
    condition.push("FROM assessment_bank");
    if let Some(search) = &page.search {
        let placeholder = condition.placeholder(search.to_ascii_lowercase().as_str());
        let words = "identifier || ' ' || title";
        condition.push(" WHERE ");
        let contains = dialect::contains(condition.dialect, words, &placeholder);
        condition.push(&contains);
    }
    let sql = format!("SELECT COUNT(*) {}", condition.text);
    let total = tx.query_one(&sql, &condition.values(), |row| row.int(0))?.unwrap_or(0);
    let column = match page.sort {
        "updatedAt" => "updated_at",
        "identifier" => "identifier",
        "title" => "title",
        _ => "created_at",
    };
    let direction = if page.descending { "DESC" } else { "ASC" };
    let number = |n: u64| Param::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let mut sql = condition;
    sql.text =
        format!("SELECT {COLUMNS} {} ORDER BY {column} {direction}, seq {direction}", sql.text);
    sql.push(" LIMIT ").bind(number(page.limit));
    sql.push(" OFFSET ").bind(number(page.skip()));
    let mut banks = Vec::new();
    tx.query(&sql.text, &sql.values(), |row| {
        banks.push(read(row)?);
        Ok(true)
    })?;
    Ok((banks, u64::try_from(total).unwrap_or(0)))
}

pub(crate) fn insert(tx: &mut Tx<'_>, bank: &Bank) -> Result<()> {
    let (tests, metadata) = texts(bank)?;
    let sql = format!(
        "INSERT INTO assessment_bank ({COLUMNS}, rotation) VALUES ($1, $2, $3, $4, $5, $6, $7, 0)"
    );
    tx.send(
        &sql,
        &[
            (&bank.identifier).into(),
            (&bank.title).into(),
            (&tests).into(),
            metadata.as_ref().into(),
            bank.version.into(),
            (&bank.created_at).into(),
            (&bank.updated_at).into(),
        ],
    )?;
    refer(tx, &bank.identifier, &bank.tests)
}

pub(crate) fn update(tx: &mut Tx<'_>, bank: &Bank) -> Result<()> {
    let (tests, metadata) = texts(bank)?;
    tx.send(
        "UPDATE assessment_bank SET title = $1, tests = $2, metadata = $3, version = $4, \
         updated_at = $5 WHERE identifier = $6",
        &[
            (&bank.title).into(),
            (&tests).into(),
            metadata.as_ref().into(),
            bank.version.into(),
            (&bank.updated_at).into(),
            (&bank.identifier).into(),
        ],
    )?;
    refer(tx, &bank.identifier, &bank.tests)
}

fn texts(bank: &Bank) -> Result<(String, Option<String>)> {
    let metadata = bank.metadata.as_ref().map(serde_json::to_string).transpose();
    Ok((
        serde_json::to_string(&bank.tests).map_err(Problem::internal)?,
        metadata.map_err(Problem::internal)?,
    ))
}

/// Deletes a bank and its turns; returns whether it existed.
pub(crate) fn delete(tx: &mut Tx<'_>, identifier: &str) -> Result<bool> {
    refer(tx, identifier, &[])?;
    tx.send("DELETE FROM assessment_bank_turn WHERE bank = $1", &[identifier.into()])?;
    let sql = "DELETE FROM assessment_bank WHERE identifier = $1";
    Ok(tx.execute(sql, &[identifier.into()])? > 0)
}

fn refer(tx: &mut Tx<'_>, bank: &str, tests: &[String]) -> Result<()> {
    let targets: Vec<_> = tests.iter().map(|test| (ContentKind::Test, test.clone())).collect();
    references::refer(tx, "bank", bank, &targets)
}

/// The test that a user got in that attempt.
pub(crate) fn drawn_test(
    tx: &mut Tx<'_>,
    bank: &str,
    user: &str,
    attempt: i64,
) -> Result<Option<String>> {
    tx.query_one(
        "SELECT test FROM assessment_bank_turn WHERE bank = $1 AND user_id = $2 AND attempt = $3",
        &[bank.into(), user.into(), attempt.into()],
        |row| row.text(0).map(str::to_owned),
    )
}

/// A user's last attempt, and the test in it.
pub(crate) fn last_turn(tx: &mut Tx<'_>, bank: &str, user: &str) -> Result<Option<(i64, String)>> {
    tx.query_one(
        "SELECT attempt, test FROM assessment_bank_turn WHERE bank = $1 AND user_id = $2 \
         ORDER BY attempt DESC LIMIT 1",
        &[bank.into(), user.into()],
        |row| Ok((row.int(0)?, row.text(1)?.to_owned())),
    )
}

/// Records the test that a user gets in an attempt.
pub(crate) fn put_turn(
    tx: &mut Tx<'_>,
    bank: &str,
    user: &str,
    attempt: i64,
    test: &str,
) -> Result<()> {
    let sql = "INSERT INTO assessment_bank_turn (bank, user_id, attempt, test) \
               VALUES ($1, $2, $3, $4)";
    tx.send(sql, &[bank.into(), user.into(), attempt.into(), test.into()])?;
    Ok(())
}

/// The position of a bank's rotation, which then advances by one. If two transactions advance it at once, one of them
/// is repeated.
pub(crate) fn turn_rotation(tx: &mut Tx<'_>, bank: &str) -> Result<i64> {
    let sql = "UPDATE assessment_bank SET rotation = rotation + 1 WHERE identifier = $1 \
               RETURNING rotation - 1";
    let found = tx.query_one(sql, &[bank.into()], |row| row.int(0))?;
    found.ok_or_else(|| Problem::internal(format!("the bank '{bank}' no longer exists")))
}
