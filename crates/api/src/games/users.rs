//! Players.

use lyceum_access::Scope::GamesRead;
use lyceum_core::{Problem, Result};
use lyceum_games::lms::{self, LearnerAccount};
use lyceum_games::players::{self, PlayerName, PlayerProfile};
use lyceum_games::{PageRequest, limits, visitors};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, get};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::lms::{is_off, other_server};
use super::play::{GameRequest, PlayerVisibility, of_player, paged, scan};
use crate::{Context, Route};

/// The data of a player that the caller may see.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Player {
    Whole(PlayerWithLearning),
    Identity(PlayerProfile),
    Name(PlayerName),
}

/// A player with their learner account, under both names of the integration.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PlayerWithLearning")]
struct PlayerWithLearning {
    #[serde(flatten)]
    profile: PlayerProfile,
    has_lms_account: bool,
    lms: Option<LearnerAccount>,
    has_timeback_account: bool,
    timeback: Option<LearnerAccount>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        paged(limits::GAME_PAGE_MAX_RECORDS, get("/users", GamesRead, list_players))
            .within_reach()
            .named("getPlayers")
            .description("Lists the players by id and username, in the order of their arrival. Developers and API keys of one project see the players of their games.")
            .answers::<Vec<PlayerName>>(200, "A page of players."),
        of_player(get("/users/{userId}", Access::visitor(GamesRead), read_player))
            .within_reach()
            .named("getPlayer")
            .description(
                "Reads a player. 'me' is the token's player with all data; others have only a username. Administrators, guides and clients with a roster scope also see names, email addresses and enrollments of others.",
            )
            .answers::<Player>(200, "The player."),
    ]
}

async fn list_players(context: Context) -> Result<Answer> {
    let page = PageRequest::of(limits::GAME_PAGE_MAX_RECORDS, context.query())?;
    scan(context, move |tx, play| {
        let games = play.games(tx)?;
        players::list(tx, &games, page, &play.context.reach())
    })
    .await
}

async fn read_player(context: Context) -> Result<Answer> {
    let db = context.app.db.clone();
    let play = std::sync::Arc::new(GameRequest::of(context)?);
    let known = remote_learner(&play).await?;
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
async fn remote_learner(play: &GameRequest) -> Result<Option<Option<LearnerAccount>>> {
    let app = &play.context.app;
    let Some(other) = other_server(app) else { return Ok(is_off(app).then_some(None)) };
    let demo = app.sandbox.as_ref().and_then(|sandbox| sandbox.demo_user());
    match demo == Some(play.named_in_path()?) {
        true => Ok(Some(Some(other.learner().await?))),
        false => Ok(Some(None)),
    }
}

/// The player; `None` if the player's enrollments must be settled first, which happens if `settles` is true.
fn player(
    tx: &mut Tx<'_>,
    play: &GameRequest,
    known: Option<&Option<LearnerAccount>>,
    settles: bool,
) -> Result<Option<Player>> {
    play.present(tx)?;
    let user = play.named_in_path()?;
    let (shares_identity, enrollments) = match play.view(tx, user)? {
        PlayerVisibility::Name => {
            return players::public_player(tx, user).map(|seen| Some(Player::Name(seen)));
        }
        PlayerVisibility::Identity => {
            return players::profile(tx, user, true).map(|known| Some(Player::Identity(known)));
        }
        PlayerVisibility::Profile { shares_identity, enrollments } => {
            (shares_identity, enrollments)
        }
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
