//! The games that an answer may include, with their records and players.

/// The games that a caller may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VisibleGames {
    /// All games, and all users, including those who have never played.
    Every,
    /// The games with these ids, and their players.
    Only(Vec<String>),
}
