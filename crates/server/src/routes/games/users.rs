//! Players.

use lyceum_access::Scope::GamesRead;
use lyceum_core::{Problem, Result, limits};
use lyceum_games::lms::{self, Learner};
use lyceum_games::players::{self, Profile, PublicPlayer};
use lyceum_games::{Page, visitors};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::lms::{is_off, other};
use super::play::{Play, View, of_player, paged, scan};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get};

/// A player, as much as the caller is shown.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Player {
    Whole(PlayerWithLearning),
    Identity(Profile),
    Name(PublicPlayer),
}

/// A player with their account for learning, under both spellings of the integration's name.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PlayerWithLearning")]
struct PlayerWithLearning {
    #[serde(flatten)]
    profile: Profile,
    has_lms_account: bool,
    lms: Option<Learner>,
    has_timeback_account: bool,
    timeback: Option<Learner>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        paged(get("/users", GamesRead, listed))
            .named("getPlayers")
            .says("The players by id and username, in the order in which they came. Developers, and keys of one project, see those who have played a game of theirs.")
            .answers::<Vec<PublicPlayer>>(200, "A page of players."),
        of_player(get("/users/{userId}", Access::visitor(GamesRead), shown))
            .named("getPlayer")
            .says(
                "A player: 'me' is the player of the token, shown whole; others are shown by their username. Names, e-mail addresses and enrollments of others are shown to administrators, guides and clients with a scope of the roster.",
            )
            .answers::<Player>(200, "The player."),
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
    let player =
        match db.read(move |tx| player(tx, &reading, knowing.as_ref(), false)).await? {
            Some(player) => player,
            None => db.write(move |tx| player(tx, &play, known.as_ref(), true)).await?.ok_or_else(
                || Problem::internal("a player's enrollments are still due after settling them"),
            )?,
        };
    Ok(Answer::of(&player))
}

/// The learner if the local roster does not have it; null if learning is not recorded.
async fn known(play: &Play) -> Result<Option<Option<Learner>>> {
    let app = &play.context.app;
    let Some(other) = other(app) else { return Ok(is_off(app).then_some(None)) };
    let demo = app.sandbox.as_ref().and_then(|sandbox| sandbox.demo_user());
    match demo == Some(play.named_in_path()?) {
        true => Ok(Some(Some(other.learner().await?))),
        false => Ok(Some(None)),
    }
}

/// The player; `None` if the player's enrollments must be settled first, which happens if `settles` is true.
fn player(
    tx: &mut Tx<'_>,
    play: &Play,
    known: Option<&Option<Learner>>,
    settles: bool,
) -> Result<Option<Player>> {
    play.present(tx)?;
    let user = play.named_in_path()?;
    let (shares_identity, enrollments) = match play.view(tx, user)? {
        View::Name => return players::seen(tx, user).map(|seen| Some(Player::Name(seen))),
        View::Identity => {
            return players::profile(tx, user, true).map(|known| Some(Player::Identity(known)));
        }
        View::Profile { shares_identity, enrollments } => (shares_identity, enrollments),
    };
    let profile = players::profile(tx, user, shares_identity)?;
    let learner = match known {
        _ if !enrollments => None,
        Some(known) => known.clone(),
        // Visitors are not in a roster.
        None if visitors::lookup(tx, user)?.is_some() => None,
        None => match lms::learner(tx, play.now, user, settles)? {
            Some(learner) => Some(learner),
            None => return Ok(None),
        },
    };
    let has_account = learner.is_some();
    Ok(Some(Player::Whole(PlayerWithLearning {
        profile,
        has_lms_account: has_account,
        lms: learner.clone(),
        has_timeback_account: has_account,
        timeback: learner,
    })))
}
