//! Items, and players' inventories.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, columns};
use schemars::JsonSchema;
use serde::Serialize;

use super::ms;
use crate::input::{Metadata, PageRequest, text_of};

/// A quantity of an item in a player's inventory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "HeldItem")]
pub struct HeldItem {
    /// The item's id. A player has one record per item.
    pub id: String,
    /// The quantity.
    pub quantity: i64,
    /// The item.
    pub item: InventoryItem,
    /// When the quantity changed.
    pub updated_at: Timestamp,
}

/// An item of the inventory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InventoryItem {
    /// A UUID.
    pub id: String,
    /// Its name for programs.
    pub slug: String,
    /// The game that it belongs to; `None` if it belongs to the platform.
    pub game_id: Option<String>,
    /// Its name for people.
    pub display_name: String,
    /// Its description.
    pub description: Option<String>,
    /// The sort of the item.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = KINDS))]
    pub kind: String,
    /// Further data.
    pub metadata: Metadata,
}

/// The kinds of items.
pub const KINDS: [&str; 6] = ["currency", "badge", "trophy", "collectible", "upgrade", "other"];

columns!(InventoryItem {
    id: "i.id",
    slug: "i.slug",
    game_id: "i.game_id",
    display_name: "i.display_name",
    description: "i.description",
    kind: "i.kind",
    metadata: "i.metadata",
});

const COLUMNS: &str = InventoryItem::COLUMNS;

/// Slugs never look like ids, so at most one item matches.
pub(crate) fn item(tx: &mut Tx<'_>, id_or_slug: &str) -> Result<Option<InventoryItem>> {
    let sql = format!("SELECT {COLUMNS} FROM game_items i WHERE i.id = $1 OR i.slug = $1");
    tx.row(&sql, &[id_or_slug.into()])
}

pub(crate) fn items(
    tx: &mut Tx<'_>,
    game: Option<&str>,
    page: PageRequest,
) -> Result<Vec<InventoryItem>> {
    let of_game = "(i.game_id IS NULL OR i.game_id = $1)";
    let condition = if game.is_some() { of_game } else { "$1 = ''" };
    let sql = format!(
        "SELECT {COLUMNS} FROM game_items i WHERE {condition} ORDER BY i.slug LIMIT $2 OFFSET $3"
    );
    let game = game.unwrap_or_default();
    tx.rows(&sql, &[game.into(), page.limit.into(), page.offset.into()])
}

/// Returns whether the slug was free.
pub(crate) fn insert_item(tx: &mut Tx<'_>, item: &InventoryItem) -> Result<bool> {
    let metadata = text_of(&item.metadata);
    let inserted = tx.execute(
        "INSERT INTO game_items (id, slug, game_id, display_name, description, kind, metadata) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
        &[
            (&item.id).into(),
            (&item.slug).into(),
            item.game_id.as_deref().into(),
            (&item.display_name).into(),
            item.description.as_deref().into(),
            (&item.kind).into(),
            (&metadata).into(),
        ],
    )?;
    Ok(inserted > 0)
}

pub(crate) fn held_items(tx: &mut Tx<'_>, user: &str) -> Result<Vec<HeldItem>> {
    let sql = format!(
        "SELECT {COLUMNS}, h.quantity, h.updated_ms FROM game_inventory h \
         JOIN game_items i ON i.id = h.item_id WHERE h.user_id = $1 AND h.quantity > 0"
    );
    let held_item = |(item, quantity, updated_at): (InventoryItem, _, _)| HeldItem {
        id: item.id.clone(),
        quantity,
        updated_at,
        item,
    };
    Ok(tx.rows(&sql, &[user.into()])?.into_iter().map(held_item).collect())
}

/// Returns the new quantity.
pub(crate) fn add(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    item: &str,
    count: i64,
) -> Result<i64> {
    let total = tx.row(
        "INSERT INTO game_inventory (user_id, item_id, quantity, updated_ms) \
         VALUES ($1, $2, $3, $4) ON CONFLICT (user_id, item_id) DO UPDATE \
         SET quantity = game_inventory.quantity + excluded.quantity, \
         updated_ms = excluded.updated_ms RETURNING quantity",
        &[user.into(), item.into(), count.into(), ms(now)],
    )?;
    Ok(total.unwrap_or_default())
}

/// Returns the new quantity; `None` if the player has fewer than `count`.
pub(crate) fn subtract(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    item: &str,
    count: i64,
) -> Result<Option<i64>> {
    tx.row(
        "UPDATE game_inventory SET quantity = quantity - $1, updated_ms = $2 \
         WHERE user_id = $3 AND item_id = $4 AND quantity >= $1 RETURNING quantity",
        &[count.into(), ms(now), user.into(), item.into()],
    )
}
