//! `lyceum admin`

mod adopt;
mod api_keys;
mod backup;
mod check;
mod gc;
mod keys;
mod master_key;
mod members;
mod person;
mod projects;
mod purge;
mod replica;
mod users;

use clap::Subcommand;

use crate::failure::Result;
use crate::printer::Printer;

#[derive(Subcommand)]
pub(crate) enum Admin {
    /// Back up the whole server to a file while it runs: the database and the files of deployed projects
    Backup(backup::Backup),
    /// Restore the server from a backup file, or from its replica to a time
    Restore(backup::Restore),
    /// Take over the objects and replicas of an installation whose servers will never run again
    Adopt(adopt::Adopt),
    /// List objects in the S3 bucket that nobody owns, or delete them
    Gc(gc::Gc),
    /// Check all data, or a backup, for missing files and inconsistent records
    Check(check::Check),
    /// Permanently remove records that were deleted long ago
    Purge(purge::Purge),
    /// Create a new key for signing tokens
    RotateKeys(keys::RotateKeys),
    /// Encrypt the secrets in the database under a new master key
    RotateMasterKey(master_key::RotateMasterKey),
    /// Create, list and disable user accounts
    #[command(subcommand)]
    User(users::User),
    /// Create, list and revoke API keys, for example for CI jobs
    #[command(subcommand)]
    Key(api_keys::Key),
    /// Add and remove the members of a project
    #[command(subcommand)]
    Member(members::Member),
    /// Export everything about one person, or erase it
    #[command(subcommand)]
    Person(person::Person),
    /// Show or change which node holds the files of a project
    #[command(subcommand)]
    Project(projects::Project),
}

impl Admin {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Backup(backup) => backup.run(printer),
            Self::Restore(restore) => restore.run(printer),
            Self::Adopt(adopt) => adopt.run(printer),
            Self::Gc(gc) => gc.run(printer),
            Self::Check(check) => check.run(printer),
            Self::Purge(purge) => purge.run(printer),
            Self::RotateKeys(rotate) => rotate.run(printer),
            Self::RotateMasterKey(rotate) => rotate.run(printer),
            Self::User(user) => user.run(printer),
            Self::Key(key) => key.run(printer),
            Self::Member(member) => member.run(printer),
            Self::Person(person) => person.run(printer),
            Self::Project(project) => project.run(printer),
        }
    }
}
