//! `lyceum admin`

mod api_keys;
mod backup;
mod check;
mod keys;
mod members;
mod postgres;
mod projects;
mod purge;
mod users;

use clap::Subcommand;

use crate::failure::Result;
use crate::printer::Printer;

#[derive(Subcommand)]
pub(crate) enum Admin {
    /// Write the whole server into a file while it is in use: the database and the files of deployed projects
    Backup(backup::Backup),
    /// Make the server anew from a backup file
    Restore(backup::Restore),
    /// Read everything, or a backup, and report what does not fit together
    Check(check::Check),
    /// Remove records for good that were deleted long ago
    Purge(purge::Purge),
    /// Make a new key for signing tokens
    RotateKeys(keys::RotateKeys),
    /// Make, list and disable accounts of people
    #[command(subcommand)]
    User(users::User),
    /// Make, list and revoke API keys, such as for CI jobs
    #[command(subcommand)]
    Key(api_keys::Key),
    /// Say who belongs to a project
    #[command(subcommand)]
    Member(members::Member),
    /// Say which node holds the files of a project
    #[command(subcommand)]
    Project(projects::Project),
}

impl Admin {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Backup(backup) => backup.run(printer),
            Self::Restore(restore) => restore.run(printer),
            Self::Check(check) => check.run(printer),
            Self::Purge(purge) => purge.run(printer),
            Self::RotateKeys(rotate) => rotate.run(printer),
            Self::User(user) => user.run(printer),
            Self::Key(key) => key.run(printer),
            Self::Member(member) => member.run(printer),
            Self::Project(project) => project.run(printer),
        }
    }
}
