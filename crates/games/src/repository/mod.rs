//! The only SQL of this crate, a file for each part of the platform.

pub(crate) mod achievements;
pub(crate) mod games;
pub(crate) mod inventory;
pub(crate) mod levels;
pub(crate) mod lms;
pub(crate) mod notifications;
pub(crate) mod players;
pub(crate) mod requests;
pub(crate) mod scores;
pub(crate) mod sessions;
pub(crate) mod states;
pub(crate) mod visitors;

use lyceum_core::time::Timestamp;
use lyceum_store::Value;

fn ms(at: Timestamp) -> Value<'static> {
    at.milliseconds().into()
}
