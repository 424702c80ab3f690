//! The keys of the objects of a replica. A key says all that planning a restore needs:
//! `EPOCH/CHAIN/snapshot-LOG-OFFSET-TIME` and `EPOCH/CHAIN/segment-LOG-OFFSET-END-TIME`, in decimal digits.

use std::fmt;
use std::str::FromStr;

use lyceum_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A place between two transactions of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The number of the write-ahead log in its chain. SQLite restarts the log after it was carried over.
    pub log: u64,
    /// The offset in the log, in bytes.
    pub offset: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "log {}, offset {}", self.log, self.offset)
    }
}

/// A chain: a snapshot and the segments that continue it. Chains are ordered by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChainId {
    pub(crate) epoch: u64,
    pub(crate) number: u64,
}

/// The key of an object, without the prefix of its replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectKey {
    pub(crate) chain: ChainId,
    pub(crate) kind: ObjectKind,
    /// When the last transaction in the object was found.
    pub(crate) time: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ObjectKind {
    /// The whole database at a position.
    Snapshot(Position),
    /// Transactions from a position up to an offset of the same log.
    Segment(Position, u64),
}

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:020}/{:010}", self.epoch, self.number)
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (chain, time) = (self.chain, self.time.milliseconds());
        match self.kind {
            ObjectKind::Snapshot(Position { log, offset }) => {
                write!(f, "{chain}/snapshot-{log:010}-{offset:012}-{time:014}")
            }
            ObjectKind::Segment(Position { log, offset }, end) => {
                write!(f, "{chain}/segment-{log:010}-{offset:012}-{end:012}-{time:014}")
            }
        }
    }
}

/// The text is not a key of a replica.
pub(crate) struct NotAKey;

impl FromStr for ObjectKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let number = |text: &str| text.parse::<u64>().map_err(|_| NotAKey);
        let [epoch, chain, name] = text.split('/').collect::<Vec<_>>()[..] else {
            return Err(NotAKey);
        };
        let chain = ChainId { epoch: number(epoch)?, number: number(chain)? };
        let (kind, time) = match name.split('-').collect::<Vec<_>>()[..] {
            ["snapshot", log, offset, time] => {
                let at = Position { log: number(log)?, offset: number(offset)? };
                (ObjectKind::Snapshot(at), time)
            }
            ["segment", log, offset, end, time] => {
                let from = Position { log: number(log)?, offset: number(offset)? };
                (ObjectKind::Segment(from, number(end)?), time)
            }
            _ => return Err(NotAKey),
        };
        let time = i64::try_from(number(time)?).map_err(|_| NotAKey)?;
        Ok(Self { chain, kind, time: Timestamp::from_milliseconds(time) })
    }
}
