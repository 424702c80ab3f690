//! Items, and how many of each a player has.

use lyceum_core::messages::must_be_one_of;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::limits::GAME_SLUG_MAX_CHARS;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use crate::games;
use crate::input::{Faults, Metadata, PageRequest};
use crate::limits;
use crate::repository::inventory as repository;
use crate::visible_games::VisibleGames;

pub use crate::repository::inventory::{HeldItem, InventoryItem, KINDS};

/// The slug of the item for credits.
pub const CREDITS: &str = "LYCEUM_CREDITS";

/// An item to create.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewInventoryItem {
    /// Its name in programs: letters, digits, `_` and `-`.
    #[schemars(extend(
        "pattern" = "^[A-Za-z0-9_-]+$",
        "maxLength" = GAME_SLUG_MAX_CHARS
    ))]
    pub slug: String,
    /// Id or slug of the game that it belongs to. Without it the item belongs to the platform.
    #[schemars(length(min = 1))]
    pub game_id: Option<String>,
    /// Its name for people.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub display_name: String,
    /// A text about the item.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub description: Option<String>,
    /// Its kind; by default `other`.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = kinds_or_null()))]
    pub kind: Option<String>,
    /// Further data.
    #[serde(default)]
    pub metadata: Metadata,
}

/// The values that a request may send as an item's kind.
fn kinds_or_null() -> Vec<Option<&'static str>> {
    KINDS.into_iter().map(Some).chain([None]).collect()
}

/// A quantity of an item to add or remove.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct InventoryMovement {
    /// Id or slug of the item.
    #[serde(rename = "itemId")]
    #[schemars(length(min = 1))]
    item: String,
    /// The quantity.
    #[serde(rename = "qty", deserialize_with = "whole_number")]
    #[schemars(
        with = "f64",
        range(min = 1, max = limits::INVENTORY_MAX_COUNT),
        extend("multipleOf" = 1)
    )]
    count: i64,
}

/// Game engines without whole numbers send 5.0.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
    match number.fract() == 0.0 {
        true => Ok(number as i64),
        false => Err(D::Error::custom("must be a whole number")),
    }
}

impl InventoryMovement {
    /// Id or slug of the item.
    pub fn item(&self) -> &str {
        &self.item
    }
}

/// The items by slug: all, or those of the platform and of one game.
pub fn items(tx: &mut Tx<'_>, game: Option<&str>, page: PageRequest) -> Result<Vec<InventoryItem>> {
    repository::items(tx, game, page)
}

/// The item with an id or slug. Errors: `NotFound`.
pub fn item(tx: &mut Tx<'_>, id_or_slug: &str) -> Result<InventoryItem> {
    repository::item(tx, id_or_slug)?.ok_or_else(|| {
        Problem::new(
            ProblemKind::NotFound,
            message!("there is no item '{id_or_slug}'; list the items with GET /api/items"),
        )
    })
}

/// Creates an item. If an equal item already exists, it returns that item and `false`.
///
/// Errors: `Invalid`; `NotFound` for its game; `Conflict` if another item has the slug.
pub fn create_item(tx: &mut Tx<'_>, new: NewInventoryItem) -> Result<(InventoryItem, bool)> {
    let game_id = match &new.game_id {
        Some(game) => Some(games::find(tx, game)?.id),
        None => None,
    };
    let item = InventoryItem {
        id: Uuid::now_v7().to_string(),
        slug: new.slug,
        game_id,
        display_name: new.display_name,
        description: new.description,
        kind: new.kind.unwrap_or_else(|| "other".to_owned()),
        metadata: new.metadata,
    };
    check(&item)?;
    if repository::insert_item(tx, &item)? {
        return Ok((item, true));
    }
    let known = self::item(tx, &item.slug)?;
    let same = known.game_id == item.game_id
        && known.display_name == item.display_name
        && known.description == item.description
        && known.kind == item.kind
        && known.metadata == item.metadata;
    if same {
        return Ok((known, false));
    }
    let message = message!("the slug '{item.slug}' belongs to another item; choose another");
    Err(Problem::new(ProblemKind::Conflict, message))
}

fn check(item: &InventoryItem) -> Result<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let is_name = (1..=GAME_SLUG_MAX_CHARS).contains(&item.slug.len())
        && item.slug.bytes().all(plain)
        && Uuid::try_parse(&item.slug).is_err();
    let mut faults = Faults::default();
    let rule = "must have 1 to 50 letters, digits, '_' and '-', and must not be a UUID";
    faults.unless(is_name, "slug", rule);
    faults.text("displayName", &item.display_name);
    faults.opt_text("description", item.description.as_deref());
    let is_kind = KINDS.contains(&item.kind.as_str());
    faults.unless(is_kind, "type", must_be_one_of(&KINDS, &item.kind));
    faults.metadata(&item.metadata);
    faults.into_result()
}

/// The items of a player that belong to the platform or to the games: credits first, then by slug.
pub fn of_user(tx: &mut Tx<'_>, games: &VisibleGames, user: &str) -> Result<Vec<HeldItem>> {
    let mut items = repository::held_items(tx, user)?;
    if let VisibleGames::Only(games) = games {
        let is_shown = |game: &String| games.contains(game);
        items.retain(|held| held.item.game_id.as_ref().is_none_or(is_shown));
    }
    items.sort_by(|a, b| {
        (a.item.slug != CREDITS, &a.item.slug).cmp(&(b.item.slug != CREDITS, &b.item.slug))
    });
    Ok(items)
}

/// Adds a quantity of an item to a player's inventory; returns the new quantity.
///
/// Errors: `NotFound`; `Invalid` if the new quantity is above the limit.
pub fn add(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    movement: &InventoryMovement,
) -> Result<i64> {
    let item = item(tx, &movement.item)?;
    let total = repository::add(tx, now, user, &item.id, movement.count)?;
    if total > limits::INVENTORY_MAX_COUNT {
        let most = limits::INVENTORY_MAX_COUNT;
        let message = message!("must not raise the quantity of '{item.slug}' above {most}");
        return Err(Problem::invalid("qty", message));
    }
    Ok(total)
}

/// Removes a quantity of an item from a player's inventory; returns the new quantity.
///
/// Errors: `NotFound`; `Conflict` if the player has fewer.
pub fn remove(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    movement: &InventoryMovement,
) -> Result<i64> {
    let item = item(tx, &movement.item)?;
    match repository::subtract(tx, now, user, &item.id, movement.count)? {
        Some(left) => Ok(left),
        None => Err(Problem::new(
            ProblemKind::Conflict,
            message!("the player has fewer than {movement.count} of '{item.slug}'"),
        )),
    }
}

/// Adds credits to a player's inventory.
pub fn credit(tx: &mut Tx<'_>, now: Timestamp, user: &str, count: i64) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    add(tx, now, user, &InventoryMovement { item: CREDITS.to_owned(), count }).map(drop)
}
