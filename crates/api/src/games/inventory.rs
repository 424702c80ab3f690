//! Items, and the inventories of players.

use http::StatusCode;
use lyceum_access::RequestSubject;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::Result;
use lyceum_games::inventory::{self, HeldItem, InventoryItem, InventoryMovement, NewInventoryItem};
use lyceum_games::{games, limits};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, get, post};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::play::{GameRequest, of_game, of_player, once, paged, read, write};
use crate::{Context, Route};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct NewTotal {
    new_total: i64,
}

pub(super) fn routes() -> Vec<Route> {
    let moved = |route: Route| {
        once(route).reads::<InventoryMovement>().answers::<NewTotal>(200, "The new quantity.")
    };
    vec![
        of_game(paged(limits::GAME_PAGE_MAX_RECORDS, get("/items", Access::player(GamesRead), items)))
            .of_no_organization()
            .named("getItems")
            .description("Lists the items by slug. For a game, it lists the items of the game and of the platform.")
            .answers::<Vec<InventoryItem>>(200, "A page of items."),
        post("/items", GamesWrite, created)
            .of_no_organization()
            .named("createItem")
            .description("Creates an item. A repeated request with the same members changes nothing. Only administrators and clients create items of the platform.")
            .reads::<NewInventoryItem>()
            .answers::<InventoryItem>(201, "The item was created.")
            .answers::<InventoryItem>(200, "The same item exists already."),
        get("/items/{itemId}", Access::player(GamesRead), item)
            .of_no_organization()
            .named("getItem")
            .description("An item, by id or slug.")
            .answers::<InventoryItem>(200, "The item."),
        of_player(get("/inventory", Access::player(GamesRead), list_items_of_player))
            .within_reach()
            .named("getInventory")
            .description("Lists a player's inventory, credits first.")
            .answers::<Vec<HeldItem>>(200, "The items and how many of each."),
        moved(post("/inventory/add", Access::player(GamesWrite), |context| moving(context, true)))
            .within_reach()
            .named("addToInventory")
            .description("Adds a quantity of an item to a player's inventory. An item of the platform can be given to the token's player or to a student of the caller's game."),
        moved(post("/inventory/remove", Access::player(GamesWrite), |context| {
            moving(context, false)
        }))
        .within_reach()
        .named("removeFromInventory")
        .description("Removes a quantity of an item from a player's inventory. It answers 409 if the player has fewer."),
    ]
}

async fn items(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let page = play.page(limits::GAME_PAGE_MAX_RECORDS)?;
        // Like games, items are not limited to the caller's games. Inventories of players are.
        let game =
            play.context.query_value("gameId").map(|game| games::find(tx, &game)).transpose()?;
        inventory::items(tx, game.as_ref().map(|game| game.id.as_str()), page)
    })
    .await
}

async fn item(context: Context) -> Result<Answer> {
    read(context, |tx, play| inventory::item(tx, play.context.param("itemId"))).await
}

async fn created(context: Context) -> Result<Answer> {
    let new: NewInventoryItem = context.body_as()?;
    let play = GameRequest::of(context)?;
    let db = play.context.app.db.clone();
    let make = move |tx: &mut Tx<'_>| {
        match &new.game_id {
            Some(game) => drop(play.game_to_change(tx, Some(game))?),
            None => drop(play.decide(RequestSubject::Platform)?),
        }
        inventory::create_item(tx, new.clone())
    };
    let (item, is_new) = db.write(make).await?;
    Ok(Answer::of(&item).status(if is_new { StatusCode::CREATED } else { StatusCode::OK }))
}

async fn list_items_of_player(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let (user, games) = (play.player(tx)?, play.games(tx)?);
        let mut items = inventory::of_user(tx, &games, user)?;
        if !play.sees_all_games(tx, user)? {
            items.retain(|held| held.item.game_id.is_some());
        }
        Ok(items)
    })
    .await
}

async fn moving(context: Context, adds: bool) -> Result<Answer> {
    let movement: InventoryMovement = context.body_as()?;
    let to = if adds { inventory::add } else { inventory::remove };
    write(context, StatusCode::OK, move |tx, play| {
        let user = play.player(tx)?;
        match inventory::item(tx, movement.item())?.game_id {
            Some(game) => {
                let game = games::find(tx, &game)?;
                play.check_game(tx, &game)?;
            }
            None => play.check_player_of_all_games(tx, user)?,
        }
        let new_total = to(tx, play.now, user, &movement)?;
        Ok(NewTotal { new_total })
    })
    .await
}
