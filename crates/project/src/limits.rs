//! The limits of this crate, each with its unit.

// # Projects

/// Bytes of the value of a project's secret at most.
pub const SECRET_MAX_BYTES: usize = 16 * 1024;
/// Secrets of one project at most.
pub const SECRETS_MAX_COUNT: usize = 100;
/// Bytes of a project's schema, and of one of its migrations, at most.
pub const SCHEMA_MAX_BYTES: usize = 1024 * 1024;
/// Migrations of one project at most.
pub const MIGRATIONS_MAX_FILES: usize = 2000;

// # Internal

/// Characters of a slug of a game or item, or of the name of an achievement, at most: with `-staging`
/// behind it, it fits a label of a host's name.
pub const GAME_SLUG_MAX_CHARS: usize = 50;
/// Bytes of the name of a project's secret at most.
pub const SECRET_NAME_MAX_BYTES: usize = 64;
