//! Code that several of the repository's own programs and tests share.

pub mod chart;
