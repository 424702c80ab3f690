//! Learner records: the newest ones, one of them.

use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_store::Tx;
use serde_json::Value;

use super::{Learner, UserNames, newest, text};
use crate::body::Object;
use crate::clr::{self, Record};

/// A learner record of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnerRecord {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The learner, where the subject is a user of this server.
    pub learner: Option<Learner>,
    /// How many achievements it contains.
    pub achievement_count: usize,
    /// From when it is valid.
    pub valid_from: Timestamp,
    /// The number of its version, from 1.
    pub version: i64,
}

/// Reads the list: the newest records of learners within the reach, as many as a page can show.
pub fn read(tx: &mut Tx<'_>, reach: &Reach) -> Result<Vec<LearnerRecord>> {
    let found = newest(reach, |page| clr::list(tx, &page))?;
    let names = UserNames::of(tx, found.iter().filter_map(|record| record.of.learner.as_deref()))?;
    let summary = |record: &Record| {
        let object = record.object()?;
        Ok(LearnerRecord {
            id: record.of.id.clone(),
            title: title(&object),
            learner: record.of.learner.as_deref().map(|id| names.learner(id)),
            achievement_count: clr::achievements(&object).len(),
            valid_from: record.of.valid_from,
            version: record.number,
        })
    };
    found.iter().map(summary).collect()
}

fn title(record: &Object) -> String {
    record.get("name").map(text).unwrap_or_default()
}

/// An achievement of a learner record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Achievement {
    /// Its name.
    pub name: String,
    /// The achievement.
    pub description: String,
    /// Its id.
    pub id: String,
}

/// The content of the page of one learner record.
#[derive(Clone, Debug)]
pub struct OneRecord {
    /// The record as it is stored.
    pub record: Record,
    /// Its title.
    pub title: String,
    /// The learner, where the subject is a user of this server.
    pub learner: Option<Learner>,
    /// Its achievements.
    pub achievements: Vec<Achievement>,
    /// The credential.
    pub body: Object,
}

/// Reads the page of a record. Errors: `NotFound`.
pub fn one(tx: &mut Tx<'_>, base_url: &str, id: &str, reach: &Reach) -> Result<OneRecord> {
    let record = clr::require(tx, base_url, id, reach)?;
    let names = UserNames::of(tx, record.of.learner.as_deref().into_iter())?;
    let body = record.object()?;
    let achievement = |achievement: &Value| {
        let member = |name: &str| text(&achievement[name]);
        Achievement { name: member("name"), description: member("description"), id: member("id") }
    };
    Ok(OneRecord {
        title: title(&body),
        learner: record.of.learner.as_deref().map(|id| names.learner(id)),
        achievements: clr::achievements(&body).iter().map(achievement).collect(),
        body,
        record,
    })
}
