//! The SQL of this crate.

pub mod attempts;
pub(crate) mod banks;
pub(crate) mod external;
pub(crate) mod lesson_plans;
pub mod log;
pub(crate) mod policies;
pub(crate) mod render_config;
pub(crate) mod screening;
pub(crate) mod test_assignments;
pub(crate) mod time_limit;
