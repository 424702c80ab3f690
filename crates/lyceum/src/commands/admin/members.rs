//! `lyceum admin member`

use clap::{Args, Subcommand};
use lyceum_access::person;
use lyceum_core::time::{Clock, SystemClock};

use crate::failure::Result;
use crate::printer::Printer;
use crate::settings::{DataArgs, Missing, record_change, write};

#[derive(Subcommand)]
pub(crate) enum Member {
    /// Make a person a member of a project, who may see, deploy and change it
    Add(Of),
    /// Remove a person from a project
    Remove(Of),
}

#[derive(Args)]
pub(crate) struct Of {
    /// Slug of the project
    project: String,
    /// Email address of the person
    email: String,
    #[command(flatten)]
    data: DataArgs,
}

impl Member {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (of, joins) = match self {
            Self::Add(of) => (of, true),
            Self::Remove(of) => (of, false),
        };
        let (_, db) = of.data.open(Missing::Refuse)?;
        let (project, email, now) = (of.project.clone(), of.email, SystemClock.now());
        let person = write(&db, move |tx| {
            let person = person::require(tx, &email)?;
            match joins {
                true => lyceum_access::join(tx, &project, &person.id)?,
                false => lyceum_access::leave(tx, &project, &person.id)?,
            }
            let what = if joins { "project.join" } else { "project.leave" };
            record_change(tx, now, what, &format!("{project} {email}"))?;
            Ok(person)
        })?;
        let (who, project) = (person.email, of.project);
        printer.done(&match joins {
            true => format!("{who} is a member of '{project}'"),
            false => format!("{who} is no longer a member of '{project}'"),
        });
        Ok(())
    }
}
