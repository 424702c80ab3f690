//! Games.

use lyceum_core::Result;
use lyceum_store::{Row, Tx, dialect};

use super::{list_of, ms};
use crate::games::Game;
use crate::input::{Page, metadata_in, text_of};

const COLUMNS: &str = "id, slug, display_name, description, emoji, platform, metadata, mock, \
                       created_ms, updated_ms, shares_identity";

fn read(row: &Row<'_>) -> Result<Game> {
    Ok(Game {
        id: row.string(0)?,
        slug: row.string(1)?,
        display_name: row.string(2)?,
        description: row.opt_string(3)?,
        emoji: row.opt_string(4)?,
        platform: row.string(5)?,
        metadata: metadata_in(row.text(6)?)?,
        mock: row.int(7)? != 0,
        created_at: row.time(8)?,
        updated_at: row.time(9)?,
        shares_identity: row.int(10)? != 0,
    })
}

/// Slugs are never ids, so at most one game fits.
pub(crate) fn find(tx: &mut Tx<'_>, id_or_slug: &str) -> Result<Option<Game>> {
    let sql = format!("SELECT {COLUMNS} FROM games WHERE id = $1 OR slug = $1");
    tx.query_one(&sql, &[id_or_slug.into()], read)
}

pub(crate) fn of_slugs(tx: &mut Tx<'_>, slugs: &[String]) -> Result<Vec<Game>> {
    let is_asked = dialect::is_one_of(tx.dialect(), "slug", "$1");
    let sql = format!("SELECT {COLUMNS} FROM games WHERE {is_asked} ORDER BY slug");
    tx.all(&sql, &[list_of(slugs)?.as_str().into()], read)
}

pub(crate) fn list(tx: &mut Tx<'_>, page: Page) -> Result<Vec<Game>> {
    let sql = format!("SELECT {COLUMNS} FROM games ORDER BY display_name, slug LIMIT $1 OFFSET $2");
    tx.all(&sql, &[page.limit.into(), page.offset.into()], read)
}

/// Answers whether the slug was free.
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

/// Writes what may change over what is there.
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
