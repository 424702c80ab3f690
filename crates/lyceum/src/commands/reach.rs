//! The flags that limit a client, an API key or an account to a part of the roster.

use clap::Args;
use lyceum_core::Reach;
use lyceum_roster::reach::check;
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::failure::Result;

/// For commands that create something.
#[derive(Args)]
pub(crate) struct NewReach {
    /// Id of an organization. It limits access to this organization and all below it; can be given several times
    #[arg(long = "organization", value_name = "SOURCEDID")]
    organizations: Vec<String>,
}

/// For commands that change the limit.
#[derive(Args)]
#[group(required = true, multiple = true)]
pub(crate) struct ChangedReach {
    /// Id of an organization. It limits access to this organization and all below it; can be given several times
    #[arg(long = "organization", value_name = "SOURCEDID")]
    organizations: Vec<String>,
    /// Id of a teacher. It limits access to the classes of this teacher
    #[arg(long, value_name = "SOURCEDID", conflicts_with = "organizations")]
    teacher: Option<String>,
    /// End the limit
    #[arg(long, conflicts_with_all = ["organizations", "teacher"])]
    everything: bool,
}

impl NewReach {
    pub(crate) fn reach(self) -> Result<Reach> {
        match self.organizations.is_empty() {
            true => Ok(Reach::Everything),
            false => Ok(Reach::organizations(self.organizations)?),
        }
    }
}

impl ChangedReach {
    pub(crate) fn reach(self) -> Result<Reach> {
        match (self.everything, self.teacher) {
            (true, _) => Ok(Reach::Everything),
            (false, Some(teacher)) => Ok(Reach::ClassesOf(teacher)),
            (false, None) => Ok(Reach::organizations(self.organizations)?),
        }
    }
}

/// The part of the roster with these organizations and all below them; everything if none is named. Errors: an
/// organization does not exist.
pub(crate) fn existing(db: &Db, organizations: &[String]) -> Result<Reach> {
    if organizations.is_empty() {
        return Ok(Reach::Everything);
    }
    let reach = Reach::organizations(organizations)?;
    db.read_blocking(|tx| check(tx, &reach))?;
    Ok(reach)
}

/// The reach as a cell of a table.
pub(crate) fn cell(reach: &Reach) -> String {
    match reach {
        Reach::Everything => "everything".to_owned(),
        Reach::Organizations(ids) => ids.iter().cloned().collect::<Vec<_>>().join(" "),
        Reach::ClassesOf(teacher) => format!("classes of {teacher}"),
    }
}

/// The reach as members of a JSON object: `organizations`, `teacher`. Both are null for everything.
pub(crate) fn add_members(record: &mut Value, reach: &Reach) {
    let (organizations, teacher) = match reach {
        Reach::Everything => (Value::Null, Value::Null),
        Reach::Organizations(ids) => (json!(ids), Value::Null),
        Reach::ClassesOf(teacher) => (Value::Null, json!(teacher)),
    };
    record["organizations"] = organizations;
    record["teacher"] = teacher;
}
