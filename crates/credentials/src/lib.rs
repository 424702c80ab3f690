//! Credentials that anyone can verify: Open Badges 3.0 and Comprehensive Learner Records 2.0.
//!
//! What signs, checks, bakes and reads is pure: no file, no network, no clock. What a check needs
//! from elsewhere, a key document or a status list, is named first and passed in.

pub mod did;
pub mod key;
