//! Demo visitors: anonymous players of one game. Only their scores are stored, for a limited time.

use std::time::Duration;

use lyceum_access::{DEMO_CLIENT, Player, guess};
use lyceum_core::Result;
use lyceum_games::limits::DEMO_PURGE_MAX_COUNT;
use lyceum_games::{games, visitors};
use lyceum_http::answer::Answer;
use lyceum_http::auth;
use lyceum_http::route::{Access, post};
use lyceum_store::Tx;

use super::IgnoredBody;
use super::catalogue::{GameToken, issued_to};
use crate::{App, Context, Route, limits};

pub(super) fn route() -> Route {
    post("/games/{gameId}/demo", Access::Public, demo)
        .named("createDemoToken")
        .description("Issues a token for an anonymous visitor of the game, valid for 10 minutes. It gives access to demo scores, their leader board and the game's backend. With the former token in 'Authorization', the visitor stays the same.")
        .reads::<IgnoredBody>()
        .answers::<GameToken>(200, "The token.")
}

async fn demo(context: Context) -> Result<Answer> {
    let (app, now) = (&context.app, context.app.clock.now());
    let former = match auth::bearer(&context.headers) {
        Some(token) => auth::counted_player(app, token).await?,
        None => None,
    };
    let named = context.param("gameId").to_owned();
    let place = context.place.clone();
    let begin = move |tx: &mut Tx<'_>| {
        let game = games::find(tx, &named)?;
        let known = match &former {
            Some(former) => visitors::renew_demo(tx, now, &game, &former.user)?,
            None => None,
        };
        let visitor = match known {
            Some(known) => known,
            None => {
                let most = limits::DEMO_VISITORS_MAX_COUNT;
                guess::count(tx, now, &[guess::from_place("demo visitors", &place, most)])?;
                visitors::begin_demo(tx, now, &game)?
            }
        };
        Ok(Player { user: visitor.id, game: game.id })
    };
    let player = app.db.write(begin).await?;
    let keyring = app.gate.keyring();
    let issued = keyring.issue_game(DEMO_CLIENT, &player, now, limits::PLAY_TOKEN_LIFETIME_S);
    Ok(Answer::of(&issued_to(&issued, &player, now)))
}

/// Removes expired demo visitors periodically.
pub async fn purge_periodically(app: App) {
    loop {
        if let Err(problem) = purge(&app).await {
            tracing::warn!("cannot remove expired demo visitors: {problem}");
        }
        tokio::time::sleep(Duration::from_secs(limits::DEMO_PURGE_EVERY_S)).await;
    }
}

async fn purge(app: &App) -> Result<()> {
    let now = app.clock.now();
    let most = usize::try_from(DEMO_PURGE_MAX_COUNT).unwrap_or(usize::MAX);
    while app.db.write(move |tx| visitors::purge(tx, now)).await? == most {}
    Ok(())
}
