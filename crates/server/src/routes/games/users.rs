//! Players.

use lyceum_access::Scope::GamesRead;
use lyceum_core::{Problem, Result, limits};
use lyceum_games::{Page, lms, players, visitors};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::lms::{is_off, other};
use super::play::{Play, forbidden, of_player, paged, scan};
use super::schema;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get};
use crate::routes::adaptive::shape::list;

pub(super) fn routes() -> Vec<Route> {
    vec![
        paged(get("/users", GamesRead, listed))
            .named("getPlayers")
            .says("The players by id and username, in the order in which they came: for clients and people with the right, and in a sandbox for its developer.")
            .answers(200, "A page of players.", list(schema::seen())),
        of_player(get("/users/{userId}", Access::visitor(GamesRead), shown))
            .named("getPlayer")
            .says(
                "A player: 'me' is whoever calls, shown whole; others are shown by their username.",
            )
            .answers(200, "The player.", schema::player()),
    ]
}

async fn listed(context: Context) -> Result<Answer> {
    let page = Page::of(limits::GAME_PAGE_MAX_RECORDS, context.query())?;
    scan(context, move |tx, _| players::list(tx, page)).await
}

async fn shown(context: Context) -> Result<Answer> {
    let db = context.app.db.clone();
    let play = std::sync::Arc::new(Play::of(context)?);
    let known = known(&play).await?;
    let (reading, knowing) = (std::sync::Arc::clone(&play), known.clone());
    let player = match db.read(move |tx| player(tx, &reading, knowing.as_ref(), false)).await? {
        Some(player) => player,
        None => db
            .write(move |tx| player(tx, &play, known.as_ref(), true))
            .await?
            .ok_or_else(|| Problem::internal("a player's enrollments are due again and again"))?,
    };
    Ok(Answer::of(&player))
}

/// The learner, where that does not stand in the roster here: null where there is nobody to learn with.
async fn known(play: &Play) -> Result<Option<Value>> {
    let app = &play.context.app;
    let Some(other) = other(app) else { return Ok(is_off(app).then_some(Value::Null)) };
    let (user, is_open) = play.named_user()?;
    let demo = app.sandbox.as_ref().and_then(|sandbox| sandbox.demo_user());
    match is_open && demo == Some(user) {
        true => Ok(Some(json!(other.learner().await?))),
        false => Ok(Some(Value::Null)),
    }
}

/// The player; none where something is due for their enrollments first, which `settles` does.
fn player(
    tx: &mut Tx<'_>,
    play: &Play,
    known: Option<&Value>,
    settles: bool,
) -> Result<Option<Value>> {
    play.present(tx)?;
    let (user, is_open) = play.named_user()?;
    if !is_open {
        if play.is_demo(tx)? {
            return Err(forbidden("a demo visitor sees nobody else than on the leader board"));
        }
        return players::seen(tx, user).map(|seen| Some(json!(seen)));
    }
    let has_identity = play.knows_identity(tx)?;
    let mut shown = json!(players::profile(tx, user, has_identity)?);
    let learner = match known {
        Some(known) => known.clone(),
        // Visitors are in no roster.
        None if visitors::lookup(tx, user)?.is_some() => Value::Null,
        None => match lms::learner(tx, play.now, user, settles)? {
            Some(learner) => json!(learner),
            None => return Ok(None),
        },
    };
    // Both spellings of the integration's name.
    for (account, integration) in [("hasLmsAccount", "lms"), ("hasTimebackAccount", "timeback")] {
        shown[account] = (!learner.is_null()).into();
        shown[integration] = learner.clone();
    }
    Ok(Some(shown))
}
