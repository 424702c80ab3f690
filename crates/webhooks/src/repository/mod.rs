//! The SQL of this crate.

pub(crate) mod deliveries;
pub(crate) mod filters;
pub(crate) mod sender;
pub(crate) mod webhooks;
