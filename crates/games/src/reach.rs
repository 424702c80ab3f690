//! How far an answer goes: of which games it may show records and players.

/// Games that a caller may look into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Games {
    /// All games, and all users, also those who have never played.
    Every,
    /// The games with these ids, and who has played them.
    Only(Vec<String>),
}
