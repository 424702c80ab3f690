//! Players.

use lyceum_access::Scope::GamesRead;
use lyceum_core::{Problem, Result, limits};
use lyceum_games::{Page, lms, players, visitors};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::lms::{is_off, other};
use super::play::{Play, View, of_player, paged, scan};
use super::schema;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get};
use crate::routes::adaptive::shape::list;

pub(super) fn routes() -> Vec<Route> {
    vec![
        paged(get("/users", GamesRead, listed))
            .named("getPlayers")
            .says("The players by id and username, in the order in which they came. Developers, and keys of one project, see those who have played a game of theirs.")
            .answers(200, "A page of players.", list(schema::seen())),
        of_player(get("/users/{userId}", Access::visitor(GamesRead), shown))
            .named("getPlayer")
            .says(
                "A player: 'me' is the player of the token, shown whole; others are shown by their username. Names, e-mail addresses and enrollments of others are shown to administrators, guides and clients with a scope of the roster.",
            )
            .answers(200, "The player.", schema::player()),
    ]
}

async fn listed(context: Context) -> Result<Answer> {
    let page = Page::of(limits::GAME_PAGE_MAX_RECORDS, context.query())?;
    scan(context, move |tx, play| {
        let games = play.games(tx)?;
        players::list(tx, &games, page)
    })
    .await
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
    let demo = app.sandbox.as_ref().and_then(|sandbox| sandbox.demo_user());
    match demo == Some(play.named_in_path()?) {
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
    let user = play.named_in_path()?;
    let (shares_identity, enrollments) = match play.view(tx, user)? {
        View::Name => return players::seen(tx, user).map(|seen| Some(json!(seen))),
        View::Identity => return players::profile(tx, user, true).map(|known| Some(json!(known))),
        View::Profile { shares_identity, enrollments } => (shares_identity, enrollments),
    };
    let mut shown = json!(players::profile(tx, user, shares_identity)?);
    let learner = match known {
        _ if !enrollments => Value::Null,
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
