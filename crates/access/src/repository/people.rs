//! Accounts of people.

use std::fmt;
use std::str::FromStr;

use lyceum_core::language::Language;
use lyceum_core::messages::must_be_one_of;
use lyceum_core::text::folded;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, Reach, Result};
use lyceum_store::{Sql, Tx, Value, columns, dialect, opt_parsed, parsed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{of_ids, reach};
use crate::scope::{Scope, Scopes};

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Its own id.
    pub id: String,
    /// The email address of its owner, in lower case; empty for a student without one.
    pub email: String,
    /// The name of its owner.
    pub name: String,
    /// The role of its owner.
    pub role: Role,
    /// Whether there is a password to sign in with.
    pub has_password: bool,
    /// When it was made.
    pub created: Timestamp,
    /// When the account was disabled.
    pub disabled: Option<Timestamp>,
    /// The part of the roster that it has access to.
    pub reach: Reach,
    /// The sourcedId of the user in the roster whose account it is: students have one, others have none.
    pub roster_user: Option<String>,
    /// The language in which its owner reads pages; `None` if the browser decides.
    pub language: Option<Language>,
}

impl Person {
    /// The name of the account in commands and in the audit log: its e-mail address, or its id without one.
    pub fn account_name(&self) -> &str {
        if self.email.is_empty() { &self.id } else { &self.email }
    }
}

/// The role of a person, which decides what they have access to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "AccountRole")]
pub enum Role {
    /// May do everything.
    Administrator,
    /// Accompanies students: sees everything but demographics, sets goals and tracks, gives badges.
    Guide,
    /// Makes apps and games: their projects, and the content that they show.
    Developer,
    /// Learns: has access only to their own lessons and records, on the student pages.
    Student,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Administrator, Self::Guide, Self::Developer, Self::Student];

    /// The roles of everybody but students, which API keys can have.
    pub const STAFF: [Self; 3] = [Self::Administrator, Self::Guide, Self::Developer];

    /// Its name in commands, tables and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Guide => "guide",
            Self::Developer => "developer",
            Self::Student => "student",
        }
    }

    /// The scopes that it gives.
    pub fn scopes(self) -> Scopes {
        match self {
            Self::Administrator => Scopes::EVERYTHING
                .with(Scope::PasswordsRead)
                .with(Scope::PeopleManage)
                .with(Scope::ServerRead),
            Self::Guide => [
                Scope::RosterRead,
                Scope::GradebookRead,
                Scope::ResourcesRead,
                Scope::EventsRead,
                Scope::BridgeRead,
                Scope::BridgeWrite,
                Scope::AdaptiveRead,
                Scope::AdaptiveWrite,
                Scope::QtiRead,
                Scope::CredentialsRead,
                Scope::CredentialsWrite,
                Scope::StandardsRead,
                Scope::GamesRead,
            ]
            .into_iter()
            .collect(),
            Self::Developer => [
                Scope::ResourcesRead,
                Scope::QtiRead,
                Scope::StandardsRead,
                Scope::GamesRead,
                Scope::GamesWrite,
                Scope::ProjectsRead,
                Scope::ProjectsWrite,
            ]
            .into_iter()
            .collect(),
            Self::Student => Scopes::default(),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        let known = Self::ALL.into_iter().find(|role| role.name() == text);
        known.ok_or_else(|| must_be_one_of(&Self::ALL.map(Self::name), text))
    }
}

columns!(Person {
    id: "id",
    email: "CASE WHEN email = id THEN '' ELSE email END",
    name: "name",
    role: "role" => parsed,
    has_password: "password IS NOT NULL",
    created: "created_ms",
    disabled: "disabled_ms",
    reach: "reach" => reach::parsed,
    roster_user: "roster_user",
    language: "language" => opt_parsed,
});

const COLUMNS: &str = Person::COLUMNS;

/// The account of an id.
pub fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<Person>> {
    tx.row(&format!("SELECT {COLUMNS} FROM people WHERE id = $1"), &[id.into()])
}

/// The accounts of these ids.
pub(crate) fn with_ids(tx: &mut Tx<'_>, ids: &[&str]) -> Result<Vec<Person>> {
    let (sql, list) = of_ids(tx, "people", COLUMNS, ids)?;
    tx.rows(&sql, &[list.as_str().into()])
}

/// The account of an address in lower case.
pub(crate) fn by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<Person>> {
    tx.row(&format!("SELECT {COLUMNS} FROM people WHERE email = $1"), &[email.into()])
}

/// The accounts of a user of the roster: one that is active at most, and disabled ones.
pub fn of_roster_user(tx: &mut Tx<'_>, user: &str) -> Result<Vec<Person>> {
    tx.rows(&format!("SELECT {COLUMNS} FROM people WHERE roster_user = $1"), &[user.into()])
}

/// The active accounts of these users of the roster.
pub(crate) fn of_roster_users(tx: &mut Tx<'_>, users: &[&str]) -> Result<Vec<Person>> {
    let list = serde_json::to_string(users).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT {COLUMNS} FROM people WHERE {} AND disabled_ms IS NULL",
        dialect::is_one_of(tx.dialect(), "roster_user", "$1")
    );
    tx.rows(&sql, &[list.as_str().into()])
}

/// Every account in the order of its making, disabled ones too.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Person>> {
    tx.rows(&format!("SELECT {COLUMNS} FROM people ORDER BY created_ms, id"), &[])
}

/// The accounts of everybody but students, by name.
pub(crate) fn staff(tx: &mut Tx<'_>) -> Result<Vec<Person>> {
    let sql = format!("SELECT {COLUMNS} FROM people WHERE role <> 'student' ORDER BY name, id");
    tx.rows(&sql, &[])
}

/// The condition that a person can sign in to the account, with a password or an identity at a sign-in service.
const OPENS: &str = "disabled_ms IS NULL AND (password IS NOT NULL OR \
                     EXISTS (SELECT 1 FROM person_identities i WHERE i.person = people.id))";

/// Whether there is an account that a person can sign in to.
pub fn has_sign_in(tx: &mut Tx<'_>) -> Result<bool> {
    let sql = format!("SELECT 1 FROM people WHERE {OPENS} LIMIT 1");
    Ok(tx.query_one(&sql, &[], |_| Ok(()))?.is_some())
}

/// The hash of an account's password; `None` if it has no password or is disabled.
pub fn password(tx: &mut Tx<'_>, id: &str) -> Result<Option<String>> {
    let sql = "SELECT password FROM people WHERE id = $1 AND disabled_ms IS NULL";
    let found = tx.query_one(sql, &[id.into()], |row| Ok(row.opt_text(0)?.map(str::to_owned)))?;
    Ok(found.flatten())
}

/// Adds an account. Returns false if its address or its user of the roster has one already.
pub(crate) fn insert(tx: &mut Tx<'_>, person: &Person, password: Option<&str>) -> Result<bool> {
    let inserted = tx.execute(
        "INSERT INTO people (id, email, name, role, password, created_ms, roster_user) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
        &[
            Value::from(&person.id),
            Value::from(person.account_name()),
            Value::from(&person.name),
            Value::from(person.role.name()),
            Value::from(password),
            Value::from(person.created.milliseconds()),
            Value::from(person.roster_user.as_deref()),
        ],
    )?;
    Ok(inserted == 1)
}

/// Sets the reach of the account.
pub(crate) fn set_reach(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<()> {
    let text = reach::text(reach)?;
    tx.send("UPDATE people SET reach = $1 WHERE id = $2", &[text.as_deref().into(), id.into()])
}

/// Gives the account a password.
pub(crate) fn set_password(tx: &mut Tx<'_>, id: &str, password: &str) -> Result<()> {
    tx.send("UPDATE people SET password = $1 WHERE id = $2", &[password.into(), id.into()])?;
    Ok(())
}

/// Sets the name of the account.
pub(crate) fn set_name(tx: &mut Tx<'_>, id: &str, name: &str) -> Result<()> {
    tx.send("UPDATE people SET name = $1 WHERE id = $2", &[name.into(), id.into()])
}

/// Sets the language of the account.
pub(crate) fn set_language(tx: &mut Tx<'_>, id: &str, language: Option<Language>) -> Result<()> {
    let tag = language.map(Language::tag);
    tx.send("UPDATE people SET language = $1 WHERE id = $2", &[tag.into(), id.into()])
}

/// Sets the role of the account.
pub(crate) fn set_role(tx: &mut Tx<'_>, id: &str, role: Role) -> Result<()> {
    tx.send("UPDATE people SET role = $1 WHERE id = $2", &[role.name().into(), id.into()])
}

/// Enables the account.
pub(crate) fn enable(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.send("UPDATE people SET disabled_ms = NULL WHERE id = $1", &[id.into()])
}

/// The accounts to list.
#[derive(Clone, Debug, Default)]
pub struct AccountFilter {
    /// The role; `None` for all.
    pub role: Option<Role>,
    /// A part of the name, the e-mail address or the sourcedId of the user in the roster; empty for all.
    pub text: String,
}

/// A part of the accounts, in the order of their making.
#[derive(Clone, Debug)]
pub struct AccountPage {
    /// The accounts.
    pub accounts: Vec<Person>,
    /// The number of all accounts that fit the filter.
    pub total: i64,
}

/// The accounts that fit the filter, disabled ones too: so many at most after the first `offset`.
pub fn page(
    tx: &mut Tx<'_>,
    filter: &AccountFilter,
    (limit, offset): (i64, i64),
) -> Result<AccountPage> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(" FROM people WHERE TRUE");
    if let Some(role) = filter.role {
        sql.push(" AND role = ").bind(role.name());
    }
    let text = folded(filter.text.trim());
    if !text.is_empty() {
        return page_with_text(tx, &sql, &text, (limit, offset));
    }
    let total =
        tx.query_one(&format!("SELECT COUNT(*){}", sql.text), &sql.values(), |row| row.int(0))?;
    sql.push(" ORDER BY created_ms, id LIMIT ").bind(limit).push(" OFFSET ").bind(offset);
    let accounts = tx.rows(&format!("SELECT {COLUMNS}{}", sql.text), &sql.values())?;
    Ok(AccountPage { accounts, total: total.unwrap_or(0) })
}

/// The accounts among those that the statement finds whose names contain the text, which is folded. The stores change the
/// case of different letters, so the names are compared here.
fn page_with_text(
    tx: &mut Tx<'_>,
    sql: &Sql,
    text: &str,
    (limit, offset): (i64, i64),
) -> Result<AccountPage> {
    let mut page = AccountPage { accounts: Vec::new(), total: 0 };
    let sql_text = format!("SELECT {COLUMNS}{} ORDER BY created_ms, id", sql.text);
    tx.query(&sql_text, &sql.values(), |row| {
        let person: Person = row.read()?;
        let names = [
            Some(person.name.as_str()),
            Some(person.email.as_str()),
            person.roster_user.as_deref(),
        ];
        if names.into_iter().flatten().any(|name| folded(name).contains(text)) {
            if (offset..offset.saturating_add(limit)).contains(&page.total) {
                page.accounts.push(person);
            }
            page.total += 1;
        }
        Ok(true)
    })?;
    Ok(page)
}

/// Disables the account.
pub(crate) fn disable(tx: &mut Tx<'_>, id: &str, now: Timestamp) -> Result<()> {
    let sql = "UPDATE people SET disabled_ms = $1 WHERE id = $2";
    tx.send(sql, &[now.milliseconds().into(), id.into()])?;
    Ok(())
}

/// The number of administrators who can sign in.
pub(crate) fn active_administrators(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = format!("SELECT COUNT(*) FROM people WHERE role = 'administrator' AND {OPENS}");
    Ok(tx.query_one(&sql, &[], |row| row.int(0))?.unwrap_or(0))
}
