//! The only SQL of this crate.

pub(crate) mod address;
pub(crate) mod api_keys;
pub(crate) mod audit;
pub(crate) mod clients;
pub(crate) mod device;
pub(crate) mod guesses;
pub(crate) mod identities;
pub(crate) mod keys;
pub(crate) mod links;
pub(crate) mod members;
pub(crate) mod people;
pub(crate) mod reach;
pub(crate) mod sessions;
pub(crate) mod signing;
