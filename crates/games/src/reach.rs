//! How far an answer goes: of which games it may show records and players.

/// Games that a caller may look into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Games {
    /// Every game, and whoever has not played yet.
    Every,
    /// The games with these ids, and who has played them.
    Only(Vec<String>),
}
