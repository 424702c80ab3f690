//! Games.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, columns, dialect};
use schemars::JsonSchema;
use serde::Serialize;

use super::{list_of, ms};
use crate::input::{Metadata, PageRequest, text_of};

/// A game.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Game {
    /// A UUID.
    pub id: String,
    /// Its name in URLs.
    pub slug: String,
    /// Its name for people.
    pub display_name: String,
    /// Its description.
    pub description: Option<String>,
    /// The emoji that represents it.
    pub emoji: Option<String>,
    /// The platform that it runs on: `web`.
    pub platform: String,
    /// Further data from its developers.
    pub metadata: Metadata,
    /// Whether it stands for a project under development.
    pub mock: bool,
    /// Whether the game receives the names and email addresses of its players.
    pub shares_identity: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

columns!(Game {
    id: "id",
    slug: "slug",
    display_name: "display_name",
    description: "description",
    emoji: "emoji",
    platform: "platform",
    metadata: "metadata",
    mock: "mock",
    created_at: "created_ms",
    updated_at: "updated_ms",
    shares_identity: "shares_identity",
});

const COLUMNS: &str = Game::COLUMNS;

/// Slugs never look like ids, so at most one game matches.
pub(crate) fn find(tx: &mut Tx<'_>, id_or_slug: &str) -> Result<Option<Game>> {
    let sql = format!("SELECT {COLUMNS} FROM games WHERE id = $1 OR slug = $1");
    tx.row(&sql, &[id_or_slug.into()])
}

pub(crate) fn of_slugs(tx: &mut Tx<'_>, slugs: &[String]) -> Result<Vec<Game>> {
    let is_asked = dialect::is_one_of(tx.dialect(), "slug", "$1");
    let sql = format!("SELECT {COLUMNS} FROM games WHERE {is_asked} ORDER BY slug");
    tx.rows(&sql, &[list_of(slugs)?.as_str().into()])
}

pub(crate) fn list(tx: &mut Tx<'_>, page: PageRequest) -> Result<Vec<Game>> {
    let sql = format!("SELECT {COLUMNS} FROM games ORDER BY display_name, slug LIMIT $1 OFFSET $2");
    tx.rows(&sql, &[page.limit.into(), page.offset.into()])
}

/// Returns whether the slug was free.
pub(crate) fn insert(tx: &mut Tx<'_>, game: &Game) -> Result<bool> {
    let sql = format!(
        "INSERT INTO games ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
         ON CONFLICT DO NOTHING"
    );
    let metadata = text_of(&game.metadata);
    let inserted = tx.execute(
        &sql,
        &[
            (&game.id).into(),
            (&game.slug).into(),
            (&game.display_name).into(),
            game.description.as_deref().into(),
            game.emoji.as_deref().into(),
            (&game.platform).into(),
            (&metadata).into(),
            i64::from(game.mock).into(),
            ms(game.created_at),
            ms(game.updated_at),
            i64::from(game.shares_identity).into(),
        ],
    )?;
    Ok(inserted > 0)
}

/// Updates the members that may change.
pub(crate) fn update(tx: &mut Tx<'_>, game: &Game) -> Result<()> {
    let metadata = text_of(&game.metadata);
    tx.send(
        "UPDATE games SET display_name = $1, description = $2, emoji = $3, platform = $4, \
         metadata = $5, updated_ms = $6, shares_identity = $7 WHERE id = $8",
        &[
            (&game.display_name).into(),
            game.description.as_deref().into(),
            game.emoji.as_deref().into(),
            (&game.platform).into(),
            (&metadata).into(),
            ms(game.updated_at),
            i64::from(game.shares_identity).into(),
            (&game.id).into(),
        ],
    )
}
