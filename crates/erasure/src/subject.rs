//! The person who is exported or erased: a roster user together with the account that has the same
//! e-mail address, or one of them.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_access::person::{self, Person};
use lyceum_core::redaction::Redaction;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_events::{Actor, actors_called};
use lyceum_roster::kinds::USER;
use lyceum_roster::record::members;
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::inventory::{TABLES, Treatment};
use crate::sql;

/// A person about whom the server stores data, with all strings that name the person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The sourcedId of the roster user.
    pub user: Option<String>,
    /// The ids of the accounts.
    pub accounts: BTreeSet<String>,
    /// The ids under which the person plays without being in the roster.
    pub visitors: BTreeSet<String>,
    /// The e-mail addresses, as written and in lower case.
    pub emails: BTreeSet<String>,
    /// Full names, user names and numbers.
    pub names: BTreeSet<String>,
    /// The numbers of the actors in the event log.
    pub actors: Vec<i64>,
}

/// Names that are no longer than this may be common words.
const NAME_MIN_BYTES: usize = 6;
/// Digits alone are the person's only if there are many.
const NUMBER_MIN_BYTES: usize = 9;

impl Subject {
    /// The person with that sourcedId, or with the account of that id or e-mail address. Errors: `NotFound`.
    pub fn find(tx: &mut Tx<'_>, id: &str) -> Result<Self> {
        let mut subject = Self::default();
        let account = match person::find(tx, id)? {
            None => person::by_email(tx, &id.to_ascii_lowercase())?,
            account => account,
        };
        let user = account.and_then(|account| account.roster_user);
        let user = match roster::find(tx, &USER, user.as_deref().unwrap_or(id))? {
            None if id.contains('@') => roster::first_user_with_email(tx, id)?,
            user => user,
        };
        if let Some(user) = user {
            let user = members(&user.body, user.extra.as_deref())?;
            subject.add_user(tx, &user.into())?;
        }
        for email in subject.emails.clone().iter().map(String::as_str).chain([id]) {
            let account = person::by_email(tx, &email.to_ascii_lowercase())?;
            // Siblings may share an address. The account of another student is not this person's.
            let is_own = |account: &Person| {
                account.roster_user.is_none() || account.roster_user == subject.user
            };
            if let Some(account) = account.filter(is_own) {
                subject.add_account(&account);
            }
        }
        if let Some(account) = person::find(tx, id)? {
            subject.add_account(&account);
        }
        if let Some(user) = &subject.user {
            for account in person::of_roster_user(tx, user)? {
                subject.add_account(&account);
            }
        }
        if subject.user.is_none() && subject.accounts.is_empty() {
            let message = message!(
                "there is no user with the sourcedId '{id}' and no account with this id or e-mail address"
            );
            return Err(Problem::new(ProblemKind::NotFound, message));
        }
        for account in &subject.accounts {
            subject.visitors.extend(sql::visitors_of(tx, account)?);
        }
        subject.actors = subject.find_actors(tx)?;
        Ok(subject)
    }

    fn add_user(&mut self, tx: &mut Tx<'_>, user: &Value) -> Result<()> {
        let text = |name: &str| user[name].as_str().unwrap_or_default();
        self.user = Some(text("sourcedId").to_owned());
        // Siblings may share the address of their parents; then it does not tell one person.
        if sql::users_with_email(tx, text("email"))? == 1 {
            self.add_email(text("email"));
        }
        for name in ["username", "identifier", "userMasterIdentifier", "sms", "phone"] {
            self.add_name(text(name));
        }
        for [first, last] in
            [["givenName", "familyName"], ["preferredFirstName", "preferredLastName"]]
        {
            self.add_name(&format!("{} {}", text(first), text(last)));
            self.add_name(&format!("{}, {}", text(last), text(first)));
        }
        let list = |name: &str| user[name].as_array().into_iter().flatten();
        for id in list("userIds") {
            self.add_name(id["identifier"].as_str().unwrap_or_default());
        }
        for profile in list("userProfiles") {
            self.add_name(profile["profileId"].as_str().unwrap_or_default());
            for credential in profile["credentials"].as_array().into_iter().flatten() {
                self.add_name(credential["username"].as_str().unwrap_or_default());
            }
        }
        Ok(())
    }

    fn add_account(&mut self, account: &person::Person) {
        self.accounts.insert(account.id.clone());
        self.add_email(&account.email);
        self.add_name(&account.name);
    }

    fn add_email(&mut self, email: &str) {
        if !email.is_empty() {
            self.emails.extend([email.to_owned(), email.to_ascii_lowercase()]);
        }
    }

    /// Adds a name that hardly anything else has.
    fn add_name(&mut self, name: &str) {
        let name = name.trim();
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let is_word = name.chars().all(char::is_alphabetic);
        if name.len() >= NAME_MIN_BYTES
            && !is_word
            && (!is_number || name.len() >= NUMBER_MIN_BYTES)
            && name.trim_matches([',', ' ']).len() == name.len()
        {
            self.names.insert(name.to_owned());
        }
    }

    /// The actors that are this person: by id, or by e-mail address unless the id is another user's.
    pub(crate) fn find_actors(&self, tx: &mut Tx<'_>) -> Result<Vec<i64>> {
        let ids = self.ids();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let emails: Vec<&str> = self.emails.iter().map(String::as_str).collect();
        let mut numbers = Vec::new();
        for Actor { number, person, .. } in actors_called(tx, &ids, &emails)? {
            let mut is_another = || roster::find(tx, &USER, &person).map(|user| user.is_some());
            if ids.contains(&person.as_str()) || !is_another()? {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    /// The number of the person's rows in each table that an erasure changes, and of the person's events.
    pub fn counts(&self, tx: &mut Tx<'_>) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        for table in TABLES.iter().filter(|table| table.treatment != Treatment::Keep) {
            counts.insert(table.name.to_owned(), sql::count(tx, table, self)?);
        }
        counts.insert("events".to_owned(), sql::count_events(tx, &self.actors)?);
        counts.retain(|_, count| *count > 0);
        Ok(counts)
    }

    /// All ids and e-mail addresses, each once.
    pub fn ids(&self) -> Vec<String> {
        let all = self.user.iter().chain(&self.accounts).chain(&self.visitors).chain(&self.emails);
        all.cloned().collect()
    }

    /// The replacement of an id or e-mail address. A visitor gets a pseudonym of its own, because the person may also
    /// have played as a user.
    pub fn replacement(&self, id: &str, pseudonym: &str) -> String {
        match self.visitors.contains(id) {
            true => format!("{pseudonym}-visitor"),
            false => pseudonym.to_owned(),
        }
    }

    /// The strings that name the person, and what replaces them.
    pub fn redaction(&self, pseudonym: &str) -> Redaction {
        let mut redaction = Redaction::default();
        for id in self.user.iter().chain(&self.accounts).chain(&self.visitors) {
            redaction.id(id, &self.replacement(id, pseudonym));
        }
        for name in self.emails.iter().chain(&self.names) {
            redaction.name(name, pseudonym);
        }
        redaction
    }
}
