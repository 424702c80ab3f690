//! Issuing a badge: the learners whom a search finds, and the badges to choose from.

use lyceum_core::text::folded;
use lyceum_core::{Reach, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::ORG;
use lyceum_roster::repository::{self, ListedStudent};
use lyceum_store::Tx;

use super::MOST;
use crate::definition;

/// Learners who are shown to choose from.
const CHOICES: usize = 20;

/// The choices that the page offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The first learners whom the search finds.
    pub learners: Vec<Candidate>,
    /// How many more it finds.
    pub more_count: usize,
    /// Achievement and name of each badge that can be issued.
    pub badges: Vec<(String, String)>,
}

/// A learner to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The learner.
    pub learner: ListedStudent,
    /// The name of the school; empty if there is none.
    pub school: String,
}

/// Reads the page with learners within the reach. The search is a part of a name or e-mail address, or a sourcedId; an
/// empty one finds nobody.
pub fn read(tx: &mut Tx<'_>, search: &str, reach: &Reach) -> Result<Choices> {
    let (stored, _) = definition::list(tx, MOST, 0)?;
    let badges = stored.into_iter().map(|stored| {
        let name = stored.definition.name().to_owned();
        (stored.definition.achievement, name)
    });
    let badges = badges.collect();
    let mut found = match search {
        "" => Vec::new(),
        search => find(tx, &folded(search), reach)?,
    };
    let more_count = found.len().saturating_sub(CHOICES);
    found.truncate(CHOICES);
    let orgs = found.iter().map(|learner| learner.org.as_str());
    let orgs = fields::of_all_within(tx, &ORG, orgs, reach)?;
    let candidate = |learner: ListedStudent| {
        let school = orgs.get(&learner.org).map(|org| fields::text(org, "name").to_owned());
        Candidate { school: school.unwrap_or_default(), learner }
    };
    Ok(Choices { learners: found.into_iter().map(candidate).collect(), more_count, badges })
}

/// The learner with that sourcedId alone, or all whose name, address or sourcedId contains the search.
fn find(tx: &mut Tx<'_>, search: &str, reach: &Reach) -> Result<Vec<ListedStudent>> {
    let mut learners = repository::learners(tx, reach)?;
    if let Some(at) = learners.iter().position(|learner| folded(&learner.id) == search) {
        return Ok(vec![learners.swap_remove(at)]);
    }
    learners.retain(|learner| {
        let texts = [&learner.name(), &learner.email, &learner.id];
        texts.iter().any(|text| folded(text).contains(search))
    });
    Ok(learners)
}
