//! How a problem is told: one table of status codes, one body a standard.

/// The body that an area's problems are told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// 1EdTech's `imsx_StatusInfo` as OneRoster spells it (`imsx_CodeMinor`).
    Imsx,
    /// RFC 6749 section 5.2: `error`, `error_description`.
    OAuth,
    /// RFC 9457: `application/problem+json`.
    Problem,
}
