//! The schema part of a deploy: the current state of the server's database, the desired one, and the change between
//! them.

use lyceum_core::{Problem, ProblemKind, Result, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Strategy;
use crate::schema::{self, Applied, MigrationFile, Rename, Schema};

/// The database of a project as a server has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseState {
    /// The DDL of the file; empty if the file does not exist.
    pub ddl: String,
    /// The migrations that were applied, in order.
    pub applied: Vec<Applied>,
    /// The DDL of the served version's schema; `None` if it has no schema.
    pub declared: Option<String>,
}

/// The desired state of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseWish {
    /// The desired schema.
    #[serde(flatten)]
    pub schema: SchemaWish,
    /// Whether to apply the change even if it loses the data that the plan lists.
    pub accept_data_loss: bool,
}

/// A schema, or the files that lead to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "strategy", rename_all = "camelCase")]
pub enum SchemaWish {
    /// Apply the difference to the current schema.
    Push {
        /// The whole schema.
        ddl: String,
        /// Renamed tables and columns, as `old=new` and `table.old=new`.
        renames: Vec<String>,
    },
    /// Run migration files: all of them, in order.
    Migrate {
        /// The files.
        files: Vec<MigrationFile>,
    },
}

impl SchemaWish {
    /// The strategy that this is for.
    pub fn strategy(&self) -> Strategy {
        match self {
            Self::Push { .. } => Strategy::Push,
            Self::Migrate { .. } => Strategy::Migrate,
        }
    }

    /// The same schema for another server, without renames that do not apply there. Errors: SQL that SQLite does not
    /// understand.
    pub fn for_state(self, state: &DatabaseState) -> Result<Self> {
        let Self::Push { ddl, renames } = self else { return Ok(self) };
        let (current, desired) = (Schema::of(&state.ddl)?, Schema::of(&ddl)?);
        let still = |text: &String| {
            text.parse().is_ok_and(|rename| schema::diff(&current, &desired, &[rename]).is_ok())
        };
        let renames = renames.into_iter().filter(still).collect();
        Ok(Self::Push { ddl, renames })
    }

    /// The parsed renames. Errors: `Invalid` if one is malformed.
    pub fn renames(&self) -> Result<Vec<Rename>> {
        let Self::Push { renames, .. } = self else { return Ok(Vec::new()) };
        let parsed = renames.iter().map(|text| {
            text.parse().map_err(|fault: String| {
                Problem::invalid("desired.database.renames", message!("'{text}' {fault}"))
            })
        });
        parsed.collect()
    }
}

/// The change of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseChange {
    /// The way in which the change is applied.
    pub strategy: Strategy,
    /// The statements of a push, in order.
    pub statements: Vec<String>,
    /// The names of the migration files that are applied, in order.
    pub migrations: Vec<String>,
    /// Whether the database already matches the files, so that they are recorded as applied without being run.
    pub adopts: bool,
    /// The data that is lost, one sentence each.
    pub losses: Vec<String>,
    /// Other possible intentions, such as renames, one sentence each.
    pub hints: Vec<String>,
    /// Changes that others made since the last deploy, as statements.
    pub drift: Vec<String>,
    /// The DDL after the change.
    pub ddl: String,
}

/// Computes the change from a database's state to the desired one.
///
/// Errors: SQL that SQLite does not understand; a diverged history of migrations; an invalid rename.
pub fn change(
    state: &DatabaseState,
    desired_database: &DatabaseWish,
) -> Result<Option<DatabaseChange>> {
    let current = Schema::of(&state.ddl)?;
    let mut change = DatabaseChange {
        strategy: desired_database.schema.strategy(),
        statements: Vec::new(),
        migrations: Vec::new(),
        adopts: false,
        losses: Vec::new(),
        hints: Vec::new(),
        drift: Vec::new(),
        ddl: String::new(),
    };
    match &desired_database.schema {
        SchemaWish::Push { ddl, .. } => {
            let desired = Schema::of(ddl)?;
            let found = schema::diff(&current, &desired, &desired_database.schema.renames()?)?;
            if found.is_empty() {
                return Ok(None);
            }
            (change.statements, change.losses, change.hints) =
                (found.statements, found.losses, found.hints);
            change.ddl = desired.ddl();
        }
        SchemaWish::Migrate { files } => {
            let missing = schema::unapplied(&state.applied, files)?;
            if missing.is_empty() {
                return Ok(None);
            }
            change.adopts = schema::adopts(&current, &state.applied, files)?;
            change.migrations = missing.iter().map(|file| file.tag.clone()).collect();
            let (result, losses) = match change.adopts {
                true => (current.clone(), Vec::new()),
                false => schema::after_migrations(&current, missing)?,
            };
            (change.ddl, change.losses) = (result.ddl(), losses);
        }
    }
    if let Some(declared) = &state.declared {
        let declared = Schema::of(declared)?;
        change.drift = schema::diff(&declared, &current, &[])?.statements;
    }
    Ok(Some(change))
}

impl DatabaseChange {
    /// Refuses a change that loses data unless the deploy accepts that.
    pub fn check(&self, desired: &DatabaseWish) -> Result<()> {
        if desired.accept_data_loss || self.losses.is_empty() {
            return Ok(());
        }
        let message = message!("this would lose data: {reason}", reason = self.losses.join("; "));
        Err(Problem::new(ProblemKind::Conflict, message))
    }
}
