//! `lyceum admin user`

use std::io::{self, Read};

use clap::{Args, Subcommand};
use lyceum_access::limits;
use lyceum_access::{Person, Role, password, person};
use lyceum_api::NewAccount;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_roster::reach as roster_reach;
use serde_json::{Value, json};

use crate::commands::reach::{self, ChangedReach, NewReach};
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, table};
use crate::settings::{DataArgs, Missing, reached_at, record_change, write};

#[derive(Subcommand)]
pub(crate) enum User {
    /// Create an account and print a one-time link for setting its password
    Create(Create),
    /// List the accounts
    List(List),
    /// Limit an account to organizations or to the classes of a teacher, or end the limit
    Limit(Limit),
    /// Create a new link for setting a password. Earlier links stop working
    Link(One),
    /// Disable an account, so that nobody can sign in to it
    Disable(One),
}

#[derive(Args)]
pub(crate) struct Create {
    /// Email address, used to sign in. Students may have none
    #[arg(required_unless_present = "roster_user")]
    email: Option<String>,
    /// Display name [default: the email address, or the name of the student in the roster]
    #[arg(long)]
    name: Option<String>,
    /// Role of the account
    #[arg(long, value_name = "administrator|guide|developer|student")]
    role: Role,
    /// sourcedId of the student's user in the roster
    #[arg(long, value_name = "SOURCED_ID", required_if_eq("role", "student"))]
    roster_user: Option<String>,
    /// Read the password from standard input instead of creating a link
    #[arg(long)]
    password_stdin: bool,
    #[command(flatten)]
    reach: NewReach,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Limit {
    /// Email address or id of the account
    email: String,
    #[command(flatten)]
    reach: ChangedReach,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct One {
    /// Email address or id of the account
    email: String,
    #[command(flatten)]
    data: DataArgs,
}

impl User {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Create(create) => create.run(printer),
            Self::List(list) => list.run(printer),
            Self::Limit(limit) => limit.run(printer),
            Self::Link(one) => one.link(printer),
            Self::Disable(one) => one.disable(printer),
        }
    }
}

impl Create {
    fn run(self, printer: &Printer) -> Result {
        if self.roster_user.is_some() && self.role != Role::Student {
            let message = "--roster-user is for students; add --role student";
            return Err(Failure::new(Code::Usage, message));
        }
        let typed = if self.password_stdin { Some(read_password()?) } else { None };
        let new = NewAccount {
            email: self.email,
            name: self.name,
            role: self.role,
            roster_user: self.roster_user,
            password: typed.as_deref().map(password::hash),
        };
        let reach = self.reach.reach()?;
        let (loaded, db) = self.data.open_loaded(Missing::Make)?;
        let now = SystemClock.now();
        let (person, link) = write(&db, move |tx| {
            let person = new.create(tx, now)?;
            record_change(tx, now, "user.create", person.account_name())?;
            roster_reach::check(tx, &reach)?;
            let person = person::limit(tx, person.account_name(), &reach)?;
            let link = match new.password {
                Some(_) => None,
                None => Some(person::new_link(tx, now, &person)?),
            };
            Ok((person, link))
        })?;
        print_account(printer, &reached_at(&loaded, &db)?, &person, link.as_deref());
        Ok(())
    }
}

fn read_password() -> Result<String> {
    let mut typed = String::new();
    io::stdin().read_to_string(&mut typed).map_err(|error| Failure::failed(error.to_string()))?;
    let typed = typed.trim_end_matches(['\r', '\n']).to_owned();
    password::check(&typed)?;
    Ok(typed)
}

fn print_account(printer: &Printer, address: &str, person: &Person, link: Option<&str>) {
    let link = link.map(|link| format!("{address}/welcome?link={link}"));
    printer.answer(
        || link.clone().map_or_else(String::new, |link| link + "\n"),
        || {
            let mut shown = record(person);
            if let Some(link) = &link {
                shown["link"] = link.as_str().into();
            }
            shown
        },
    );
    let days = limits::SIGN_IN_LINK_LIFETIME_S / 86_400;
    printer.done(&match link {
        Some(_) => {
            format!(
                "with this link {} can set a password, once, within {days} days",
                person.account_name()
            )
        }
        None => format!("created the account of {} ({})", person.account_name(), person.role),
    });
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let people = db.read_blocking(person::list)?;
        printer.answer(
            || {
                let row = |person: &Person| {
                    let state = match (person.disabled, person.has_password) {
                        (Some(at), _) => format!("disabled {at}"),
                        (None, true) => "active".to_owned(),
                        (None, false) => "no password yet".to_owned(),
                    };
                    let role = person.role.to_string();
                    let reach = reach::cell(&person.reach);
                    vec![person.account_name().to_owned(), person.name.clone(), role, reach, state]
                };
                table(
                    &["account", "name", "role", "access", "state"],
                    &people.iter().map(row).collect::<Vec<_>>(),
                )
            },
            || people.iter().map(record).collect(),
        );
        Ok(())
    }
}

impl Limit {
    fn run(self, printer: &Printer) -> Result {
        let reach = self.reach.reach()?;
        let (_, db) = self.data.open(Missing::Refuse)?;
        let now = SystemClock.now();
        let person = write(&db, move |tx| {
            roster_reach::check(tx, &reach)?;
            let person = person::limit(tx, &self.email, &reach)?;
            record_change(tx, now, "user.limit", person.account_name())?;
            Ok(person)
        })?;
        printer.done(&format!(
            "the account of {} has access to {}",
            person.account_name(),
            person.reach
        ));
        Ok(())
    }
}

impl One {
    fn link(self, printer: &Printer) -> Result {
        let (loaded, db) = self.data.open_loaded(Missing::Refuse)?;
        let now = SystemClock.now();
        let (person, link) = write(&db, move |tx| {
            let person = person::require(tx, &self.email)?;
            let link = person::new_link(tx, now, &person)?;
            record_change(tx, now, "user.link", person.account_name())?;
            Ok((person, link))
        })?;
        print_account(printer, &reached_at(&loaded, &db)?, &person, Some(&link));
        Ok(())
    }

    fn disable(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let now = SystemClock.now();
        let person = write(&db, move |tx| {
            let person = person::disable(tx, now, &self.email)?;
            record_change(tx, now, "user.disable", person.account_name())?;
            Ok(person)
        })?;
        printer.done(&format!(
            "disabled the account of {}: nobody can sign in to it",
            person.account_name()
        ));
        Ok(())
    }
}

fn record(person: &Person) -> Value {
    let mut record = json!({
        "id": person.id,
        "email": Some(&person.email).filter(|email| !email.is_empty()),
        "name": person.name,
        "role": person.role.name(),
        "rosterUser": person.roster_user,
        "hasPassword": person.has_password,
        "created": person.created.to_string(),
        "disabled": person.disabled.map(|at| at.to_string()),
    });
    reach::add_members(&mut record, &person.reach);
    record
}
