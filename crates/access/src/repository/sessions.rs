//! Sessions of people.

use lyceum_core::Result;
use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, Value};
use schemars::JsonSchema;
use serde::Serialize;

use crate::limits;
use crate::secret::SecretHash;

/// A session of a person as it is listed: without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AccountSession")]
pub struct SessionFacts {
    /// Its id in lists. It opens nothing.
    pub id: String,
    /// Whether it is a browser's; otherwise it is that of a program, such as the command line.
    pub is_browser: bool,
    /// When it began.
    pub created: Timestamp,
    /// When it was last used, to the minute.
    pub used: Timestamp,
    /// When it ends at the latest.
    pub expires: Timestamp,
    /// The sourcedId of the class with whose code it began; null for others.
    pub class: Option<String>,
    /// Whether the list was requested with it.
    pub is_current: bool,
}

/// Where the session's secret is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// A browser, in a cookie.
    Page,
    /// A program that its owner let in, as a bearer token.
    Token,
}

impl SessionKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Token => "token",
        }
    }

    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Page => "lw_",
            Self::Token => "lu_",
        }
    }

    /// Seconds that a session lives, used or not.
    pub fn lifetime_s(self) -> i64 {
        match self {
            Self::Page => limits::PAGE_SESSION_LIFETIME_S,
            Self::Token => limits::TOKEN_SESSION_LIFETIME_S,
        }
    }

    /// Seconds that a session lives without being used.
    pub fn idle_s(self) -> i64 {
        match self {
            Self::Page => limits::PAGE_SESSION_IDLE_S,
            Self::Token => limits::TOKEN_SESSION_IDLE_S,
        }
    }
}

/// A session as it stands.
pub(crate) struct StoredSession {
    pub(crate) person: String,
    pub(crate) used: Timestamp,
    pub(crate) expires: Timestamp,
    /// The sourcedId of the class in whose sign-in it began.
    pub(crate) class: Option<String>,
}

/// A session to add.
pub(crate) struct NewSession<'a> {
    pub(crate) person: &'a str,
    pub(crate) sort: SessionKind,
    pub(crate) environment: Environment,
    /// The sourcedId of the class in whose sign-in it begins.
    pub(crate) class: Option<&'a str>,
    pub(crate) expires: Timestamp,
}

/// Adds a session.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    hash: &SecretHash,
    new: &NewSession<'_>,
) -> Result<()> {
    tx.send(
        "INSERT INTO sessions (hash, person, sort, environment, created_ms, used_ms, expires_ms, class_id) \
         VALUES ($1, $2, $3, $4, $5, $5, $6, $7)",
        &[
            Value::from(hash.as_slice()),
            Value::from(new.person),
            Value::from(new.sort.name()),
            Value::from(new.environment.name()),
            Value::from(now.milliseconds()),
            Value::from(new.expires.milliseconds()),
            Value::from(new.class),
        ],
    )?;
    Ok(())
}

/// The session of a secret's hash, ended or not.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    hash: &SecretHash,
    sort: SessionKind,
    environment: Environment,
) -> Result<Option<StoredSession>> {
    tx.query_one(
        "SELECT person, used_ms, expires_ms, class_id FROM sessions \
         WHERE hash = $1 AND sort = $2 AND environment = $3",
        &[Value::from(hash.as_slice()), Value::from(sort.name()), Value::from(environment.name())],
        |row| {
            Ok(StoredSession {
                person: row.text(0)?.to_owned(),
                used: Timestamp::from_milliseconds(row.int(1)?),
                expires: Timestamp::from_milliseconds(row.int(2)?),
                class: row.opt_text(3)?.map(str::to_owned),
            })
        },
    )
}

/// Keeps when the session was used.
pub(crate) fn touch(tx: &mut Tx<'_>, hash: &SecretHash, now: Timestamp) -> Result<()> {
    let sql = "UPDATE sessions SET used_ms = $1 WHERE hash = $2 AND used_ms < $1";
    tx.send(sql, &[now.milliseconds().into(), hash.as_slice().into()])?;
    Ok(())
}

/// Deletes a session.
pub(crate) fn delete(tx: &mut Tx<'_>, hash: &[u8]) -> Result<()> {
    tx.send("DELETE FROM sessions WHERE hash = $1", &[hash.into()])?;
    Ok(())
}

/// Deletes the sessions of a person.
pub(crate) fn delete_all_of(tx: &mut Tx<'_>, person: &str) -> Result<()> {
    tx.send("DELETE FROM sessions WHERE person = $1", &[person.into()])?;
    Ok(())
}

/// Deletes the sessions of a person but one.
pub(crate) fn delete_others_of(tx: &mut Tx<'_>, person: &str, hash: &SecretHash) -> Result<()> {
    let sql = "DELETE FROM sessions WHERE person = $1 AND hash <> $2";
    tx.send(sql, &[person.into(), hash.as_slice().into()])
}

/// The hashes and facts of the sessions of a person, the newest first.
pub(crate) fn of_person(tx: &mut Tx<'_>, person: &str) -> Result<Vec<(Vec<u8>, SessionFacts)>> {
    let sql = "SELECT hash, sort, created_ms, used_ms, expires_ms, class_id FROM sessions \
               WHERE person = $1 ORDER BY created_ms DESC, hash";
    tx.all(sql, &[person.into()], |row| {
        let facts = SessionFacts {
            id: String::new(),
            is_browser: row.text(1)? == SessionKind::Page.name(),
            created: row.time(2)?,
            used: row.time(3)?,
            expires: row.time(4)?,
            class: row.opt_text(5)?.map(str::to_owned),
            is_current: false,
        };
        Ok((row.blob(0)?.to_vec(), facts))
    })
}

/// Deletes the sessions that began with the sign-in of a class.
pub(crate) fn delete_all_of_class(tx: &mut Tx<'_>, class: &str) -> Result<()> {
    tx.send("DELETE FROM sessions WHERE class_id = $1", &[class.into()])
}

/// Deletes the sessions of a student that began with the sign-in of a class.
pub(crate) fn delete_class_sessions_of(tx: &mut Tx<'_>, person: &str) -> Result<()> {
    tx.send("DELETE FROM sessions WHERE person = $1 AND class_id IS NOT NULL", &[person.into()])
}

/// Deletes the sessions whose time is over.
pub(crate) fn delete_ended(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    tx.send("DELETE FROM sessions WHERE expires_ms <= $1", &[now.milliseconds().into()])?;
    Ok(())
}
