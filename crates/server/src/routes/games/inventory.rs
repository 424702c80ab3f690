//! Items, and the inventories of players.

use axum::http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_access::Subject;
use lyceum_core::{Result, limits};
use lyceum_games::games;
use lyceum_games::inventory::{self, HeldItem, Item, Movement, NewItem};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::play::{Play, of_game, of_player, once, paged, read, write};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get, post};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct NewTotal {
    new_total: i64,
}

pub(super) fn routes() -> Vec<Route> {
    let moved = |route: Route| {
        once(route).reads::<Movement>().answers::<NewTotal>(200, "How many there are now.")
    };
    vec![
        of_game(paged(get("/items", Access::player(GamesRead), items)))
            .named("getItems")
            .says("The items by slug; of a game: its own and the platform's.")
            .answers::<Vec<Item>>(200, "A page of items."),
        post("/items", GamesWrite, created)
            .named("createItem")
            .says("Makes an item; sent again with the same members it stays as it is. An item that belongs to no game is made by administrators and clients.")
            .reads::<NewItem>()
            .answers::<Item>(201, "Made.")
            .answers::<Item>(200, "Was there already."),
        get("/items/{itemId}", Access::player(GamesRead), item)
            .named("getItem")
            .says("An item, by id or slug.")
            .answers::<Item>(200, "The item."),
        of_player(get("/inventory", Access::player(GamesRead), held))
            .named("getInventory")
            .says("What a player has, the credits first.")
            .answers::<Vec<HeldItem>>(200, "The items and how many of each."),
        moved(post("/inventory/add", Access::player(GamesWrite), |context| moving(context, true)))
            .named("addToInventory")
            .says("Gives a player some of an item, named by id or slug. Of an item that belongs to no game: to the player of the token, or to a student of the caller's game."),
        moved(post("/inventory/remove", Access::player(GamesWrite), |context| {
            moving(context, false)
        }))
        .named("removeFromInventory")
        .says("Takes some of an item from a player; 409 where there are fewer."),
    ]
}

async fn items(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let page = play.page(limits::GAME_PAGE_MAX_RECORDS)?;
        // Like games, items are not limited to the caller's games. Inventories of players are.
        let game = play.context.asked("gameId").map(|game| games::find(tx, &game)).transpose()?;
        inventory::items(tx, game.as_ref().map(|game| game.id.as_str()), page)
    })
    .await
}

async fn item(context: Context) -> Result<Answer> {
    read(context, |tx, play| inventory::item(tx, play.context.param("itemId"))).await
}

async fn created(context: Context) -> Result<Answer> {
    let new: NewItem = context.body_as()?;
    let play = Play::of(context)?;
    let db = play.context.app.db.clone();
    let make = move |tx: &mut Tx<'_>| {
        match &new.game_id {
            Some(game) => drop(play.game_or(tx, Some(game))?),
            None => drop(play.decide(Subject::Platform)?),
        }
        inventory::create_item(tx, new.clone())
    };
    let (item, is_new) = db.write(make).await?;
    Ok(Answer::of(&item).status(if is_new { StatusCode::CREATED } else { StatusCode::OK }))
}

async fn held(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let (user, games) = (play.player(tx)?, play.games(tx)?);
        let mut held = inventory::of_user(tx, &games, user)?;
        if !play.sees_all_games(tx, user)? {
            held.retain(|held| held.item.game_id.is_some());
        }
        Ok(held)
    })
    .await
}

async fn moving(context: Context, adds: bool) -> Result<Answer> {
    let movement: Movement = context.body_as()?;
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
