//! The two dialects of records: the standard's closed payloads and the platform's wider ones.

/// Which payloads a client reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Extra fields, paging keys in bodies, relaxed requirements.
    #[default]
    Platform,
    /// Exactly the schemas of OneRoster 1.2.
    Standard,
}
