//! `lyceum lesson policy`

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use lyceum_adaptive::policies::{self, PolicyVersion};
use lyceum_adaptive::{BuiltInPolicy, LessonType, Policy as Rules};
use lyceum_core::messages::io_reason;
use lyceum_core::time::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, table};
use crate::settings::{DataArgs, Missing, write};

#[derive(Subcommand)]
pub(crate) enum Policy {
    /// List the policies in force, or print one in the format that `set` reads
    Show(Show),
    /// Put a policy into force for attempts that begin from now on
    Set(Set),
    /// Replay past attempts under a policy and show what would change. Writes nothing
    Simulate(super::simulate::Simulate),
}

#[derive(Args)]
pub(crate) struct Show {
    /// The lesson type, such as powerpath-100
    #[arg(value_name = "TYPE", value_parser = lesson_type)]
    lesson_type: Option<LessonType>,
    /// An earlier version; 0 is the built-in one
    #[arg(long, value_name = "N", requires = "lesson_type")]
    version: Option<i64>,
    /// A built-in policy
    #[arg(long, value_name = "standard|diminishing", value_parser = shipped)]
    #[arg(requires = "lesson_type", conflicts_with = "version")]
    shipped: Option<BuiltInPolicy>,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Set {
    /// A policy file in the format that `show` prints
    file: PathBuf,
    #[command(flatten)]
    data: DataArgs,
}

impl Policy {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Show(show) => show.run(printer),
            Self::Set(set) => set.run(printer),
            Self::Simulate(simulate) => simulate.run(printer),
        }
    }
}

impl Show {
    fn run(self, printer: &Printer) -> Result {
        let Some(lesson_type) = self.lesson_type else { return self.all(printer) };
        if let Some(shipped) = self.shipped {
            print(printer, &Rules::of(lesson_type, shipped));
            return Ok(());
        }
        let (_, db) = self.data.open(Missing::Refuse)?;
        let found = db.read_blocking(|tx| match self.version {
            Some(number) => policies::version(tx, lesson_type, number),
            None => policies::current(tx, lesson_type),
        })?;
        print(printer, &found.policy);
        printer.done(&version_text(&found));
        Ok(())
    }

    fn all(&self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let current = |kind| db.read_blocking(|tx| policies::current(tx, kind));
        let found = LessonType::ALL.into_iter().map(current).collect::<Result<Vec<_>, _>>()?;
        printer.answer(
            || {
                let rows: Vec<_> = found.iter().map(row).collect();
                table(&["type", "version", "policy", "set"], &rows)
            },
            || found.iter().map(record).collect(),
        );
        Ok(())
    }
}

impl Set {
    fn run(self, printer: &Printer) -> Result {
        let policy = read(&self.file)?;
        let (_, db) = self.data.open(Missing::Make)?;
        let now = SystemClock.now();
        let version = write(&db, move |tx| policies::set(tx, now, &policy))?;
        printer.answer(String::new, || record(&version));
        printer.done(&format!(
            "{}; it applies to attempts that begin from now on",
            version_text(&version)
        ));
        Ok(())
    }
}

/// A policy from a file.
pub(super) fn read(file: &Path) -> Result<Rules> {
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::new(Code::NotFound, format!("there is no '{name}'"))
            .hint("run `lyceum lesson policy show powerpath-100` for an example"),
        _ => Failure::failed(format!("'{name}' cannot be read: {}", io_reason(&error))),
    })?;
    let json: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::failed(format!("'{name}' is not JSON: {error}")))?;
    let policy = Rules::read(&json).map_err(Failure::from)?;
    Ok(policy)
}

fn lesson_type(name: &str) -> Result<LessonType, String> {
    LessonType::from_name(name).ok_or_else(|| {
        let names = LessonType::ALL.map(LessonType::name).join(", ");
        format!("there is no lesson type '{name}'; the types are {names}")
    })
}

fn shipped(name: &str) -> Result<BuiltInPolicy, String> {
    BuiltInPolicy::from_name(name).ok_or_else(|| {
        let names = BuiltInPolicy::ALL.map(BuiltInPolicy::name).join(", ");
        format!("there is no built-in policy '{name}'; the built-in ones are {names}")
    })
}

/// The same text in every output format, because `set` reads it.
fn print(printer: &Printer, policy: &Rules) {
    printer.text(&format!("{:#}\n", json!(policy)));
}

fn version_text(version: &PolicyVersion) -> String {
    let PolicyVersion { number, policy, .. } = version;
    format!("'{}' is version {number} of the policy of {}", policy.name, policy.lesson_type)
}

fn row(version: &PolicyVersion) -> Vec<String> {
    let PolicyVersion { number, created_at, policy } = version;
    let set = created_at.clone().unwrap_or_else(|| "built in".to_owned());
    vec![policy.lesson_type.name().to_owned(), number.to_string(), policy.name.clone(), set]
}

fn record(version: &PolicyVersion) -> Value {
    json!({
        "lessonType": version.policy.lesson_type,
        "version": version.number,
        "createdAt": version.created_at,
        "name": version.policy.name,
    })
}
