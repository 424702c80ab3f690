//! Who may call what.

mod early;
