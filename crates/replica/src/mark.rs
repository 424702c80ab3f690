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

/// The key of the object that names the owner of a bucket.
const OWNER: &str = "owner.json";
/// The key of the object that exists while the owner is in doubt.
const IN_DOUBT: &str = "in-doubt.json";

/// The installation whose servers may delete objects of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketOwner {
    /// Its id.
    pub installation: String,
    /// The mark that its servers stored last. They replace it regularly.
    #[serde(flatten)]
    pub mark: StoreMark,
}

impl ReplicaStore {
    /// The owner; `None` if no server has claimed the bucket. Errors: `Unavailable`.
    pub fn owner(&self) -> Result<Option<BucketOwner>> {
        let stored = self.get(OWNER)?;
        stored.map(|text| serde_json::from_slice(&text).map_err(Problem::internal)).transpose()
    }

    /// Replaces the owner. Errors: `Unavailable`.
    pub fn set_owner(&self, owner: &BucketOwner) -> Result<()> {
        self.put(OWNER, serde_json::to_vec(owner).map_err(Problem::internal)?)
    }

    /// Whether servers of two databases have used the bucket as the same installation. Errors: `Unavailable`.
    pub fn is_owner_in_doubt(&self) -> Result<bool> {
        Ok(self.get(IN_DOUBT)?.is_some())
    }

    /// Notes whether the owner is in doubt. It is an object of its own, so that no owner who renews its mark removes it.
    /// Errors: `Unavailable`.
    pub fn set_owner_in_doubt(&self, is_in_doubt: bool) -> Result<()> {
        match is_in_doubt {
            true => self.put(IN_DOUBT, b"{}".to_vec()),
            false => self.delete(IN_DOUBT),
        }
    }
}
