//! The mark of a store of replicas. The servers that write into the store replace it regularly, so that they notice if
//! others write there, too.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use serde::{Deserialize, Serialize};

use crate::objects::ReplicaStore;

/// The key of the object with the mark.
pub(crate) const MARK: &str = "mark.json";

/// The mark that the last writer stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreMark {
    /// A random text.
    pub mark: String,
    /// When it was stored, in milliseconds since 1970.
    at_ms: i64,
}

impl StoreMark {
    /// A mark that is stored now.
    pub fn new(mark: &str, now: Timestamp) -> Self {
        Self { mark: mark.to_owned(), at_ms: now.milliseconds() }
    }

    /// When it was stored.
    pub fn at(&self) -> Timestamp {
        Timestamp::from_milliseconds(self.at_ms)
    }
}

impl ReplicaStore {
    /// The mark of the store; `None` if nobody has written into it. Errors: `Unavailable`.
    pub fn mark(&self) -> Result<Option<StoreMark>> {
        let stored = self.get(MARK)?;
        stored.map(|text| serde_json::from_slice(&text).map_err(Problem::internal)).transpose()
    }

    /// Replaces the mark. Errors: `Unavailable`.
    pub fn set_mark(&self, mark: &StoreMark) -> Result<()> {
        self.put(MARK, serde_json::to_vec(mark).map_err(Problem::internal)?)
    }
}

/// The key of the object that exists once the store is left.
const LEFT: &str = "left.json";

impl ReplicaStore {
    /// Whether its writers have left the store for good, because servers of two databases wrote into it. Errors:
    /// `Unavailable`.
    pub fn is_left(&self) -> Result<bool> {
        Ok(self.get(LEFT)?.is_some())
    }

    /// Notes that the store is left. It is an object of its own, so that no writer who renews the mark removes it. Errors:
    /// `Unavailable`.
    pub fn set_left(&self) -> Result<()> {
        self.put(LEFT, b"{}".to_vec())
    }
}
