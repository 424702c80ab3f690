//! The SQL of this crate. Most of it works on any table of the inventory.

use lyceum_core::redaction::{Redaction, TextOwner};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Sql, SqlDialect, Tx, Value, columns, dialect};
use serde_json::{Map, json};

use crate::inventory::{Reference, TABLES, Table, Treatment};
use crate::subject::Subject;

/// Columns with secrets, which are of no use to the person.
const SECRETS: [&str; 3] = ["password", "sealed", "hash"];
/// Texts that are read at once.
const MENTIONS_PER_STEP: i64 = 200;

pub(crate) fn visitors_of(tx: &mut Tx<'_>, account: &str) -> Result<Vec<String>> {
    tx.rows("SELECT id FROM game_visitors WHERE person_id = $1", &[account.into()])
}

/// The number of roster users with that e-mail address.
pub(crate) fn users_with_email(tx: &mut Tx<'_>, email: &str) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM users WHERE lower(email) = $1";
    let email = email.to_ascii_lowercase();
    Ok(tx.row(sql, &[(&email).into()])?.unwrap_or_default())
}

/// The names of all tables of the database.
pub fn table_names(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    tx.rows(dialect::table_names(tx.dialect()), &[])
}

/// The names of a table's columns.
pub fn column_names(tx: &mut Tx<'_>, table: &str) -> Result<Vec<String>> {
    tx.rows(dialect::table_columns(tx.dialect()), &[table.into()])
}

/// The condition that a row belongs to the person; `$1` is the JSON array of the person's ids. `None` if rows of the table
/// belong to nobody, or a function of its crate finds them.
fn condition(dialect: SqlDialect, table: &Table) -> Option<String> {
    match table.person {
        Reference::None | Reference::Crate => None,
        Reference::Column(columns) => {
            let parts = columns.iter().map(|column| dialect::is_one_of(dialect, column, "$1"));
            Some(parts.collect::<Vec<_>>().join(" OR "))
        }
        Reference::Through { column, table, key } => {
            let other = TABLES.iter().find(|other| other.name == table)?;
            let inner = condition(dialect, other)?;
            Some(format!("{column} IN (SELECT {key} FROM {table} WHERE {inner})"))
        }
    }
}

fn ids(subject: &Subject) -> Result<String> {
    serde_json::to_string(&subject.ids()).map_err(Problem::internal)
}

/// The number of the person's rows in a table.
pub(crate) fn count(tx: &mut Tx<'_>, table: &Table, subject: &Subject) -> Result<u64> {
    let Some(condition) = condition(tx.dialect(), table) else { return Ok(0) };
    let sql = format!("SELECT COUNT(*) FROM {} WHERE {condition}", table.name);
    let count: Option<i64> = tx.row(&sql, &[(&ids(subject)?).into()])?;
    Ok(count.unwrap_or_default().unsigned_abs())
}

/// The number of the person's events that count.
pub(crate) fn count_events(tx: &mut Tx<'_>, actors: &[i64]) -> Result<u64> {
    let mut count = 0;
    for &actor in actors {
        lyceum_events::of_actor(tx, actor, i64::MIN..i64::MAX, |_| {
            count += 1;
            Ok(())
        })?;
    }
    Ok(count)
}

/// Calls `each` with the person's rows in a table as JSON objects, without secrets.
pub(crate) fn rows(
    tx: &mut Tx<'_>,
    table: &Table,
    subject: &Subject,
    mut each: impl FnMut(Map<String, serde_json::Value>) -> Result<()>,
) -> Result<()> {
    let Some(condition) = condition(tx.dialect(), table) else { return Ok(()) };
    let mut names = column_names(tx, table.name)?;
    names.retain(|name| !SECRETS.contains(&name.as_str()));
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let sql = format!("SELECT {} FROM {} WHERE {condition}", quoted.join(", "), table.name);
    tx.query(&sql, &[(&ids(subject)?).into()], |row| {
        let cells = names.iter().enumerate();
        let cells = cells.map(|(at, name)| Ok((name.clone(), json_cell(row, at)?)));
        each(cells.collect::<Result<_>>()?)?;
        Ok(true)
    })
}

/// A cell; text that is a JSON object or array becomes that value.
fn json_cell(row: &Row<'_>, at: usize) -> Result<serde_json::Value> {
    Ok(match row.cell(at)? {
        Value::Null => json!(null),
        Value::Int(number) => json!(number),
        Value::Real(number) => json!(number),
        Value::Blob(bytes) => json!(lyceum_core::text::hex(bytes)),
        Value::Text(text) => match text.starts_with(['{', '[']) {
            true => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            false => json!(text),
        },
    })
}

/// Treats the person's rows of a table as the inventory says. Returns their number.
pub(crate) fn treat(
    tx: &mut Tx<'_>,
    table: &Table,
    (subject, pseudonym): (&Subject, &str),
) -> Result<u64> {
    let Some(condition) = condition(tx.dialect(), table) else { return Ok(0) };
    let name = table.name;
    match table.treatment {
        Treatment::Keep | Treatment::Crate => Ok(0),
        Treatment::Delete => {
            let sql = format!("DELETE FROM {name} WHERE {condition}");
            tx.execute(&sql, &[(&ids(subject)?).into()])
        }
        Treatment::Pseudonymise(values) => {
            let mut sets: Vec<String> =
                values.iter().map(|(column, value)| format!("{column} = {value}")).collect();
            let Reference::Column(columns) = table.person else {
                let sql = format!("UPDATE {name} SET {} WHERE {condition}", sets.join(", "));
                return tx.execute(&sql, &[(&ids(subject)?).into()]);
            };
            let mut changed = 0;
            for column in columns {
                sets.insert(0, format!("{column} = $1"));
                let sql = format!("UPDATE {name} SET {} WHERE {column} = $2", sets.join(", "));
                for id in subject.ids() {
                    let replacement = subject.replacement(&id, pseudonym);
                    changed += tx.execute(&sql, &[(&replacement).into(), (&id).into()])?;
                }
                sets.remove(0);
            }
            Ok(changed)
        }
    }
}

/// Replaces the person's strings in the next texts of a column behind `after`. Returns the number of texts changed,
/// and the last text that was read, from which to continue.
pub(crate) fn redact_column(
    tx: &mut Tx<'_>,
    (table, column): (&str, &str),
    redaction: &Redaction,
    after: &str,
) -> Result<(u64, Option<String>)> {
    let terms = redaction.search_terms();
    if terms.is_empty() {
        return Ok((0, None));
    }
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT DISTINCT {column} FROM {table} WHERE {column} > ")).bind(after);
    sql.push(" AND (FALSE");
    for term in &terms {
        let place = sql.placeholder(term.as_str());
        let contains = dialect::contains(sql.dialect, column, &place);
        sql.push(" OR ").push(&contains);
    }
    sql.push(&format!(") ORDER BY {column} LIMIT ")).bind(MENTIONS_PER_STEP);
    let texts: Vec<String> = tx.rows(&sql.text, &sql.values())?;
    let mut changed = 0;
    for text in &texts {
        if let Some(redacted) = redaction.redacted_text(text, TextOwner::Others) {
            let sql = format!("UPDATE {table} SET {column} = $1 WHERE {column} = $2");
            changed += tx.execute(&sql, &[(&redacted).into(), text.into()])?;
        }
    }
    Ok((changed, texts.into_iter().next_back()))
}

/// An erasure as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct ErasureRow {
    pub(crate) id: i64,
    pub(crate) pseudonym: String,
    pub(crate) asked_by: String,
    pub(crate) asked: Timestamp,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) subject: Option<Vec<u8>>,
    pub(crate) progress: String,
    pub(crate) report: Option<String>,
}

columns!(ErasureRow {
    id: "id",
    pseudonym: "pseudonym",
    asked_by: "asked_by",
    asked: "asked_ms",
    ended: "ended_ms",
    subject: "subject",
    progress: "progress",
    report: "report",
});

/// Adds an erasure. Returns its number.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (pseudonym, asked_by): (&str, &str),
    subject: &[u8],
    progress: &str,
) -> Result<i64> {
    let id = tx.insert(
        "INSERT INTO erasures (pseudonym, asked_by, asked_ms, subject, progress) \
         VALUES ($1, $2, $3, $4, $5)",
        "id",
        &[
            pseudonym.into(),
            asked_by.into(),
            now.milliseconds().into(),
            subject.into(),
            progress.into(),
        ],
    )?;
    id.ok_or_else(|| Problem::internal("an erasure was not added"))
}

/// Remembers that these ids were erased.
pub(crate) fn insert_ids(tx: &mut Tx<'_>, erasure: i64, hashes: &[String]) -> Result<()> {
    for hash in hashes {
        let sql = "INSERT INTO erased_ids (hash, erasure) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.send(sql, &[hash.into(), erasure.into()])?;
    }
    Ok(())
}

pub(crate) fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<ErasureRow>> {
    tx.row(&format!("SELECT {} FROM erasures WHERE id = $1", ErasureRow::COLUMNS), &[id.into()])
}

/// The erasure that erased an id.
pub(crate) fn of_hash(tx: &mut Tx<'_>, hash: &str) -> Result<Option<ErasureRow>> {
    let sql = format!(
        "SELECT {} FROM erasures WHERE id = (SELECT erasure FROM erased_ids WHERE hash = $1)",
        ErasureRow::COLUMNS
    );
    tx.row(&sql, &[hash.into()])
}

/// Whether anybody was erased.
pub(crate) fn any_erased(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(tx.query_one("SELECT 1 FROM erased_ids LIMIT 1", &[], |_| Ok(()))?.is_some())
}

/// The hashes that belong to erased persons.
pub(crate) fn erased_among(tx: &mut Tx<'_>, hashes: &[String]) -> Result<Vec<String>> {
    let list = serde_json::to_string(hashes).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT hash FROM erased_ids WHERE {}",
        dialect::is_one_of(tx.dialect(), "hash", "$1")
    );
    tx.rows(&sql, &[(&list).into()])
}

/// Stores how far an erasure is.
pub(crate) fn set_progress(tx: &mut Tx<'_>, id: i64, progress: &str) -> Result<()> {
    let sql = "UPDATE erasures SET progress = $1 WHERE id = $2";
    tx.send(sql, &[progress.into(), id.into()])
}

/// Ends an erasure and deletes the person's strings.
pub(crate) fn finish(tx: &mut Tx<'_>, now: Timestamp, id: i64, report: &str) -> Result<()> {
    let sql = "UPDATE erasures SET ended_ms = $1, subject = NULL, report = $2 WHERE id = $3";
    tx.send(sql, &[now.milliseconds().into(), report.into(), id.into()])
}
