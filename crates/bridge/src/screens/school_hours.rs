//! School hours: all organizations with the hours in force.

use lyceum_core::{Reach, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::ORG;
use lyceum_roster::record::members;
use lyceum_roster::repository;
use lyceum_store::Tx;

use crate::school_hours::{self, SchoolHours, SchoolHoursInForce};

/// An organization with its hours.
#[derive(Clone, Debug)]
pub struct OrganizationHours {
    /// The sourcedId.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The hours, and who sets them.
    pub in_force: SchoolHoursInForce,
    /// The name of the organization that sets them; empty for the usual hours.
    pub set_by_name: String,
}

/// All active organizations by name.
pub fn read(tx: &mut Tx<'_>, usual: &SchoolHours) -> Result<Vec<OrganizationHours>> {
    let mut names = std::collections::HashMap::new();
    repository::each(tx, &ORG, |body, extra| {
        let org = members(body, extra)?;
        if fields::is_in_use(&org) {
            let text = |name| fields::text(&org, name).to_owned();
            names.insert(text("sourcedId"), text("name"));
        }
        Ok(())
    })?;
    let in_force = school_hours::in_force(tx, usual, names.keys().map(String::as_str))?;
    let mut all: Vec<OrganizationHours> =
        in_force.into_iter().map(|(id, in_force)| with_names(&names, id, in_force)).collect();
    all.sort_by_cached_key(|one| (lyceum_core::text::folded(&one.name), one.id.clone()));
    Ok(all)
}

fn with_names(
    names: &std::collections::HashMap<String, String>,
    id: String,
    in_force: SchoolHoursInForce,
) -> OrganizationHours {
    let name = |id: &str| names.get(id).cloned().unwrap_or_default();
    let set_by_name = in_force.set_by.as_deref().map(name).unwrap_or_default();
    OrganizationHours { name: name(&id), id, in_force, set_by_name }
}

/// The hours of one organization. Errors: `NotFound`.
pub fn one(tx: &mut Tx<'_>, usual: &SchoolHours, id: &str) -> Result<OrganizationHours> {
    let in_force = school_hours::of_org(tx, usual, id, &Reach::Everything)?;
    let ids = [Some(id), in_force.set_by.as_deref()];
    let orgs = fields::of_all(tx, &ORG, ids.into_iter().flatten())?;
    let names = orgs.iter().map(|(id, org)| (id.clone(), fields::text(org, "name").to_owned()));
    Ok(with_names(&names.collect(), id.to_owned(), in_force))
}
